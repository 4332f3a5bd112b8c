//! Tests packets of different sizes, and hosts that forward them.

use crate::cluster::lab::{assert_same_on_threads_and_from_a_checkpoint, drain, nic, plan, run, servers, settle};
use crate::cluster::stats::{assert_conserved, datagrams};
use crate::common::laws::{assert_books, cases};
use crate::common::us;
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::os::NetStack;
use hostnet_model::params::Traffic;
use hostnet_model::transport::stage_times::Stage;
use hostnet_model::{Machine, World};
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use serde_json::Value;

const ENDS: &str = "[host.a]\nkind = \"endpoint\"\n[host.z]\nkind = \"endpoint\"\n";
const RUN: &str = "[run]\nwarmup = \"20 us\"\nduration = \"200 us\"\n";

/// Returns a cluster of an endpoint that sends through a host to another endpoint.
fn through(keys: &str, packets: &str, forward: &str) -> String {
    format!(
        "{ENDS}[host.g]\npreset = \"netdimm-host\"\n{keys}\n[network]\nrate = \"40 Gbps\"\n\
         [flow.in]\nkind = \"packets\"\nfrom = \"a\"\nto = \"g\"\n{packets}\n\
         [flow.out]\nkind = \"forward\"\ntakes = \"in\"\nfrom = \"g\"\nto = \"z\"\n{forward}\n{RUN}"
    )
}

/// Returns packets of one size, far apart.
fn alone(bytes: u32) -> String {
    let gbps = f64::from(bytes) * 8.0 / 5000.0;
    format!(
        "sizes = [{{ bytes = \"{bytes} B\", share = 1 }}]\narrivals = \"constant\"\nrate = \"{} Mbps\"\n",
        (gbps * 1000.0).round()
    )
}

/// Returns the mean time of each stage of the flow that ends at a host, in ps.
fn stages(simulation: &Simulation<World>, host: u16) -> [f64; Stage::ALL.len()] {
    let all = datagrams(simulation);
    let end = all.iter().find(|end| end.host == host && end.application.stage_stats().total().count() > 0);
    let stage_stats = end.expect("an end there").application.stage_stats();
    assert!(stage_stats.total().count() > 20);
    Stage::ALL.map(|stage| stage_stats.sum_ps(stage) as f64 / stage_stats.total().count() as f64)
}

/// Returns the lines that functions have read at the only server, per packet that it forwarded.
fn lines_read(simulation: &Simulation<World>) -> f64 {
    let all = servers(simulation);
    let cores: Vec<&NetStack> = all[0].engines::<NetStack>().collect();
    let lines: u64 = cores.iter().map(|core| core.counts().source_lines).sum();
    let sent: u64 = cores.iter().flat_map(|core| core.datagrams()).map(|(_, counts, _)| counts.sent).sum();
    assert!(sent > 20, "{sent} packets");
    lines as f64 / sent as f64
}

#[test]
fn an_idle_host_reads_one_line_or_all_and_takes_the_work_of_its_keys() {
    for attach in ["pcie", "onchip"] {
        for bytes in [64_u32, 300, 1514] {
            let keys = format!("nic.attach = \"{attach}\"\n");
            let of = |forward: &str| run(&plan(&through(&keys, &alone(bytes), forward)), 200);
            let (header, whole) = (of("work = \"70 ns\""), of("function = \"dpi\""));
            let lines = f64::from(bytes.div_ceil(64));
            assert!((lines_read(&header) - 1.0).abs() < 0.1, "{attach} {bytes}: {}", lines_read(&header));
            assert!((lines_read(&whole) / lines - 1.0).abs() < 0.05, "{attach} {bytes}: {}", lines_read(&whole));
            // The driver has brought the first line to the core; each line takes 15.6 ns of work.
            let read = stages(&header, 1)[Stage::RxCopy as usize];
            assert!((read - 70_000.0 - 15_600.0).abs() < 1.0, "{attach} {bytes}: {read} ps");
            // The other lines come from the LLC, six at a time, while the core works on those before.
            let read = stages(&whole, 1)[Stage::RxCopy as usize];
            let least = lines * 15_600.0;
            assert!((least..least + 30_000.0).contains(&read), "{attach} {bytes}: {read} ps, at least {least}");
            // A forwarded packet is not copied, has no socket buffer, and takes the work of the driver.
            let onward = stages(&header, 2);
            assert_eq!(onward[Stage::TxCopy as usize], 0.0);
            assert!((onward[Stage::TxDriver as usize] - 360_000.0).abs() < 1.0, "{onward:?}");
        }
    }
}

#[test]
fn without_caches_the_lines_per_packet_stand_for_the_header() {
    let keys = "cache.enabled = false\nnic.ddio = false\nddio.enabled = false\n";
    for (function, bytes, lines) in [("l3f", 1514, 0.0), ("dpi", 1514, 23.0), ("dpi", 64, 0.0)] {
        let simulation = run(&plan(&through(keys, &alone(bytes), &format!("function = \"{function}\""))), 200);
        assert!((lines_read(&simulation) - lines).abs() <= 0.05 * lines, "{function} {bytes}");
    }
}

#[test]
fn packets_come_at_their_rate_with_their_sizes() {
    for (sizes, mean) in [("database", 789.0), ("webserver", 254.5), ("hadoop", 877.4)] {
        for arrivals in ["poisson", "constant"] {
            let packets = format!("sizes = \"{sizes}\"\nrate = \"8 Gbps\"\narrivals = \"{arrivals}\"\n");
            let text =
                through("nic.attach = \"onchip\"\nstack.packet = \"10 ns\"\nstack.send = \"10 ns\"", &packets, "");
            let simulation = run(&plan(&text), 4000);
            let all = datagrams(&simulation);
            let sent = all.iter().find(|end| end.host == 0).expect("the sender").application.counts();
            let expected: f64 = 4e-3 * 1e9 / mean;
            let deviation = if arrivals == "poisson" { expected.sqrt() } else { 1.0 };
            assert!((sent.sent as f64 - expected).abs() < 4.0 * deviation + 2.0, "{sizes} {arrivals}: {sent:?}");
            let found = sent.sent_bytes as f64 / sent.sent as f64 + 42.0;
            assert!((found / mean - 1.0).abs() < 5.0 / expected.sqrt(), "{sizes} {arrivals}: {found} B");
        }
    }
}

#[test]
fn a_capture_drives_a_host_that_sends_on() {
    let text = through("", "", "")
        .replace("kind = \"packets\"", "kind = \"replay\"\npcap = \"../crates/sim/tests/all/cluster/packets.pcap\"");
    let mut simulation = run(&plan(&text), 200);
    drain(&mut simulation);
    assert_conserved(&simulation, 2);
    let all = datagrams(&simulation);
    let at = |flow: usize, host: u16| all.iter().find(|end| (end.flow, end.host) == (flow, host)).expect("an end");
    let (sent, got) = (at(0, 0).application.counts(), at(1, 2).application.counts());
    assert_eq!((sent.sent, sent.sent_bytes), (3, 72 + 1472 + 1));
    assert_eq!((got.received, got.received_bytes), (sent.sent, sent.sent_bytes));
}

fn told(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

#[test]
fn the_limit_of_an_overloaded_forwarder_is_named_or_nothing_is() {
    let limit = |keys: &str, packets: &str, forward: &str| {
        let summary = told(&through(keys, packets, forward));
        let of = |class: usize| summary["limits"][class]["limit"].as_str().expect("a limit").to_owned();
        (of(0), of(1))
    };
    let quick = "nic.attach = \"onchip\"\nstack.packet = \"10 ns\"\nstack.send = \"10 ns\"\n";
    let packets = "sizes = \"hadoop\"\nrate = \"10 Gbps\"\n";
    let own = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(limit(quick, packets, ""), own("clock", "input"));
    assert_eq!(limit(quick, packets, "work = \"2 us\""), own("receiver cores", "sender cores"));
    // The cable to the next host is the bottleneck.
    let slow =
        limit(&format!("{quick}[cable.z]\nrate = \"2 Gbps\"\n[host.unused]\nkind = \"endpoint\"\n"), packets, "");
    assert_eq!(slow.1, "cable");
    let waits = "nic.attach = \"pcie\"\nnic.status = true\nnic.register = \"3 us\"\n";
    assert_eq!(limit(waits, packets, ""), own("not known", "not known"));
}

const HOSTS: [&str; 5] = [
    "preset = \"netdimm-host\"\n",
    "preset = \"netdimm-host\"\nnic.attach = \"onchip\"\n",
    "preset = \"netdimm-host\"\nstack.zero_copy = true\nstack.poll = false\n",
    "preset = \"cascade-lake-hostcc\"\n",
    "preset = \"broadwell-r730\"\ncache.enabled = true\nnic.ddio = true\n",
];
const DIMMS: [&str; 3] = [
    "preset = \"netdimm-host\"\nnic.attach = \"dimm\"\n",
    "preset = \"netdimm-host\"\nnic.attach = \"dimm\"\nnic.dimm.clone = { subarrays = 1, fpm = \"3 us\" }\n",
    "preset = \"netdimm-host\"\nnic.attach = \"dimm\"\nnic.dimm.dma_lines = 3\nnic.dimm.async.ids = 2\n",
];

/// Generates a chain of forwarding hosts with few entries of everything.
fn chain(hosts: &'static [&str], last: &'static str) -> impl Strategy<Value = String> {
    let preset = prop::sample::select(hosts);
    let host = (preset, 2_u32..200, 3_u32..200, 1_u32..65);
    let forward = (any::<bool>(), 0_u32..3000, prop::sample::select(vec![1_u32, 3000, 212_992]), 1_u32..4);
    let sizes = prop::sample::select(vec!["database", "webserver", "hadoop"]);
    let packets = (sizes, 1_u32..40, any::<bool>(), prop::sample::select(vec![1_u32, 3000, 212_992]));
    (host, forward, packets, 1_u32..40, any::<bool>(), any::<u32>()).prop_map(
        move |(
            (preset, ring, kib, budget),
            (dpi, work, buffer, cores),
            (sizes, rate, poisson, own),
            gbps,
            long,
            seed,
        )| {
            let function = if dpi { "dpi" } else { "l3f" };
            let arrivals = if poisson { "poisson" } else { "constant" };
            let next = if long { "h" } else { "z" };
            let mut text = format!(
                "{ENDS}[host.g]\n{preset}nic.ring = {ring}\nnic.buffer = \"{} KiB\"\nstack.budget = {budget}\n\
                 [host.h]\n{last}[network]\nrate = \"{gbps} Gbps\"\n\
                 [flow.in]\nkind = \"packets\"\nfrom = \"a\"\nto = \"g\"\nsizes = \"{sizes}\"\n\
                 rate = \"{rate} Gbps\"\narrivals = \"{arrivals}\"\nbuffer = \"{own} B\"\ncount = {cores}\n\
                 [flow.on]\nkind = \"forward\"\ntakes = \"in\"\nfrom = \"g\"\nto = \"{next}\"\n\
                 function = \"{function}\"\nwork = \"{work} ns\"\nbuffer = \"{buffer} B\"\n[run]\nseed = {seed}\n",
                kib.max(20)
            );
            if long {
                text += "[flow.last]\nkind = \"forward\"\ntakes = [\"on\"]\nfrom = \"h\"\nto = \"z\"\n\
                         function = \"dpi\"\n";
            }
            text
        },
    )
}

/// Asserts that every packet that arrived at a host and was not dropped was forwarded with its data.
fn assert_sent_on(simulation: &Simulation<World>, plan: &Plan) {
    let all = datagrams(simulation);
    let counts = |flow: usize, host: u16| {
        all.iter().find(|end| (end.flow, end.host) == (flow, host)).expect("an end").application.counts()
    };
    for (number, flow) in plan.cluster.flows.iter().enumerate() {
        let Traffic::Forward(forward) = flow.traffic else { continue };
        let (came, went) = (counts(forward.flow as usize, flow.from), counts(number, flow.from));
        assert_eq!((came.received, came.received_bytes), (went.sent, went.sent_bytes), "flow {number}");
    }
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn packets_are_forwarded_or_dropped_for_a_reason(text in chain(&HOSTS, HOSTS[0]), until_us in 60_u64..200) {
        let plan = plan(&text);
        let mut simulation = run(&plan, until_us);
        settle(&mut simulation);
        servers(&simulation).into_iter().for_each(assert_books);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
        assert_sent_on(&simulation, &plan);
        servers(&simulation).into_iter().for_each(assert_books);
    }
}

/// Returns the packets that sockets of a host have accepted and that have not left the host.
fn not_left(machine: &Machine, plan: &Plan) -> u64 {
    let cores: Vec<_> = machine.engines::<NetStack>().flat_map(NetStack::datagrams).collect();
    let kept: u64 = cores.iter().filter(|(end, _, _)| !end.initiator).map(|(_, counts, _)| counts.segments).sum();
    let flows = nic(machine).flows();
    let sends_on = |flow: u32| matches!(plan.cluster.flows[flow as usize].traffic, Traffic::Forward(_));
    let ends = cores.iter().filter(|(end, _, _)| end.initiator && sends_on(end.flow));
    let left: u64 = ends.map(|(end, _, _)| flows[end.flow as usize].sent.packets).sum();
    assert!(left <= kept, "{left} of {kept} packets have left");
    kept - left
}

/// Returns the rows that the cores of a host have allocated.
fn rows(machine: &Machine) -> u32 {
    machine.engines::<NetStack>().map(NetStack::rows_handed_out).sum()
}

proptest! {
    #![proptest_config(cases(8))]

    #[test]
    fn a_packet_keeps_its_rows_until_it_has_left(text in chain(&DIMMS, DIMMS[0]), until_us in 60_u64..200) {
        let plan = plan(&text);
        let mut simulation = run(&plan, 20);
        for until in [until_us / 3, until_us / 2, until_us] {
            simulation.run_until(us(until.max(21)), |_| true);
            for machine in servers(&simulation) {
                let (rows, packets) = (rows(machine), not_left(machine, &plan));
                let without: u64 = machine.engines::<NetStack>().map(NetStack::received_in_place).sum();
                prop_assert!(u64::from(rows) + without >= packets, "{rows} rows, {without} without, {packets} packets");
            }
        }
        settle(&mut simulation);
        servers(&simulation).into_iter().for_each(assert_books);
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
        assert_sent_on(&simulation, &plan);
        for machine in servers(&simulation) {
            prop_assert_eq!((rows(machine), not_left(machine, &plan)), (0, 0), "every row comes back");
        }
    }
}

#[test]
fn threads_and_a_checkpoint_change_nothing() {
    let text = through("", "sizes = \"webserver\"\nrate = \"6 Gbps\"\ncount = 3\n", "function = \"dpi\"\n");
    let plan = plan(&text);
    assert_same_on_threads_and_from_a_checkpoint(&plan, 47_000_001);
}
