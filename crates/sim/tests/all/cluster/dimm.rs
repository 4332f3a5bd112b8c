//! Tests a NIC in a DIMM: computable latencies and limits, and conservation of packets.

use crate::cluster::lab::{
    assert_same_on_threads_and_from_a_checkpoint, drain, plan, run, servers, servers_mut, settle,
};
use crate::cluster::stats::{assert_conserved, datagrams};
use crate::common::laws::{assert_books, cases};
use crate::common::us;
use hostnet_model::dimm::{Dimm, DimmCounters};
use hostnet_model::memory::Channel;
use hostnet_model::os::NetStack;
use hostnet_model::params::HostKind;
use hostnet_model::transport::stage_times::Stage;
use hostnet_model::Machine;
use hostnet_sim::{Options, Run};
use proptest::prelude::*;
use serde_json::Value;
use std::sync::Arc;

/// Returns a cluster of two nodes of the NetDIMM study at a cable.
fn nodes(keys: &str, flow: &str) -> String {
    let flow =
        if flow.contains("from =") { flow.to_owned() } else { format!("from = \"node-0\"\nto = \"node-1\"\n{flow}") };
    format!(
        "[host.node]\npreset = \"netdimm-host\"\ncount = 2\nnic.attach = \"dimm\"\n{keys}\n\
         [network]\ntopology = \"direct\"\nrate = \"40 Gbps\"\nlatency = \"10 ns\"\nmtu = \"9000 B\"\n\
         [run]\nwarmup = \"20 us\"\nduration = \"100 us\"\n\
         [flow.f]\n{flow}"
    )
}

fn ping(bytes: u32) -> String {
    format!(
        "kind = \"datagram\"\npattern = \"ping\"\nrequest = \"{bytes} B\"\nresponse = \"{bytes} B\"\nthink = \"1 us\"\n"
    )
}

/// Returns the mean time of each stage of requests to an idle server whose DIMM is never refreshed, in ps.
fn idle(keys: &str, bytes: u32) -> [f64; 10] {
    let mut plan = plan(&nodes(keys, &ping(bytes)));
    for host in &mut Arc::make_mut(&mut plan.cluster).hosts {
        let HostKind::Server(server) = &mut host.kind else { continue };
        let dimm = server.socket_mut().dimm.as_mut().expect("a DIMM");
        dimm.memory.dram.timing.refi = 1 << 30;
    }
    let simulation = run(&plan, 300);
    let all = datagrams(&simulation);
    let end = all.iter().find(|end| end.host == 1).expect("an end there");
    let stage_stats = end.application.stage_stats();
    assert!(stage_stats.total().count() > 10, "{keys}");
    Stage::ALL.map(|stage| stage_stats.sum_ps(stage) as f64 / stage_stats.total().count() as f64)
}

fn of(machine: &Machine) -> &Dimm {
    machine.first().expect("a DIMM")
}

/// Returns the counters of the DIMM of node 1 at `until_us`.
fn counted(keys: &str, flow: &str, until_us: u64) -> DimmCounters {
    let simulation = run(&plan(&nodes(keys, flow)), until_us);
    *of(servers(&simulation)[1]).counters()
}

fn told(text: &str) -> Value {
    let mut run = Run::new(&plan(text), Options::default());
    assert_eq!(run.run(|_| true), Ok(true));
    run.report().summary
}

fn near(found: f64, law: f64, within: f64) {
    assert!((found - law).abs() < within, "{found} ps, law {law}");
}

#[test]
fn each_stage_takes_the_time_of_its_keys() {
    let base = idle("", 256);
    let added = |keys: &str| {
        let found = idle(keys, 256);
        move |stage: Stage| found[stage as usize] - base[stage as usize]
    };
    // Four lines of data and one descriptor, one after the other.
    near(added("nic.dimm.driver.flush = \"54 ns\"")(Stage::TxFlush), 5.0 * 50_000.0, 1_500.0);
    let clone = added("nic.dimm.clone.fpm = \"190 ns\"");
    near(clone(Stage::TxCopy), 100_000.0, 3_000.0);
    // The clone of a received packet overlaps with the work of its driver, which waits only for the rest.
    near(clone(Stage::RxCopy), 0.0, 100.0);
    let waited = |ns: u32| idle(&format!("nic.dimm.clone.fpm = \"{ns} ns\""), 256)[Stage::RxCopy as usize];
    near(waited(1200) - waited(1000), 200_000.0, 1_500.0);
    // Writes of the NIC pass the path to the controllers, and so do their acknowledgements.
    let controller = added("nic.dimm.controller = \"105 ns\"");
    near(controller(Stage::RxDma), 200_000.0, 6_000.0);
}

#[test]
fn a_command_takes_its_time_on_the_way_to_the_device() {
    let with = |ns: u32| idle(&format!("nic.dimm.async.cmd = \"{ns} ns\""), 256);
    let [none, some, more] = [5, 105, 205].map(with);
    let of = |found: [f64; 10], stage: Stage| found[stage as usize];
    // The first line of a packet is read from the cache: one command.
    near(of(some, Stage::RxDriver) - of(none, Stage::RxDriver), 100_000.0, 100.0);
    // A completion is read from memory, which is still busy with the write of the completion when a short command
    // arrives.
    near(of(more, Stage::RxInvalidate) - of(some, Stage::RxInvalidate), 100_000.0, 1_500.0);
    let short = of(some, Stage::RxInvalidate) - of(none, Stage::RxInvalidate);
    assert!((50_000.0..100_000.0).contains(&short), "{short} ps");
}

#[test]
fn a_hit_takes_the_cache_and_a_miss_the_memory() {
    // The first line of a packet, as the driver reads it: with the DIMM's cache, and without.
    let header = |keys: &str| {
        let counters = counted(&format!("{keys}\n"), &ping(64), 300);
        (counters.first, counters.reads)
    };
    let (first, reads) = header("");
    assert!(first > 50 && reads > 2 * first, "{first} of {reads} reads are first lines");
    assert_eq!(header("nic.dimm.ncache.header = false").0, 0);
    assert_eq!(header("nic.dimm.ncache.size = \"0 B\"").0, 0);
}

#[test]
fn a_packet_that_is_read_misses_once_where_the_prefetcher_is_deep_enough() {
    let per_packet = |prefetch: u32| {
        let keys = format!("nic.dimm.driver.copy = true\nnic.dimm.ncache.prefetch = {prefetch}\n");
        let counters = counted(&keys, &ping(1400), 400);
        let packets = counters.first as f64;
        (counters.reads - counters.hits - counters.late) as f64 / packets
    };
    let (none, some) = (per_packet(0), per_packet(8));
    // Besides the packet, the driver misses on the completions of both directions and on the flushed lines of its
    // rings.
    assert!(none > 23.0, "{none} misses per packet without a prefetcher");
    assert!(some < 6.0, "{some} misses per packet");
}

fn flood(keys: &str) -> (Value, f64) {
    let flow = "kind = \"datagram\"\nsize = \"1472 B\"\ncount = 8\nfrom_cores = \"0-7\"\nto_cores = \"0-7\"\n";
    let summary = told(&nodes(keys, flow));
    (summary["limits"][0]["limit"].clone(), summary["classes"][0]["goodput_gbps"].as_f64().expect("a rate"))
}

#[test]
fn a_planted_limit_is_named_or_nothing_is() {
    let (limit, free) = flood("");
    assert!(
        free > 30.0 && ["cable", "not known"].contains(&limit.as_str().unwrap_or_default()),
        "{free} Gbps, {limit}"
    );
    for keys in [
        "nic.dimm.async.ids = 1\nnic.dimm.async.cmd = \"200 ns\"",
        "nic.dimm.dma_lines = 1",
        "memory.dram.timing.cl = 200",
    ] {
        let (limit, goodput) = flood(keys);
        assert!(goodput < 0.9 * free, "{keys}: {goodput} of {free} Gbps");
        assert_eq!(limit, "not known", "{keys}: {goodput} of {free} Gbps");
    }
}

#[test]
fn threads_and_checkpoints_change_nothing() {
    let plan = plan(&nodes("", &ping(700)));
    assert_same_on_threads_and_from_a_checkpoint(&plan, 47_000_001);
}

#[test]
fn rings_and_buffers_stay_off_the_channels_of_the_host() {
    let simulation = run(&plan(&nodes("", &ping(1400))), 200);
    let machine = servers(&simulation)[1];
    let written: u64 =
        machine.each::<Channel>().flat_map(|channel| channel.controller().counters(us(200)).writes).sum();
    let [commands, sent, taken] = machine.each::<Channel>().next().expect("a channel").slots_passed();
    assert_eq!(written, 0, "no line of the network is written at home");
    assert!(commands > 0 && sent > 0 && taken > 0);
    assert!(machine.each::<Channel>().nth(1).expect("a channel").slots_passed() == [0; 3]);
}

/// Returns the intervals in which the data bus is used, as (start, end) in clocks.
fn uses(channel: &mut Channel, cl: u64, cwl: u64, burst: u64) -> Vec<(u64, u64)> {
    use hostnet_model::memory::CommandKind as Command;
    let slots: Vec<_> = channel.recorded_slots().to_vec();
    let line =
        |clock: u64, write: bool| (clock + if write { cwl } else { cl }, clock + burst + if write { cwl } else { cl });
    let of_slots = slots.into_iter().filter_map(|(clock, slot)| match slot {
        hostnet_model::Slot::Command => None,
        hostnet_model::Slot::Send => Some(line(clock, false)),
        hostnet_model::Slot::Write => Some(line(clock, true)),
    });
    let mut all: Vec<_> = of_slots.collect();
    all.extend(channel.take_commands().filter_map(|command| match command.kind {
        Command::Read | Command::ReadPrecharge => Some(line(command.clock, false)),
        Command::Write | Command::WritePrecharge => Some(line(command.clock, true)),
        _ => None,
    }));
    all.sort_unstable();
    all
}

#[test]
fn slots_never_overlap_with_the_lines_of_dram() {
    let keys = "workload.beside = { kind = \"stream\", cores = \"4-7\", reads = 0.6 }\n";
    let text =
        nodes(keys, "kind = \"datagram\"\nsize = \"1400 B\"\ncount = 4\nfrom_cores = \"0-3\"\nto_cores = \"0-3\"\n");
    let mut simulation = run(&plan(&text), 20);
    for machine in servers_mut(&mut simulation) {
        machine
            .components_mut()
            .iter_mut()
            .filter_map(<Channel as hostnet_model::ComponentKind>::of_mut)
            .for_each(Channel::record_slots);
    }
    simulation.run_until(us(60), |_| true);
    settle(&mut simulation);
    for machine in servers_mut(&mut simulation) {
        let channel = machine
            .components_mut()
            .iter_mut()
            .find_map(<Channel as hostnet_model::ComponentKind>::of_mut)
            .expect("a channel");
        let slots = channel.recorded_slots().len();
        let all = uses(channel, 17, 12, 4);
        assert!(slots > 300 && all.len() > slots + 500, "{slots} slots, {} lines", all.len());
        let overlap = all.windows(2).find(|pair| pair[1].0 < pair[0].1);
        assert_eq!(overlap, None, "two lines on the bus at a time");
    }
}

proptest! {
    #![proptest_config(cases(6))]

    #[test]
    fn nothing_gets_lost_in_a_dimm(
        (ids, writes, dma, turns) in (1_u32..20, 1_u32..20, 1_u32..40, 1_u32..10),
        (ncache, ways, prefetch) in (0_u32..6, 0_u32..4, 0_u32..10),
        (header, clone, copy) in (any::<bool>(), any::<bool>(), any::<bool>()),
        (size, count, kind) in (1_u32..9000, 1_u32..4, 0_u32..3),
        (subarrays, ring, channel) in (0_u32..10, 2_u32..64, 0_u32..2),
        until_us in 60_u64..160,
    ) {
        let keys = format!(
            "nic.ring = {ring}\nnic.dimm = {{ channel = {channel}, dma_lines = {dma}, nic_turns = {turns}, \
             async = {{ ids = {ids}, writes = {writes} }}, clone.subarrays = {}, \
             ncache = {{ size = \"{} B\", ways = {}, prefetch = {prefetch}, header = {header} }}, \
             driver = {{ clone = {clone}, copy = {copy} }} }}\n",
            1 << subarrays,
            if ncache == 0 { 0 } else { 512 << ncache },
            1 << ways,
        );
        let flow = match kind {
            0 => format!("kind = \"datagram\"\npattern = \"ping\"\nrequest = \"{size} B\"\nresponse = \"100 B\"\n"),
            1 => format!("kind = \"datagram\"\nsize = \"{size} B\"\n"),
            _ => "kind = \"bulk\"\n".to_owned(),
        };
        let cores = format!("count = {count}\nfrom_cores = \"0-{}\"\nto_cores = \"0-{}\"\n", count - 1, count - 1);
        let size_fits = size + 28 <= 9000;
        prop_assume!(size_fits);
        let plan = plan(&nodes(&keys, &format!("{flow}{cores}")));
        let mut simulation = run(&plan, until_us);
        settle(&mut simulation);
        servers(&simulation).into_iter().for_each(assert_books);
        for machine in servers(&simulation) {
            let counters = of(machine).counters();
            prop_assert!(counters.passed_max <= u64::from(turns), "{} of {turns}", counters.passed_max);
            prop_assert!(counters.hits + counters.late <= counters.reads);
        }
        drain(&mut simulation);
        assert_conserved(&simulation, plan.cluster.flows.len());
        servers(&simulation).into_iter().for_each(assert_books);
        for machine in servers(&simulation) {
            prop_assert!(of(machine).domains().iter().all(|domain| domain.in_use() == 0), "every credit comes back");
            let rows: u32 = machine.engines::<NetStack>().map(NetStack::rows_handed_out).sum();
            prop_assert_eq!(rows, 0, "every row comes back");
        }
    }
}
