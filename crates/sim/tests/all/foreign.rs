//! Tests lines with a remote home: the latency of their path, and the laws that hold on it.

use crate::common::laws::{assert_all_move_within, assert_books, assert_little, cases, drain, run_to};
use crate::common::results::assert_near;
use crate::common::{acquired, in_use, plan, settled, us};
use hostnet_kernel::Simulation;
use hostnet_model::Machine;
use hostnet_sim::build;
use hostnet_sim::sample::{self, PoolGroup};
use proptest::prelude::*;
use std::collections::BTreeSet;

const PRESET: &str = "[server]\npreset = \"cascade-lake-6234\"\n";
const LATENCY_NS: f64 = 40.0;
const REQUEST_NS: f64 = 16.0 / 20.0;
const DATA_NS: f64 = 80.0 / 20.0;

/// Returns a server of two sockets with one UPI link of 20 GB/s between them, and the given workloads.
fn simulation(workloads: &str, settings: &[&str]) -> Simulation<Machine> {
    let text = format!(
        "[server]\npreset = \"cascade-lake-6234\"\nsockets = 2\n\
         [upi]\nlinks = 1\nspeculative = false\ndirectory = false\n\
         [upi.link]\nbandwidth = \"20 GB/s\"\nlatency = \"40 ns\"\ndata_credits = 64\nrequest_credits = 64\n\
         data = \"80 B\"\nrequest = \"16 B\"\n{workloads}"
    );
    build::one_server(plan(&text, settings).server().expect("a server"))
}

/// Returns a server with a stream of one core with one line in flight.
fn lone(reads: &str, memory: &str) -> Simulation<Machine> {
    let workloads = format!(
        "[workload.stream]\nkind = \"stream\"\ncores = \"0\"\npattern = \"random\"\nreads = {reads}\n\
         memory = \"{memory}\"\n"
    );
    simulation(&workloads, &["core.lfb.entries=1", "core.lfb.refill=0 ns", "core.issue=0 ns"])
}

/// Returns a server with a storage job of one command with one TLP in flight, on a drive of the first socket.
fn storage(rw: &str, memory: &str) -> Simulation<Machine> {
    let workloads = format!(
        "[workload.disk]\nkind = \"fio\"\ncores = \"0\"\nmemory = \"{memory}\"\n\
         jobs = [{{ rw = \"{rw}\", bs = \"4 KiB\", iodepth = 1, size = \"64 MiB\", ssd = 0 }}]\n"
    );
    simulation(&workloads, &["fio.kernel_lines_per_page=0", "fio.dma_lines_per_page=0", "iio.line_jitter=0"])
}

fn mean_ns(machine: &Machine, group: PoolGroup) -> f64 {
    let usages = sample::domains(machine, group);
    let residences = || usages.iter().flat_map(|(_, domain)| domain.classes()).map(|usage| usage.residence());
    let [sum, count] = [
        residences().map(|residence| residence.sum() as f64).sum::<f64>(),
        residences().map(|residence| residence.count() as f64).sum(),
    ];
    sum / count / 1000.0
}

/// Returns the mean residence of a line in a domain after 400 us, in ns.
fn held_ns(mut simulation: Simulation<Machine>, group: PoolGroup) -> f64 {
    run_to(&mut simulation, us(400));
    let machine = settled(&mut simulation);
    assert_books(machine);
    mean_ns(machine, group)
}

#[test]
fn a_remote_load_takes_a_upi_round_trip_longer() {
    let [local, foreign] = ["local", "node:1"].map(|memory| held_ns(lone("1.0", memory), PoolGroup::C2mRead));
    assert_near("foreign less local C2M-Read in ns", foreign - local, 2.0 * LATENCY_NS + REQUEST_NS + DATA_NS, 1.0);
}

#[test]
fn a_snooping_home_overlaps_the_snoop_with_the_memory_read() {
    let load = |snoop: &str, latency: &str| {
        let workload = "[workload.stream]\nkind = \"stream\"\ncores = \"0\"\npattern = \"random\"\n";
        let settings = ["core.lfb.entries=1", "core.lfb.refill=0 ns", "core.issue=0 ns"].map(str::to_string);
        let own = [format!("upi.snoop={snoop}"), format!("upi.link.latency={latency}")];
        let settings: Vec<String> = settings.into_iter().chain(own).collect();
        simulation(workload, &settings.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let near = ["directory", "home"].map(|snoop| held_ns(load(snoop, "5 ns"), PoolGroup::C2mRead));
    assert_near("a snoop that is shorter than the read of memory", near[1], near[0], 1e-9);
    let far = held_ns(load("home", "200 ns"), PoolGroup::ChaRead);
    // The home agent sends the snoop and forwards the answer.
    let preset = plan(&format!("{PRESET}[workload.idle]\nkind = \"stream\"\ncores = \"0\"\n"), &[]);
    let cha = &preset.server().expect("a server").sockets[0].cha;
    let agent = (cha.read_to_mc_ps + cha.from_mc_ps) as f64 / 1000.0;
    assert_near("from admission until the answer in ns", far, agent + 2.0 * (200.0 + REQUEST_NS), 1.0);
}

#[test]
fn a_remote_write_back_ends_at_the_local_cha() {
    let [local, foreign] = ["local", "node:1"].map(|memory| held_ns(lone("0.0", memory), PoolGroup::C2mWrite));
    assert_near("foreign less local C2M-Write in ns", foreign - local, 0.0, 0.5);
}

#[test]
fn a_remote_device_write_requests_ownership_and_then_sends_the_line() {
    let [local, foreign] = ["local", "node:1"].map(|memory| held_ns(storage("read", memory), PoolGroup::P2mWrite));
    // Lines of a TLP wait for each other on the wire: on average, half of the time of the others.
    let way = 4.0 * LATENCY_NS + 3.0 * REQUEST_NS + DATA_NS;
    assert_near("foreign less local P2M-Write in ns", foreign - local, way, 8.0);
}

#[test]
fn a_remote_device_read_takes_a_upi_round_trip_longer() {
    let [local, foreign] = ["local", "node:1"].map(|memory| held_ns(storage("write", memory), PoolGroup::P2mRead));
    assert_near("foreign less local P2M-Read in ns", foreign - local, 2.0 * LATENCY_NS + REQUEST_NS + DATA_NS, 14.0);
}

#[test]
fn a_remote_line_takes_at_most_14_events() {
    let events = |reads, memory| {
        let mut simulation = lone(reads, memory);
        run_to(&mut simulation, us(400));
        simulation.progress().events as f64 / acquired(settled(&mut simulation), PoolGroup::C2mRead, 0) as f64
    };
    for reads in ["1.0", "0.0"] {
        let [local, foreign] = ["local", "node:1"].map(|memory| events(reads, memory));
        let most = if reads == "1.0" { 14.0 } else { 24.0 };
        assert!(foreign <= most, "{foreign:.1} events per line with reads = {reads}, {local:.1} of a local one");
    }
}

#[test]
fn a_direction_of_upi_carries_no_more_than_its_bandwidth() {
    let workloads = "[workload.stream]\nkind = \"stream\"\ncores = \"0-7\"\nmemory = \"node:1\"\n";
    let mut simulation = simulation(workloads, &["upi.link.bandwidth=5 GB/s"]);
    run_to(&mut simulation, us(200));
    let lines = acquired(settled(&mut simulation), PoolGroup::UpiData, 0) as f64;
    let most = 200e-6 * 5e9 / 80.0;
    assert_near("share of the wire", lines / most, 1.0, 0.02);
}

#[test]
fn interleaved_memory_lies_in_both_sockets() {
    let workloads =
        "[workload.stream]\nkind = \"stream\"\ncores = \"0\"\npattern = \"random\"\nmemory = \"interleave\"\n";
    let mut simulation = simulation(workloads, &[]);
    run_to(&mut simulation, us(400));
    let machine = settled(&mut simulation);
    let share = acquired(machine, PoolGroup::ChaUpi, 0) as f64 / acquired(machine, PoolGroup::C2mRead, 0) as f64;
    assert_near("share of foreign lines", share, 0.5, 0.03);
}

/// Returns workloads of both sockets whose lines cross in both directions.
fn crossing(reads: f64, cached: bool, other: &str, rw: &str) -> String {
    let cache = if cached { "[cache]\nenabled = true\nl2.sets = 64\nllc.sets = 64\n" } else { "" };
    format!(
        "{cache}[workload.first]\nkind = \"stream\"\ncores = \"0-2\"\nreads = {reads}\nmemory = \"node:1\"\n\
         working_set = \"16 MiB\"\n\
         [workload.second]\nkind = \"stream\"\ncores = \"8-10\"\nreads = {reads}\nmemory = \"{other}\"\n\
         working_set = \"16 MiB\"\npattern = \"random\"\n\
         [workload.disk]\nkind = \"fio\"\ncores = \"12\"\n\
         jobs = [{{ rw = \"{rw}\", bs = \"64 KiB\", iodepth = 8, size = \"1 GiB\", ssd = 0 }}]\n"
    )
}

proptest! {
    #![proptest_config(cases(12))]

    /// Two sockets that access each other with few credits and entries make progress and drain, with consistent
    /// statistics.
    #[test]
    fn sockets_that_access_each_other_do_not_deadlock(
        cached: bool,
        speculative: bool,
        directory: bool,
        snoop in prop::sample::select(vec!["directory", "home"]),
        reads in prop::sample::select(vec![0.0, 0.5, 1.0]),
        other in prop::sample::select(vec!["node:0", "local", "interleave"]),
        rw in prop::sample::select(vec!["read", "write"]),
        ddio in prop::sample::select(vec!["memory", "device", "home"]),
        credits in prop::sample::select(vec![1, 2, 64]),
        entries in prop::sample::select(vec![2, 3, 14]),
        slices in prop::sample::select(vec![1, 4, 18]),
    ) {
        let settings = [
            format!("upi.speculative={speculative}"),
            format!("upi.directory={directory}"),
            format!("upi.snoop={snoop}"),
            format!("upi.ddio={ddio}"),
            format!("upi.link.data_credits={credits}"),
            format!("upi.link.request_credits={credits}"),
            format!("cha.tor.entries={entries}"),
            format!("cha.slices={slices}"),
        ];
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut simulation = simulation(&crossing(reads, cached, other, rw), &settings);
        run_to(&mut simulation, us(60));
        assert_books(settled(&mut simulation));
        // With one credit or entry, a line takes at least 100 ns, and hundreds of lines may be ahead of it.
        let narrow = credits < 64 || entries * slices < 16;
        assert_all_move_within(&mut simulation, if narrow { 2_000_000_000 } else { 60_000_000 });
        drain(&mut simulation);
        let machine = settled(&mut simulation);
        assert_little(machine);
        prop_assert_eq!(in_use(machine, PoolGroup::ChaUpi), 0);
        prop_assert!(machine.requests().is_empty(), "{} requests are left", machine.requests().len());
        prop_assert!(acquired(machine, PoolGroup::ChaUpi, 1) > 0, "lines cross");
    }
}

/// Returns a server with PageRank, whose threads on both sockets read and store to shared memory.
fn shared(memory: &str, inclusion: &str, snoop: &str) -> Simulation<Machine> {
    let workloads = format!(
        "[cache]\nenabled = true\nl2.sets = 64\nllc.sets = 64\nllc.inclusion = \"{inclusion}\"\n\
         [workload.rank]\nkind = \"app\"\napp = \"pagerank\"\ncores = \"0-1,8-9\"\nscale = 12\ndegree = 8\n\
         memory = \"{memory}\"\n"
    );
    simulation(&workloads, &[&format!("upi.snoop={snoop}")])
}

#[test]
fn a_line_is_dirty_in_one_socket_at_most() {
    let cases = [("local", "victim"), ("interleave", "victim"), ("node:1", "inclusive")];
    for ((memory, inclusion), snoop) in cases.into_iter().flat_map(|case| [(case, "directory"), (case, "home")]) {
        let mut simulation = shared(memory, inclusion, snoop);
        let (mut seen, mut stale) = (0, 0);
        for step in 1..=10 {
            run_to(&mut simulation, us(20 * step));
            let machine = settled(&mut simulation);
            let mut dirty = BTreeSet::new();
            for caches in machine.caches() {
                let own: BTreeSet<u64> = caches.dirty_lines().collect();
                seen += own.len();
                let twice = own.iter().find(|line| dirty.contains(*line));
                assert_eq!(twice, None, "a line is dirty twice, memory = {memory}, {inclusion}");
                dirty.extend(own);
            }
            let copies = |line: &&u64| machine.caches().filter(|caches| caches.has(**line)).count() > 1;
            stale += dirty.iter().filter(copies).count();
            assert_books(machine);
        }
        assert!(seen > 100, "{seen} dirty lines seen");
        assert!(stale * 100 < seen, "{stale} of {seen} dirty lines have a copy elsewhere");
        let machine = settled(&mut simulation);
        assert!(acquired(machine, PoolGroup::UpiSnoop, 0) > 0, "copies are asked for");
    }
}
