//! Tests of RoCE flows whose ends live in NICs.

use super::world::{arrive, bench_of, data, flows, host, params, pcie, run, Bench, Host, Remote};
use crate::nic::{DropReason, RdmaEnd};
use crate::params::{NicParams, PcieParams, PfcParams, RoceParams, Traffic};
use crate::part::Part;
use crate::transport::roce::RoceConnection;
use hostnet_kernel::Time;

const PORT: u64 = 12_500_000_000;

fn roce() -> RoceParams {
    RoceParams {
        message_bytes: 65_536,
        in_flight: 16,
        mtu_bytes: 4096,
        ack_packets: 4,
        timeout_ps: 100_000_000,
        dcqcn: None,
    }
}

/// Creates flow 0 between the NIC and the remote end. With `initiator`, the NIC issues the requests.
fn pair(params: NicParams, host: Host, traffic: &Traffic, initiator: bool) -> Bench {
    let end = |initiator| RoceConnection::new(&roce(), traffic, initiator, PORT);
    let own = RdmaEnd {
        flow: 0,
        hosts: [0, 1],
        priority: 0,
        base: 512 << 20,
        region_bytes: 1 << 20,
        start_ps: 1,
        initiator,
        connection: end(initiator),
        rank: None,
    };
    bench_of(params, host, flows(), vec![own], Some(Remote::new(end(!initiator))), 1)
}

/// Returns the bytes of data per second between 100 and 200 us, as read by `count`.
fn rate(bench: &mut Bench, count: impl Fn(&super::world::World) -> u64) -> f64 {
    let before = count(run(bench, 100_000_000));
    let after = count(run(bench, 200_000_000));
    (after - before) as f64 / 100e-6
}

const ENDLESS: Traffic = Traffic::Bulk { bytes: u64::MAX };
const READ: Traffic = Traffic::Read { bytes: u64::MAX };
/// Data rate of a saturated cable in bytes per second: 4096 of 4178 bytes are data.
const GOODPUT: f64 = 12.5e9 * 4096.0 / 4178.0;

fn near(rate: f64, expected: f64) {
    assert!((rate / expected - 1.0).abs() < 0.02, "{rate} instead of {expected} bytes per second");
}

#[test]
fn writes_from_afar_go_to_memory_at_the_rate_of_the_cable_and_no_core_hears_of_them() {
    let mut bench = pair(params(), host(), &ENDLESS, false);
    near(rate(&mut bench, |world| world.nic.counters().written_bytes), GOODPUT);
    let world = run(&mut bench, 200_000_001);
    assert!(world.received.is_empty() && world.interrupts.is_empty());
    assert_eq!(world.nic.counters().completions, 0);
    assert!(world.writes.iter().all(|write| write.2 == 4), "whole TLPs of data and nothing else");
}

#[test]
fn reads_from_afar_are_answered_from_memory() {
    let mut bench = pair(params(), host(), &READ, false);
    near(rate(&mut bench, |world| world.remote.as_ref().map_or(0, |remote| remote.placed_bytes)), GOODPUT);
    let world = run(&mut bench, 200_000_001);
    assert!(world.writes.is_empty());
    assert!(world.nic.counters().read_bytes >= world.nic.flows()[0].sent.bytes / 4178 * 4096);
}

#[test]
fn own_writes_read_memory_and_own_reads_write_it() {
    let mut writes = pair(params(), host(), &ENDLESS, true);
    near(rate(&mut writes, |world| world.remote.as_ref().map_or(0, |remote| remote.placed_bytes)), GOODPUT);
    let mut reads = pair(params(), host(), &READ, true);
    near(rate(&mut reads, |world| world.nic.counters().written_bytes), GOODPUT);
}

#[test]
fn memory_that_is_slow_drops_packets_without_pfc_and_pauses_with_it() {
    let slow = Host { credit_ps: (2_000_000, 0), ..host() };
    let pcie = PcieParams { posted_lines: 128, ..pcie() };
    let small = NicParams { pcie, buffer_bytes: 200_000, ..params() };
    // Credits: 128 lines per round trip of 2 us and the latency of the link.
    let most = 128.0 * 64.0 / 2.15e-6;
    let mut lossy = pair(small.clone(), slow.clone(), &ENDLESS, false);
    let goodput = rate(&mut lossy, |world| world.nic.counters().written_bytes);
    let flow = lossy.worlds().next().expect("a world").nic.flows()[0];
    assert!(flow.dropped(DropReason::BufferFull).packets > 0 && goodput <= most * 1.02);
    let pfc = Some(PfcParams { priorities: 1, xoff_bytes: 100_000, xon_bytes: 80_000 });
    let mut lossless = pair(NicParams { pfc, ..small }, slow, &ENDLESS, false);
    let goodput = rate(&mut lossless, |world| world.nic.counters().written_bytes);
    let world = lossless.worlds().next().expect("a world");
    assert_eq!(world.nic.flows()[0].dropped_in_all().packets, 0);
    assert!(world.nic.counters().pauses_sent > 2 && world.nic.counters().pausing.mean() > 0.1);
    assert!(goodput <= most * 1.02 && goodput > most * 0.85, "{goodput} of {most}");
}

#[test]
fn a_flow_of_some_messages_ends_and_nothing_is_left() {
    for (traffic, initiator) in [
        (Traffic::Bulk { bytes: 1_000_001 }, true),
        (Traffic::Bulk { bytes: 1_000_001 }, false),
        (Traffic::Read { bytes: 1_000_001 }, true),
        (Traffic::Read { bytes: 1_000_001 }, false),
    ] {
        let mut bench = pair(params(), host(), &traffic, initiator);
        let world = run(&mut bench, 1_000_000_000);
        let own = &world.nic.rdma().next().expect("an end").connection;
        let remote = world.remote.as_ref().expect("an end");
        assert!(if initiator { own.done() } else { remote.connection.done() }, "{traffic:?} {initiator}");
        assert_eq!((world.packets.len(), world.nic.flows()[0].inside(), world.nic.send_window_used()), (0, 0, 0));
        assert_eq!((world.nic.posted(0).in_use(), world.nic.nonposted(0).in_use()), (0, 0));
    }
}

#[test]
fn a_nic_that_is_stopped_asks_for_nothing_more() {
    let mut bench = pair(params(), host(), &ENDLESS, true);
    run(&mut bench, 50_000_000);
    bench.parts_mut()[0].0.nic.stop();
    let world = run(&mut bench, 60_000_000);
    assert_eq!((world.packets.len(), world.nic.send_window_used()), (0, 0));
    let sent = world.nic.flows()[0].sent.packets;
    let world = run(&mut bench, 500_000_000);
    assert_eq!(world.nic.flows()[0].sent.packets, sent);
    assert!(bench.parts()[0].1.now() >= Time::from_ps(500_000_000));
}

#[test]
fn a_nic_without_queues_takes_rdma_and_drops_the_rest() {
    let none = NicParams { queues: 0, ..params() };
    let mut bench = pair(none, host(), &ENDLESS, false);
    near(rate(&mut bench, |world| world.nic.counters().written_bytes), GOODPUT);
    arrive(&mut bench, 1_000, data(1, 1000));
    let world = run(&mut bench, 220_000_000);
    assert_eq!(world.nic.flows()[1].dropped(DropReason::NoQueue).packets, 1);
    assert_eq!((world.nic.flows()[1].received.packets, world.nic.flows()[1].inside()), (1, 0));
}
