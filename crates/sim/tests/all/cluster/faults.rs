//! Tests faulty cables, receivers that do not read, and NICs with too few resources.

use crate::cluster::lab::{drain, fabric, nic, plan, run, servers};
use crate::cluster::stats::{assert_conserved, packets, streams};
use hostnet_config::Plan;
use hostnet_kernel::Simulation;
use hostnet_model::ether;
use hostnet_model::nic::DropReason;
use hostnet_model::World;
use std::sync::Arc;

const TCP: &str = "[transport.t]\nbase = \"dctcp\"\nrto_min = \"1 ms\"\nrto_initial = \"2 ms\"\n";

/// Returns a plan of an endpoint that sends to a server over a cable with faults.
fn faulty(host: &str, cable: &str, flow: &str) -> Plan {
    plan(&format!(
        "[host.receiver]\npreset = \"cascade-lake-hostcc\"\n{host}\n[host.sender]\nkind = \"endpoint\"\n\
         [network]\nmtu = \"4096 B\"\n[switch.s]\necn = \"100 packets\"\n{TCP}\
         [cable.a]\nends = [\"sender\", \"s\"]\n{cable}\n[cable.b]\nends = [\"receiver\", \"s\"]\n\
         [flow.f]\nkind = \"bulk\"\nfrom = \"sender\"\nto = \"receiver\"\ntransport = \"t\"\n{flow}\n"
    ))
}

fn dropped_by_fabric(simulation: &Simulation<World>, reason: ether::DropReason) -> u64 {
    let fabric = fabric(simulation);
    let drops = fabric.switches().map(|switch| switch.drops()).chain(fabric.endpoints().map(|end| end.drops()));
    drops.map(|drops| drops.packets(reason)).sum()
}

fn dropped_by_nic(simulation: &Simulation<World>, reason: DropReason) -> u64 {
    nic(servers(simulation)[0]).flows().iter().map(|flow| flow.dropped(reason).packets).sum()
}

/// Returns the bytes that the application of the server has read.
fn received(simulation: &Simulation<World>) -> u64 {
    streams(simulation).iter().map(|end| end.application.received_bytes()).sum()
}

#[test]
fn a_flow_recovers_from_a_cable_that_was_down() {
    let plan = faulty("", "down = [[\"60 us\", \"300 us\"]]", "bytes = \"2 MB\"");
    let mut simulation = run(&plan, 299);
    let before = received(&simulation);
    assert!(before < 2_000_000, "it is not over before the fault");
    assert!(dropped_by_fabric(&simulation, ether::DropReason::LinkDown) > 0);
    simulation.run_until(crate::common::us(6000), |_| true);
    assert_eq!(received(&simulation), 2_000_000);
    drain(&mut simulation);
    assert_conserved(&simulation, 1);
    assert_eq!(packets(&simulation, 1)[0].dropped_by_nics, 0);
}

#[test]
fn a_receiver_that_does_not_read_stops_its_sender_and_loses_nothing() {
    let plan = faulty("", "", "bytes = \"8 MB\"\ndeaf = [\"100 us\", \"600 us\"]");
    let half = 1 << 20;
    let simulation = run(&plan, 590);
    let before = received(&simulation);
    let all = streams(&simulation);
    let readable: u64 = all.iter().map(|end| end.connection.readable()).sum();
    assert!(readable <= half && readable + 4044 > half - 4044, "the window is full: {readable} of {half}");
    let mut simulation = run(&plan, 4000);
    assert!(
        before < 2 * half && received(&simulation) == 8_000_000,
        "{before} before, {} after",
        received(&simulation)
    );
    let sender = streams(&simulation).into_iter().find(|end| end.counts.is_none()).expect("it is an endpoint");
    let blocked_ps = sender.connection.counters().window_limited_ps;
    assert!(blocked_ps > 300_000_000, "the window was closed for {blocked_ps} ps");
    assert_eq!(sender.connection.counters().bytes_retransmitted, 0);
    drain(&mut simulation);
    assert_conserved(&simulation, 1);
    let stats = &packets(&simulation, 1)[0];
    assert_eq!((stats.dropped_by_nics, stats.dropped_on_the_way), (0, 0));
}

#[test]
fn a_ring_with_few_descriptors_drops_for_want_of_them() {
    for (ring, reason) in [(2, Some(DropReason::NoDescriptor)), (1024, None)] {
        let host = format!(
            "nic.ring = {ring}\nnic.buffer = \"30 kB\"\nstack.packet = \"{} ns\"",
            if ring == 2 { 2000 } else { 10 }
        );
        let mut simulation = run(&faulty(&host, "", "bytes = \"1 MB\""), 10_000);
        assert_eq!(received(&simulation), 1_000_000);
        for found in [DropReason::NoDescriptor, DropReason::TooLong, DropReason::Corrupt] {
            assert_eq!(dropped_by_nic(&simulation, found) > 0, reason == Some(found), "{found:?}, ring {ring}");
        }
        drain(&mut simulation);
        assert_conserved(&simulation, 1);
    }
}

#[test]
fn damaged_packets_are_dropped_at_the_next_hop_and_retransmitted() {
    let mut plan = faulty("", "corrupt = 0.01", "bytes = \"2 MB\"");
    // The cable of the server is faulty as well, so its NIC detects damaged packets.
    let cables = &mut Arc::make_mut(&mut plan.cluster).cables;
    cables[1].corrupt = cables[0].corrupt;
    let mut simulation = run(&plan, 30_000);
    assert_eq!(received(&simulation), 2_000_000);
    assert!(dropped_by_nic(&simulation, DropReason::Corrupt) > 0);
    assert!(dropped_by_fabric(&simulation, ether::DropReason::Corrupt) > 0);
    drain(&mut simulation);
    assert_conserved(&simulation, 1);
}

#[test]
fn a_server_without_flows_is_idle() {
    let plan = plan(
        "[host.a]\npreset = \"cascade-lake-hostcc\"\n[host.b]\nkind = \"endpoint\"\ncount = 2\n\
         [flow.f]\nkind = \"bulk\"\nbytes = \"1 MB\"\nfrom = \"b-0\"\nto = \"b-1\"\n",
    );
    let simulation = run(&plan, 1000);
    assert_eq!(received(&simulation), 1_000_000);
    let machine = servers(&simulation)[0];
    assert!(machine.requests().is_empty() && machine.packets().is_empty());
    assert_eq!(nic(machine).port().sent_packets(), 0);
}
