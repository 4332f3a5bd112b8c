//! Tests of the receive side, from the cable to memory and cores.

use super::world::{arrive, bench, bench_with, data, drain, flows, host, pages, params, pcie, run, tell, Bench, Host};
use crate::line::{Content, Ecn, Packet};
use crate::link::Lane;
use crate::nic::{DropReason, NicFlow};
use crate::params::{NicParams, PcieParams, PfcParams};
use crate::part::Payload;
use crate::transport::tcp::Segment;
use hostnet_kernel::Time;

/// Returns a host that returns no credit for one second.
fn deaf() -> Host {
    Host { credit_ps: (1_000_000_000_000, 0), ..host() }
}

#[test]
fn an_idle_nic_adds_its_own_latencies_and_no_more() {
    let mut bench = bench(params(), host());
    arrive(&mut bench, 1_000, data(1, 1500));
    let world = drain(&mut bench);
    let lane = Lane::new(&pcie());
    // A frame of 1514 bytes is five TLPs of 256 and one of 234 bytes, and then the completion.
    let wire_ps = 5 * lane.wire_ps(280) + lane.wire_ps(258) + lane.wire_ps(88);
    let (time, core, packet) = world.received[0];
    let expected = 1_000 + 300_000 + wire_ps + 150_000 + 600_000 + 1;
    assert!(time.ps().abs_diff(expected) < 20, "{} instead of {expected}", time.ps());
    assert_eq!((core, packet.queue), (1, 1));
    assert_eq!(world.interrupts, [(time - 1 + 1_000_000, 1)]);
    let first = pages().physical(packet.line * 64) / 64;
    let lines: Vec<(u64, u8)> = world.writes.iter().map(|write| (write.1 - first, write.2)).take(6).collect();
    assert_eq!(lines, [(0, 4), (4, 4), (8, 4), (12, 4), (16, 4), (20, 4)], "234 bytes are four lines");
    assert_eq!(world.writes.len(), 7);
    assert_eq!(world.writes[6].2, 1, "a completion is a line");
}

/// Receives packets of `ip_bytes` at `bits_per_s` of Ethernet for 200 us. Returns the bits of IP packets delivered
/// per second, and the packets dropped.
fn flood(ip_bytes: u32, bits_per_s: u64, params: NicParams) -> (f64, u64, Bench) {
    let mut bench = bench(params, host());
    let gap_ps = u64::from(ip_bytes + 38) * 8 * 1_000_000_000_000 / bits_per_s;
    for number in 0..200_000_000 / gap_ps {
        arrive(&mut bench, 1 + number * gap_ps, data((number % 2) as u32, ip_bytes));
    }
    let world = run(&mut bench, 200_000_000);
    let late = world.received.iter().filter(|received| received.0.ps() > 100_000_000).count();
    let rate = late as f64 * f64::from(ip_bytes) * 8.0 / 100e-6;
    let dropped = world.nic.flows().iter().map(|flow| flow.dropped_in_all().packets).sum();
    (rate, dropped, bench)
}

#[test]
fn a_gen3_x16_link_carries_100_gbps_of_4_kib_packets() {
    let (rate, dropped, bench) = flood(4096, 100_000_000_000, params());
    assert_eq!(dropped, 0);
    assert!((rate / 1e9 - 100.0 * 4096.0 / 4134.0).abs() < 0.4, "{} Gbps", rate / 1e9);
    let world = bench.worlds().next().expect("a world");
    // A packet takes 4110 bytes in 17 TLPs with their overhead, and the completion.
    let share = f64::from(4110 + 17 * 24 + 88) / 4134.0 * 12.5 / 15.753_846;
    let most = world.nic.counters().buffer.max();
    assert!(share < 0.9 && most < 3 * 4110, "the link is {share} busy and {most} bytes wait");
}

#[test]
fn a_flood_is_cut_to_what_the_link_carries() {
    let slow = PcieParams { bytes_per_s: 5_000_000_000, posted_lines: 512, ..pcie() };
    let (rate, dropped, _) =
        flood(4096, 100_000_000_000, NicParams { pcie: slow.clone(), buffer_bytes: 65_536, ..params() });
    let lane = Lane::new(&slow);
    let packet_ps = 16 * lane.wire_ps(280) + lane.wire_ps(14 + 24) + lane.wire_ps(88);
    let expected = 4096.0 * 8.0 / packet_ps as f64 * 1e12;
    assert!((rate / expected - 1.0).abs() < 0.01, "{rate} instead of {expected}");
    assert!(dropped > 0);
}

#[test]
fn credits_bound_the_rate_by_littles_law() {
    let few = PcieParams { posted_lines: 64, ..pcie() };
    let (rate, _, _) = flood(4096, 100_000_000_000, NicParams { pcie: few, buffer_bytes: 65_536, ..params() });
    // 64 lines per round trip: time of a TLP on the wire, link latency, host, and at most half a TLP of
    // fragmentation.
    let most = 64.0 * 64.0 * 8.0 / 750e-9;
    assert!(rate < most && rate > 0.8 * most, "{rate} of at most {most}");
}

#[test]
fn the_buffer_takes_what_fits_to_the_byte_and_no_byte_more() {
    for (last, dropped) in [(986, 0), (987, 1)] {
        // The head sends 14 of its 16 lines and then waits forever for credits of its completion. Packets behind it
        // stay.
        let pcie = PcieParams { posted_lines: 4, ..pcie() };
        let mut bench = bench(NicParams { pcie, buffer_bytes: 4000, ..params() }, deaf());
        for (number, bytes) in [986, 986, 986, last].into_iter().enumerate() {
            arrive(&mut bench, 1 + number as u64, data(0, bytes));
        }
        let world = run(&mut bench, 10_000_000);
        assert_eq!(world.flow(0).dropped(DropReason::BufferFull).packets, dropped);
        assert_eq!(world.flow(0).dropped_in_all().packets, dropped);
        assert_eq!(world.nic.counters().buffer.value(), 4000 - dropped * 1000);
        assert_eq!(world.nic.posted(0).in_use(), 4, "the last credit is used");
        assert!(world.nic.counters().credit_wait.mean() > 0.9);
        assert_eq!(world.nic.counters().descriptor_wait.mean(), 0.0);
    }
}

#[test]
fn a_small_packet_is_dropped_where_the_largest_has_no_room() {
    for (buffer_bytes, dropped) in [(5999, 1), (6000, 0)] {
        let pcie = PcieParams { posted_lines: 4, ..pcie() };
        let mut bench = bench(NicParams { pcie, buffer_bytes, frame_bytes: 4000, ..params() }, deaf());
        for (number, bytes) in [986, 986, 86].into_iter().enumerate() {
            arrive(&mut bench, 1 + number as u64, data(0, bytes));
        }
        let world = run(&mut bench, 10_000_000);
        assert_eq!(world.flow(0).dropped(DropReason::BufferFull).packets, dropped);
        assert_eq!(world.nic.counters().buffer.value(), 2100 - 100 * dropped);
    }
}

#[test]
fn a_packet_leaves_the_buffer_with_its_last_tlp() {
    let pcie = PcieParams { posted_lines: 16, ..pcie() };
    let mut bench = bench(NicParams { pcie, ..params() }, deaf());
    arrive(&mut bench, 1, data(0, 1024 - 14));
    arrive(&mut bench, 2, data(0, 100));
    let world = run(&mut bench, 10_000_000);
    assert_eq!(world.nic.counters().buffer.value(), 114, "the second waits, the first has all of its 16 lines out");
    assert_eq!((world.flow(0).delivered.packets, world.flow(0).inside()), (0, 2));
}

#[test]
fn an_empty_ring_holds_the_head_and_is_named_as_the_reason() {
    let no_core = Host { replenish_ps: None, ..host() };
    let mut bench = bench(NicParams { ring_entries: 1, buffer_bytes: 3000, ..params() }, no_core);
    for number in 0..5 {
        arrive(&mut bench, 1 + number * 2_000_000, data(0, 986));
    }
    let world = run(&mut bench, 20_000_000);
    assert_eq!((world.received.len(), world.nic.descriptors(0)), (1, 0));
    assert_eq!(world.flow(0).dropped(DropReason::NoDescriptor).packets, 1);
    assert_eq!(world.flow(0).dropped_in_all().packets, 1);
    assert!(world.nic.counters().descriptor_wait.mean() > 0.8);
    tell(&mut bench, 1, Payload::Replenished { queue: 0, count: 1, armed: false });
    assert_eq!(run(&mut bench, 40_000_000).received.len(), 2, "one descriptor, one packet");
}

#[test]
fn a_packet_of_another_queue_waits_behind_the_head() {
    let no_core = Host { replenish_ps: None, ..host() };
    let mut bench = bench(NicParams { ring_entries: 1, ..params() }, no_core);
    for (number, flow) in [0, 0, 1].into_iter().enumerate() {
        arrive(&mut bench, 1 + number as u64, data(flow, 500));
    }
    let world = run(&mut bench, 20_000_000);
    assert_eq!(world.received.len(), 1);
    assert_eq!(world.nic.descriptors(1), 1, "its own ring has a descriptor");
}

#[test]
fn damaged_packets_and_those_too_long_for_a_descriptor_are_dropped() {
    let mut bench = bench(NicParams { descriptor_bytes: 4096, ..params() }, host());
    arrive(&mut bench, 1, Packet { corrupt: true, ..data(0, 500) });
    arrive(&mut bench, 2, data(0, 4096 - 14));
    arrive(&mut bench, 3, data(0, 4096 - 13));
    let flow = drain(&mut bench).flow(0);
    assert_eq!(flow.dropped(DropReason::Corrupt).packets, 1);
    assert_eq!(flow.dropped(DropReason::TooLong).packets, 1);
    assert_eq!((flow.delivered.packets, flow.inside()), (1, 0));
}

#[test]
fn buffers_are_taken_in_turn_and_the_first_again_after_the_last() {
    let mut bench = bench(NicParams { pool_bytes: 3 * 8192, ..params() }, host());
    for number in 0..7 {
        arrive(&mut bench, 1 + number * 3_000_000, data(0, 242));
    }
    let world = drain(&mut bench);
    let lines: Vec<u64> = world.received.iter().map(|received| received.2.line).collect();
    assert_eq!(lines[..3], lines[3..6]);
    assert_eq!((lines[1] - lines[0], lines[2] - lines[0], lines[6]), (128, 256, lines[0]));
    let completions: Vec<u64> = world.writes.iter().filter(|write| write.2 == 1).map(|write| write.1).collect();
    assert!(completions.windows(2).all(|pair| pair[1] == pair[0] + 1), "consecutive lines: {completions:?}");
}

#[test]
fn frames_of_a_striding_queue_lie_side_by_side() {
    let mut bench = bench(NicParams { stride_bytes: 128, pool_bytes: 8192, ..params() }, host());
    for number in 0..7 {
        arrive(&mut bench, 1 + number * 3_000_000, data(0, 1500));
    }
    let world = drain(&mut bench);
    let lines: Vec<u64> = world.received.iter().map(|received| received.2.line - world.received[0].2.line).collect();
    assert_eq!(lines, [0, 24, 48, 72, 96, 0, 24], "1514 bytes are 24 lines, and 8 KiB are 128");
}

fn moderated() -> NicParams {
    NicParams { coalesce_ps: 10_000_000, coalesce_packets: 3, ..params() }
}

#[test]
fn moderation_ends_with_the_packets_or_with_the_time() {
    let mut one = bench(moderated(), Host { arm: false, ..host() });
    arrive(&mut one, 1, data(0, 300));
    let world = drain(&mut one);
    let seen = world.received[0].0 - 1;
    assert_eq!(world.interrupts, [(seen + 10_000_000 + 1_000_000, 0)]);
    let mut three = bench(moderated(), Host { arm: false, ..host() });
    (0..4).for_each(|number| arrive(&mut three, 1 + number, data(0, 300)));
    let world = drain(&mut three);
    assert_eq!(
        world.interrupts,
        [(world.received[2].0 - 1 + 1_000_000, 0)],
        "the third ends the wait; then none is armed"
    );
}

#[test]
fn an_entry_of_the_event_queue_is_written_before_the_interrupt() {
    let mut bench = bench(NicParams { event_bytes: 64, ..params() }, host());
    arrive(&mut bench, 1, data(0, 300));
    let world = drain(&mut bench);
    // Writes: the frame of five lines in two TLPs, its completion, and the entry, sent as soon as the lane is free.
    assert_eq!(world.writes.len(), 4);
    let (sent, line, lines) = world.writes[3];
    assert_eq!(lines, 1);
    assert_ne!(line, world.writes[2].1, "the two have rings of their own");
    let seen = world.received[0].0 - 1;
    let handed = seen.ps() + 1_000_000;
    let interrupt = world.interrupts[0].0.ps();
    assert_eq!(world.interrupts.len(), 1);
    assert!(interrupt >= handed && interrupt - handed <= 2 && sent > seen, "the interrupt goes with the entry");
}

#[test]
fn a_packet_that_came_before_the_core_armed_is_not_forgotten() {
    let mut bench = bench(params(), Host { replenish_ps: None, ..host() });
    arrive(&mut bench, 1, data(0, 300));
    arrive(&mut bench, 5_000_000, data(0, 300));
    assert_eq!(run(&mut bench, 10_000_000).interrupts.len(), 1, "the second comes while none is armed");
    tell(&mut bench, 1, Payload::Replenished { queue: 0, count: 1, armed: true });
    assert_eq!(run(&mut bench, 20_000_000).interrupts.len(), 2, "the core has not seen the second");
    tell(&mut bench, 1, Payload::Replenished { queue: 0, count: 1, armed: true });
    assert_eq!(run(&mut bench, 30_000_000).interrupts.len(), 2, "now it has seen all");
}

#[test]
fn the_peer_is_paused_above_a_threshold_and_goes_on_at_another() {
    let pfc = PfcParams { priorities: 1 << 3, xoff_bytes: 2000, xon_bytes: 1000 };
    let pcie = PcieParams { posted_lines: 16, ..pcie() };
    let slow = Host { credit_ps: (20_000_000, 0), ..host() };
    let mut bench = bench(NicParams { pfc: Some(pfc), pcie, ..params() }, slow);
    for priority in [3, 3, 0, 0, 0, 3] {
        arrive(&mut bench, 1, Packet { priority, ..data(0, 986) });
    }
    let world = run(&mut bench, 1_000_002);
    assert_eq!(world.pauses.len(), 1, "2000 bytes do not pause, 3000 do, and a lossy priority never");
    assert_eq!((world.pauses[0].1, world.pauses[0].2), (3, true));
    let world = drain(&mut bench);
    assert_eq!(world.pauses.len(), 2);
    assert!(!world.pauses[1].2);
    assert_eq!(world.nic.counters().pauses_sent, 1);
    assert_eq!(world.flow(0).delivered.packets, 6);
}

#[test]
fn packets_that_may_be_lost_leave_room_for_those_that_may_not() {
    // Two cable delays of 1 us and 2 us at the peer carry 50,000 bytes. Two frames of descriptor size are 16,384
    // bytes.
    let pfc = PfcParams { priorities: 1 << 3, xoff_bytes: 20_000, xon_bytes: 10_000 };
    let stuck = Host { credit_ps: (50_000_000, 0), ..host() };
    let pcie = PcieParams { posted_lines: 4, ..pcie() };
    let run_with = |buffer_bytes: u64, pfc: Option<PfcParams>| {
        let mut bench = bench(NicParams { pfc, pcie: pcie.clone(), buffer_bytes, ..params() }, stuck.clone());
        for priority in [0; 40].into_iter().chain([3; 20]) {
            arrive(&mut bench, 1, Packet { priority, ..data(u32::from(priority), 986) });
        }
        let world = run(&mut bench, 2_000_000);
        [0, 3].map(|flow| world.flow(flow).dropped(DropReason::BufferFull).packets)
    };
    assert_eq!(run_with(106_384, Some(pfc)), [20, 0], "20 frames of 1000 bytes are left to them");
    assert_eq!(run_with(106_384, None), [0, 0], "without PFC they may fill it all");
    assert_eq!(run_with(40_000, None), [0, 20]);
    assert_eq!(run_with(40_000, Some(pfc)), [32, 0], "a frame of the largest size at least: eight of 1000 bytes");
}

#[test]
fn flows_without_steering_spread_over_the_queues_by_a_hash() {
    let many: Vec<NicFlow> = (0..400).map(|_| NicFlow { queue: None, ..flows()[0].clone() }).collect();
    let bench = bench_with(NicParams { queues: 4, ..params() }, host(), many.clone(), 3);
    let nic = &bench.worlds().next().expect("a world").nic;
    let mut counts = [0; 4];
    (0..400).for_each(|flow| counts[usize::from(nic.queue_of(flow))] += 1);
    assert!(counts.iter().all(|count| (60..140).contains(count)), "{counts:?}");
    let other = bench_with(NicParams { queues: 4, ..params() }, host(), many, 4);
    let other = &other.worlds().next().expect("a world").nic;
    assert!((0..400).any(|flow| other.queue_of(flow) != nic.queue_of(flow)), "another seed, another hash");
}

fn in_order(flow: u32, sequence: u64, bytes: u32) -> Packet {
    let sent = Time::from_ps(1 + sequence);
    let segment = Segment { sequence, bytes, ack: sequence / 10, sent, ..Segment::default() };
    Packet { content: Content::Tcp(segment), ..data(flow, bytes + 52) }
}

#[test]
fn packets_in_order_become_one_when_the_nic_joins_them() {
    let mut bench = bench(NicParams { lro: true, ..params() }, host());
    for (number, sequence) in [0, 1000, 2000, 4000].into_iter().enumerate() {
        arrive(&mut bench, 1 + number as u64, in_order(0, sequence, 1000));
    }
    arrive(&mut bench, 9, Packet { ecn: Ecn::Marked, ..in_order(0, 5000, 1000) });
    let world = drain(&mut bench);
    let segments: Vec<(u64, u32, u64)> = world
        .received
        .iter()
        .map(|received| match received.2.content {
            Content::Tcp(segment) => {
                assert_eq!(segment.sent.ps(), 1 + segment.sequence, "the timestamp of the first is echoed");
                (segment.sequence, segment.bytes, segment.ack)
            }
            _ => unreachable!("only TCP was sent"),
        })
        .collect();
    assert_eq!(segments, [(0, 3000, 200), (4000, 1000, 400), (5000, 1000, 500)], "neither gaps nor marks are joined");
    let flow = world.flow(0);
    assert_eq!((flow.joined.packets, flow.joined.bytes, flow.inside()), (2, 104, 0));
    assert_eq!(flow.delivered.bytes + flow.joined.bytes, flow.received.bytes);
    assert_eq!(world.nic.counters().buffer.value(), 0);
}
