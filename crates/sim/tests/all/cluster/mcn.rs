//! Tests laws of hosts with DIMMs that have processors, and of their rings.

use crate::cluster::lab::{assert_same_on_threads_and_from_a_checkpoint, drain, plan, run, servers};
use crate::cluster::stats::{datagrams, streams};
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::mcn::{Mcn, McnCounts};
use hostnet_model::World;
use proptest::prelude::*;

/// Returns a plan of a box with DIMMs, with more keys of its rings and more tables.
fn cluster(dimms: u32, mcn: &str, more: &str) -> Plan {
    plan(&format!(
        "[host.box]\npreset = \"mcn-host-8\"\nmcn = {{ {mcn} }}\n\
         [host.d]\nkind = \"dimm\"\non = \"box\"\npreset = \"mcn-a57\"\ncount = {dimms}\n\
         [network]\nrate = \"10 Gbps\"\n{more}\n"
    ))
}

fn bulk(name: &str, from: &str, to: &str, more: &str) -> String {
    format!("[flow.{name}]\nkind = \"bulk\"\ntransport = \"cubic\"\nfrom = \"{from}\"\nto = \"{to}\"\n{more}\n")
}

fn ping(name: &str, from: &str, to: &str, bytes: u32) -> String {
    format!(
        "[flow.{name}]\nkind = \"datagram\"\npattern = \"ping\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
         request = \"{bytes} B\"\nresponse = \"{bytes} B\"\n"
    )
}

/// Returns the counters of the interfaces of each machine, with the host at the other side.
fn counts(simulation: &Simulation<World>) -> Vec<Vec<(u16, McnCounts)>> {
    let of = |mcn: &Mcn| mcn.counts().map(|(host, counts)| (host, *counts)).collect();
    servers(simulation).into_iter().map(|machine| of(machine.first().expect("it has interfaces"))).collect()
}

/// Asserts the invariants of interfaces that hold at any time: offered packets are sent, dropped or waiting, and sent
/// ones arrive. Here hosts are numbered like servers.
fn check(simulation: &Simulation<World>) {
    let all = counts(simulation);
    for (at, machine) in servers(simulation).into_iter().enumerate() {
        let mcn: &Mcn = machine.first().expect("it has interfaces");
        for ((host, counts), waiting) in mcn.counts().zip(mcn.waiting()) {
            assert_eq!(counts.offered, counts.sent + counts.dropped + waiting);
            let there = &all[usize::from(host)];
            let back = there.iter().find(|(other, _)| usize::from(*other) == at).expect("it leads back");
            assert!(back.1.arrived <= counts.sent && back.1.read <= back.1.arrived);
            assert!(counts.sent - back.1.arrived <= 1, "what can be seen crosses at once");
        }
    }
}

#[test]
fn a_ping_between_every_two_machines_is_answered_and_nothing_is_lost() {
    let flows = [ping("a", "box", "d-0", 64), ping("b", "d-1", "box", 1000), ping("c", "d-0", "d-1", 1472)].concat();
    for level in ["mcn0", "mcn1", "mcn3", "mcn5"] {
        let mut simulation = run(&cluster(2, &format!("level = \"{level}\""), &flows), 300);
        check(&simulation);
        for end in datagrams(&simulation).iter().filter(|end| end.host != 0 || end.application.latency().is_some()) {
            if let Some(latency) = end.application.latency() {
                assert!(latency.count() > 5, "{level}: {} answers", latency.count());
            }
        }
        if level != "mcn0" {
            drain(&mut simulation);
        }
        check(&simulation);
        let early: u64 = counts(&simulation).iter().flatten().map(|(_, counts)| counts.early + counts.dropped).sum();
        assert_eq!(early, 0, "{level}");
    }
}

#[test]
fn traffic_between_dimms_crosses_the_host_once_per_direction() {
    for level in ["mcn3", "mcn5"] {
        let flow = bulk("f", "d-0", "d-1", "bytes = \"300 kB\"");
        let mut simulation = run(&cluster(2, &format!("level = \"{level}\""), &flow), 2000);
        drain(&mut simulation);
        let received: u64 = streams(&simulation).iter().map(|end| end.application.received_bytes()).sum();
        assert_eq!(received, 300_000);
        let all = counts(&simulation);
        let [from_first, from_second] = [1, 2].map(|dimm: usize| all[dimm][0].1);
        let to = |dimm: u16| all[0].iter().find(|(host, _)| *host == dimm).expect("it has an interface").1;
        assert_eq!([from_first.sent, from_second.sent], [to(2).sent, to(1).sent]);
        assert_eq!([from_first.sent, from_second.sent], [to(1).read, to(2).read]);
    }
}

/// Returns the bytes that the applications of each flow to the box have received after `us`.
fn received_at_box(mcn: &str, us: u64) -> Vec<u64> {
    let simulation = run(&cluster(2, mcn, &bulk("f", "d", "box", "")), us);
    let ends = streams(&simulation);
    ends.iter().filter(|end| end.host == 0).map(|end| end.application.received_bytes()).collect()
}

#[test]
fn the_stack_works_on_the_core_that_reads_rings_unless_packets_are_steered() {
    let sum = |mcn: &str| received_at_box(mcn, 400).iter().sum::<u64>();
    let [kept, steered] = ["level = \"mcn0\"", "level = \"mcn0\", steer = true"].map(sum);
    assert!(kept > 100_000 && 4 * kept < 3 * steered, "{kept} B on one core, {steered} B on all");
}

#[test]
fn no_dimm_starves_beside_another_that_sends_as_fast() {
    for level in ["mcn0", "mcn1", "mcn3", "mcn5"] {
        let received = received_at_box(&format!("level = \"{level}\""), 600);
        let [least, most] = [received.iter().min(), received.iter().max()].map(|bytes| *bytes.expect("two flows"));
        assert!(3 * least > most, "{level}: {received:?}");
    }
}

#[test]
fn an_engine_with_more_lines_on_their_way_is_quicker_and_one_with_one_works() {
    let sum = |lines: u32| {
        let mcn = format!("level = \"mcn5\", dma_lines = {lines}");
        received_at_box(&mcn, 400).iter().sum::<u64>()
    };
    let [one, four, many] = [1, 4, 64].map(sum);
    assert!(one > 0 && 2 * one < four.min(many), "{one}, {four} and {many} B");
}

#[test]
fn traffic_of_a_dimm_beyond_its_host_uses_the_nic_in_both_directions() {
    let far = "[host.e]\nkind = \"endpoint\"\n";
    for (from, to) in [("d-0", "e"), ("e", "d-1")] {
        let more = [far, &bulk("f", from, to, "bytes = \"200 kB\"")].concat();
        let mut simulation = run(&cluster(2, "level = \"mcn4\"", &more), 3000);
        drain(&mut simulation);
        let received: u64 = streams(&simulation).iter().map(|end| end.application.received_bytes()).sum();
        assert_eq!(received, 200_000, "{from} to {to}");
        check(&simulation);
    }
}

#[test]
fn a_segment_is_one_packet_with_tso_and_as_large_as_a_ring() {
    let sent = |mcn: &str| {
        let mut simulation = run(&cluster(1, mcn, &bulk("f", "d", "box", "bytes = \"400 kB\"")), 2000);
        drain(&mut simulation);
        counts(&simulation)[1][0].1.sent
    };
    let packets = |more: &str| sent(&format!("level = \"mcn4\", mtu = \"1500 B\"{more}"));
    let [cut, whole, small, all] = [", tso = false", "", ", rings = \"20 KiB\"", ", gso = \"46 KiB\""].map(packets);
    assert!(all < whole && whole < small && small < cut, "{all}, {whole} and {small} packets, {cut} without");
    assert!(cut >= 400_000 / 1448);
}

#[test]
#[ignore = "long"]
fn threads_and_checkpoints_change_nothing() {
    let flows = [bulk("f", "d", "box", ""), ping("p", "d-0", "d-1", 256)].concat();
    let plan = cluster(2, "level = \"mcn0\"", &format!("{flows}[run]\nwarmup = \"50 us\"\nduration = \"100 us\"\n"));
    assert_same_on_threads_and_from_a_checkpoint(&plan, 77_777_777);
}

proptest! {
    #![proptest_config(crate::common::laws::cases(6))]

    /// A pointer must not be visible before the data that it points to, however a controller orders writes.
    #[test]
    fn no_pointer_is_visible_before_its_message(
        idle_flush in 20_u32..400,
        rings in 3_u32..60,
        bytes in 1_u32..9000,
        poll in 1_u32..20,
        alert in any::<bool>(),
        tso in any::<bool>(),
        dma in any::<bool>(),
        seed in any::<u32>(),
    ) {
        let alert = alert || dma;
        let mtu = (rings * 1024).min(9000) / 2;
        let mcn = format!(
            "poll = \"{poll} us\", alert = {alert}, tso = {tso}, dma = {dma}, checksum = {}, \
             rings = \"{rings} KiB\", mtu = \"{} B\"",
            !dma,
            mtu.max(576)
        );
        let more = [
            format!("[host.box.memory.controller]\nidle_flush = \"{idle_flush} ns\"\n"),
            bulk("there", "box", "d", "count = 2"),
            bulk("back", "d", "box", ""),
            ping("p", "box", "d-0", bytes.min(500)),
            format!("[run]\nseed = {seed}\nwarmup = \"1 us\"\nduration = \"150 us\"\n"),
        ]
        .concat();
        let simulation = run(&cluster(2, &mcn, &more), 150);
        check(&simulation);
        let all = counts(&simulation);
        let [early, fences, sent] = [
            |counts: &McnCounts| counts.early,
            |counts: &McnCounts| counts.fences,
            |counts: &McnCounts| counts.sent,
        ]
        .map(|of: fn(&McnCounts) -> u64| all.iter().flatten().map(|(_, counts)| of(counts)).sum::<u64>());
        prop_assert_eq!(early, 0);
        prop_assert!(sent > 20 && (dma || fences >= sent), "{} sent, {} fences", sent, fences);
    }
}

proptest! {
    #![proptest_config(crate::common::laws::cases(4))]

    /// Every byte that is sent between a box, its DIMMs and hosts beyond its NIC is received once, for any keys.
    #[test]
    fn nothing_is_lost_between_box_dimms_and_wire(
        level in 1_u32..6,
        rings in 10_u32..60,
        dimms in 1_u32..4,
        steer in any::<bool>(),
        pairs in proptest::collection::vec((0_usize..5, 0_usize..5, 1_u32..120_000), 1..5),
        seed in any::<u32>(),
    ) {
        let names: Vec<String> = ["box".to_string(), "e-0".to_string(), "e-1".to_string()]
            .into_iter()
            .chain((0..dimms).map(|dimm| if dimms > 1 { format!("d-{dimm}") } else { "d".to_string() }))
            .collect();
        let mut more = format!("[host.e]\nkind = \"endpoint\"\ncount = 2\n[run]\nseed = {seed}\n");
        let mut expected = 0;
        for (index, (from, to, bytes)) in pairs.iter().enumerate() {
            let [from, to] = [from, to].map(|at| &names[at % names.len()]);
            if from != to {
                more += &bulk(&format!("f{index}"), from, to, &format!("mtu = \"1500 B\"\nbytes = \"{bytes} B\""));
                expected += u64::from(*bytes);
            }
        }
        prop_assume!(expected > 0);
        let mcn = format!("level = \"mcn{level}\", rings = \"{rings} KiB\", steer = {steer}");
        let mut simulation = run(&cluster(dimms, &mcn, &more), 3000);
        drain(&mut simulation);
        let received: u64 = streams(&simulation).iter().map(|end| end.application.received_bytes()).sum();
        prop_assert_eq!(received, expected);
        check(&simulation);
        for (_, counts) in counts(&simulation).iter().flatten() {
            prop_assert_eq!((counts.dropped, counts.offered, counts.arrived), (0, counts.sent, counts.read));
        }
    }
}

#[test]
fn without_a_fence_pointers_overtake_messages() {
    let flows = [bulk("there", "box", "d", "count = 4"), bulk("back", "d", "box", "")].concat();
    let simulation = run(&cluster(2, "level = \"mcn1\", fence = false", &flows), 400);
    let early: u64 = counts(&simulation)[0].iter().map(|(_, counts)| counts.early).sum();
    assert!(early > 0, "the channel puts no write in another order");
}
