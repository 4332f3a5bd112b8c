//! Properties of any valid server with any workloads: lines are conserved, nothing gets stuck, and it drains.

use crate::common;
use crate::common::laws::{assert_all_move, assert_books, assert_little, cases, drain, run_to};
use crate::common::scenario::{any_scenario, Scenario};
use crate::common::{acquired, counters, domains, in_use, settled, us};
use hostnet_kernel::Time;
use hostnet_model::nvme::Ssd;
use hostnet_model::params::{ServerParams, WorkloadKind};
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::PoolGroup;
use proptest::prelude::*;

/// Asserts the invariants that hold at any time.
fn assert_sound(machine: &Machine, now: Time) {
    assert_books(machine);
    let of = |group| in_use(machine, group);
    let held = of(PoolGroup::C2mRead) + of(PoolGroup::C2mWrite) + of(PoolGroup::P2mRead) + of(PoolGroup::P2mWrite);
    let alive = machine.requests().len() as u64;
    assert!(held <= alive, "{held} credits are held by {alive} requests");
    assert!(
        alive <= held + of(PoolGroup::ChaWrite),
        "{alive} requests, {held} credits and {} writes",
        of(PoolGroup::ChaWrite)
    );
    assert_bandwidth(machine, now);
}

fn assert_bandwidth(machine: &Machine, now: Time) {
    for (index, channel) in counters(machine, now).iter().enumerate() {
        let lines: u64 = channel.reads.iter().chain(&channel.writes).sum();
        let burst_ps = 4 * 625; // of the fastest device
        assert!(lines * burst_ps <= now.ps() + burst_ps, "channel {index}: {lines} lines in {} ps", now.ps());
    }
}

/// Asserts that, with nothing in flight, every requested line has been transferred.
fn assert_moved(machine: &Machine, params: &ServerParams, now: Time) {
    let channels = counters(machine, now);
    for (class, workload) in params.workloads.iter().enumerate() {
        let of = |group| acquired(machine, group, class);
        let read: u64 = channels.iter().map(|channel| channel.reads[class]).sum();
        let written = channels.iter().map(|channel| channel.writes[class]).sum::<u64>() + in_wpq(machine, class);
        assert_eq!(of(PoolGroup::C2mRead) + of(PoolGroup::P2mRead), read, "class {class}: lines read");
        assert_eq!(of(PoolGroup::C2mWrite) + of(PoolGroup::P2mWrite), written, "class {class}: lines written");
        assert_eq!([of(PoolGroup::ChaRead), of(PoolGroup::Rpq)], [read; 2], "class {class}: lines read");
        assert_eq!([of(PoolGroup::ChaWrite), of(PoolGroup::Wpq)], [written; 2], "class {class}: lines written");
        assert_eq!(of(PoolGroup::Posted), of(PoolGroup::P2mWrite), "class {class}: lines from devices");
        assert_eq!(of(PoolGroup::NonPosted), of(PoolGroup::P2mRead), "class {class}: lines to devices");
        assert_data_moved(machine, class, &workload.kind, (of(PoolGroup::P2mWrite) + of(PoolGroup::P2mRead)) * 64);
    }
}

/// Asserts that a device transfers the data of its workload, plus at most the overhead of its commands.
fn assert_data_moved(machine: &Machine, class: usize, kind: &WorkloadKind, moved: u64) {
    let data: u64 = machine.each::<Ssd>().map(|drive| drive.services()[class].bytes).sum();
    match kind {
        WorkloadKind::Stream(_) | WorkloadKind::App(_) => assert_eq!([data, moved], [0, 0], "a stream needs no drive"),
        WorkloadKind::Dma(_) | WorkloadKind::Tiering(_) | WorkloadKind::Network => {
            panic!("these servers have drives alone")
        }
        WorkloadKind::Fio(fio) if fio.dma_lines_per_page == 0 => assert_eq!(moved, data, "class {class}"),
        WorkloadKind::Fio(_) => assert!(moved >= data, "class {class}: {data} bytes of data, {moved} moved"),
    }
}

/// Returns the writes of a workload that stay in the WPQ: few writes wait for more, or for reads to end.
fn in_wpq(machine: &Machine, class: usize) -> u64 {
    let parts = hostnet_sim::sample::domains(machine, PoolGroup::Wpq);
    parts.iter().map(|(_, domain)| u64::from(domain.classes()[class].in_use())).sum()
}

fn check(scenario: &Scenario, stops_ns: &[u64]) {
    let plan = scenario.plan();
    let mut simulation = build::one_server(plan.server().unwrap());
    let mut now = Time::ZERO;
    for stop_ns in stops_ns {
        now += stop_ns * 1000 + 7;
        run_to(&mut simulation, now);
        assert_sound(settled(&mut simulation), now);
    }
    assert_all_move(&mut simulation);
    drain(&mut simulation);
    now = simulation.progress().time;
    let machine = settled(&mut simulation);
    assert_sound(machine, now);
    assert_moved(machine, plan.server().unwrap(), now);
    assert_little(machine);
    let controller = &plan.server().unwrap().socket().memory.controller;
    let limit = controller.idle_writes.min(controller.write_high);
    for (name, _, domain) in domains(machine).iter().filter(|(_, group, _)| *group == PoolGroup::Wpq) {
        assert!(domain.in_use() < limit, "{name} keeps {} writes", domain.in_use());
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn any_server_keeps_its_books(scenario in any_scenario(), stops_ns in prop::collection::vec(0_u64..15_000, 1..6)) {
        let stops_ns = [stops_ns, vec![20_000]].concat();
        check(&scenario, &stops_ns);
    }
}

/// Generates a server with one job on one drive, with its block size and its depth.
fn one_job() -> impl Strategy<Value = (String, u64, u64)> {
    let direction = prop::sample::select(vec!["read", "write", "randread", "randwrite", "rw", "randrw"]);
    let job = (direction, 1_u64..80, 1_u64..20, 1_u32..5, 1_u32..30);
    let pcie = (7_u32..12, 7_u32..12).prop_map(|(mps, mrrs)| (1 << mps, 1 << mrrs));
    (job, pcie).prop_map(|((rw, sectors, depth, streams, queue), (mps, mrrs))| {
        let block = sectors * 512;
        let text = format!(
            "[server]\npreset = \"cascade-lake-6234\"\n[ssd]\nstreams = {streams}\nqueue_depth = {queue}\n\
             [pcie]\nmps = \"{mps} B\"\nmrrs = \"{mrrs} B\"\n[workload.disk]\nkind = \"fio\"\n\
             jobs = [{{ rw = \"{rw}\", bs = \"{block} B\", iodepth = {depth}, size = \"1 GiB\", ssd = 0 }}]\n"
        );
        (text, block, depth)
    })
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn drives_complete_what_they_move((text, block, depth) in one_job(), at_us in 50_u64..400) {
        let plan = common::plan(&text, &[]);
        let mut simulation = build::one_server(plan.server().unwrap());
        run_to(&mut simulation, us(at_us));
        let (moved, completed) = bytes_of_drives(settled(&mut simulation), block);
        prop_assert!(completed <= moved, "{completed} bytes of {moved} completed:\n{text}");
        prop_assert!(moved - completed <= depth * block, "{completed} bytes of {moved} completed:\n{text}");
        run_to(&mut simulation, us(at_us + 100));
        let (_, later) = bytes_of_drives(settled(&mut simulation), block);
        prop_assert!(later > completed, "no command is completed any more:\n{text}");
    }
}

/// Returns the bytes that the drives have transferred, and the bytes of the completed commands of `block` bytes.
fn bytes_of_drives(machine: &Machine, block: u64) -> (u64, u64) {
    let services = machine.each::<Ssd>().flat_map(|drive| drive.services());
    services.fold((0, 0), |(moved, done), service| (moved + service.bytes, done + service.completed * block))
}

/// Completions may arrive in another order than their requests. If one were lost, the drive would have fewer commands
/// in flight than the job keeps.
#[test]
fn a_drive_keeps_its_depth() {
    for streams in [1, 4] {
        let text = format!(
            "[server]\npreset = \"cascade-lake-6234\"\n\
             [ssd]\ncount = 1\nbandwidth = \"12 GB/s\"\nlatency = \"0 ns\"\nstreams = {streams}\n\
             [pcie]\ngeneration = 4\nmps = \"1 KiB\"\nmrrs = \"1 KiB\"\n\
             [fio]\ndma_lines_per_page = 0.0\nkernel_lines_per_page = 0.0\n\
             [workload.cores]\nkind = \"stream\"\ncores = \"0-5\"\npattern = \"random\"\nreads = 0.0\n\
             [workload.disk]\nkind = \"fio\"\ncores = \"7\"\n\
             jobs = [{{ rw = \"write\", bs = \"1536 B\", iodepth = 8, size = \"1 GiB\", ssd = 0 }}]\n"
        );
        let plan = common::plan(&text, &[]);
        let mut simulation = build::one_server(plan.server().unwrap());
        let mut until = |at_us| {
            run_to(&mut simulation, us(at_us));
            bytes_of_drives(settled(&mut simulation), 1536).1
        };
        let (start, early, middle, late) = (until(10), until(60), until(300), until(350));
        assert!(
            (late - middle) as f64 > 0.9 * (early - start) as f64,
            "{streams} streams: {start} {early} {middle} {late}"
        );
    }
}

/// A command that finds the queue of its drive full waits for an entry and does not poll.
#[test]
fn a_full_queue_costs_no_events() {
    let events = |queue_depth: u32| {
        let text = format!(
            "[server]\npreset = \"cascade-lake-6234\"\n[ssd]\nlatency = \"0 ns\"\nqueue_depth = {queue_depth}\n\
             [workload.disk]\nkind = \"fio\"\n\
             jobs = [{{ rw = \"read\", bs = \"128 KiB\", iodepth = 64, size = \"1 GiB\", ssd = 0 }}]\n"
        );
        let mut simulation = build::one_server(common::plan(&text, &[]).server().unwrap());
        run_to(&mut simulation, us(200));
        simulation.progress().events
    };
    let (roomy, tight) = (events(64), events(1));
    assert!(tight < 2 * roomy, "{tight} events with one place, {roomy} with a place for every command");
}
