//! Tests of invariants that hold whatever the network does.

use super::super::{SackBlock, Segment, TcpConnection};
use super::pipe::{params, Pipe, PipeDirection, DCTCP, MS, US};
use crate::params::{CongestionControl, TcpParams};
use hostnet_kernel::Time;
use proptest::prelude::*;

fn controls() -> impl Strategy<Value = CongestionControl> {
    prop_oneof![Just(CongestionControl::Reno), Just(CongestionControl::Cubic), Just(DCTCP)]
}

fn ways() -> impl Strategy<Value = PipeDirection> {
    let shape = (1..2000_u64, 1..200_u64, 2..60_usize, 1..40_usize);
    let harm = (0..150_u64, 0..200_u64, 1..500_u64, 0..100_u64);
    (shape, harm).prop_map(|((ps_per_byte, delay_us, queue_packets, mark_from), (loss, reorder, reorder_us, copy))| {
        PipeDirection {
            ps_per_byte,
            delay_ps: delay_us * US,
            queue_packets,
            mark_from,
            loss,
            reorder,
            reorder_ps: reorder_us * US,
            copy,
            lose: Vec::new(),
        }
    })
}

fn ends() -> impl Strategy<Value = TcpParams> {
    (
        controls(),
        (100..1500_u32, 1..20_u32, 1..12_u32, 1..4_u32),
        (2..40_u64, 2..40_u64),
        (any::<bool>(), any::<bool>(), any::<bool>()),
    )
        .prop_map(|(control, (mss, tso, window, acks), (receive, send), (sack, probe, ecn))| TcpParams {
            mss_bytes: mss,
            tso_bytes: mss * tso,
            initial_window: window,
            receive_buffer_bytes: receive * u64::from(mss),
            send_buffer_bytes: send * u64::from(mss),
            rto_min_ps: 5 * MS,
            rto_initial_ps: 10 * MS,
            ack_segments: acks,
            ack_delay_ps: 2 * MS,
            sack,
            tail_loss_probe: probe,
            ecn,
            ..params(control)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_byte_arrives_once_in_order_over_the_worst_of_ways(
        params in ends(), there in ways(), back in ways(), bytes in (0..60_000_u64, 0..60_000_u64), seed: u64,
        deaf in (0..20_000_u64, 0..20_000_u64), read_bytes in 1..20_000_u64
    ) {
        let mut pipe = Pipe::new(&params, [bytes.0, bytes.1], [there, back], seed);
        let deaf = (Time::from_ps(deaf.0 * US), Time::from_ps((deaf.0 + deaf.1) * US));
        pipe.hosts[1].deaf = deaf;
        pipe.hosts[1].read_bytes = read_bytes;
        prop_assert!(pipe.run(Time::from_ps(3_000_000 * MS)), "{:?}", pipe.hosts[0].connection);
        for (host, total) in [(0, bytes.0), (1, bytes.1)] {
            let (mine, other) = (pipe.hosts[host].connection.counters(), pipe.hosts[1 - host].connection.counters());
            prop_assert_eq!(mine.bytes_sent, total);
            prop_assert_eq!(mine.bytes_acked, total);
            prop_assert_eq!(other.bytes_received, total);
            prop_assert!(pipe.hosts[host].connection.rto_ps() >= params.rto_min_ps);
        }
    }

    #[test]
    fn without_harm_nothing_is_sent_twice(
        control in controls(), bytes in 1..2_000_000_u64, tso in 1..45_u32, acks in 1..3_u32, delay in 1..100_u64
    ) {
        let params = TcpParams { tso_bytes: 1448 * tso, ack_segments: acks, tail_loss_probe: false, ..params(control) };
        let way = PipeDirection { delay_ps: delay * US, mark_from: 65, ..PipeDirection::default() };
        let mut pipe = Pipe::new(&params, [bytes, 0], [way.clone(), way], 1);
        prop_assert!(pipe.run(Time::from_ps(10_000 * MS)));
        let counters = pipe.hosts[0].connection.counters();
        prop_assert_eq!(counters.bytes_retransmitted + counters.timeouts + counters.recoveries, 0);
        prop_assert_eq!(pipe.hosts[1].connection.counters().bytes_duplicate, 0);
    }

    #[test]
    fn a_checkpoint_changes_nothing(
        there in ways(),
        back in ways(),
        seed: u64,
        control in controls(),
        at in 1..100_u64
    ) {
        let mut plain = Pipe::new(&params(control), [100_000, 50_000], [there.clone(), back.clone()], seed);
        let mut stopped = Pipe::new(&params(control), [100_000, 50_000], [there, back], seed);
        plain.record = true;
        stopped.record = true;
        plain.run(Time::from_ps(at * 100 * US));
        stopped.run(Time::from_ps(at * 100 * US));
        for host in &mut stopped.hosts {
            let text = serde_json::to_string(&host.connection).unwrap();
            host.connection = serde_json::from_str(&text).unwrap();
        }
        plain.run(Time::from_ps(1_000_000 * MS));
        stopped.run(Time::from_ps(1_000_000 * MS));
        prop_assert_eq!(&plain.sent, &stopped.sent);
    }

    #[test]
    fn no_segment_makes_it_panic(
        control in controls(), sack: bool,
        segments in prop::collection::vec((
            (any::<u8>(), 0..3000_u32, any::<u16>(), any::<u16>()),
            prop::array::uniform3((any::<u16>(), any::<u16>())),
            (any::<bool>(), any::<bool>(), any::<bool>(), 0..4_u8)), 1..200)
    ) {
        let params = TcpParams { sack, receive_buffer_bytes: 30_000, send_buffer_bytes: 20_000, ..params(control) };
        let mut connection = TcpConnection::new(&params);
        let mut now = Time::from_ps(1);
        for ((step, bytes, sequence, ack), blocks, (echo, reduced, marked, far)) in segments {
            let big = if far == 0 { u64::MAX - 100_000 } else { 0 };
            let segment = Segment {
                sequence: big + u64::from(sequence),
                bytes,
                ack: u64::from(ack) + if far == 1 { u64::MAX / 2 } else { 0 },
                window: u64::from(step) * if far == 2 { u64::MAX / 512 } else { 100 },
                sack: blocks.map(|(start, end)| SackBlock { start: u64::from(start), end: u64::from(end) }),
                echo, reduced, marked,
                sent: now,
                sent_echo: Time::from_ps(u64::from(ack) * u64::from(sequence)),
                retransmitted: false,
            };
            connection.on_segment(now, &segment);
            connection.write(connection.room());
            let readable = connection.readable();
            connection.read(now, readable / 2);
            let mut sent = 0;
            while connection.next(now).is_some() {
                sent += 1;
                prop_assert!(sent < 1000, "it sends for ever");
            }
            now = now.saturating_add(u64::from(step) * MS);
            connection.on_timer(now);
        }
    }
}

#[test]
fn a_flow_without_end_fills_the_link_with_every_control() {
    for control in [CongestionControl::Reno, CongestionControl::Cubic, DCTCP] {
        let way = PipeDirection { mark_from: 65, queue_packets: 200, ..PipeDirection::default() };
        let mut pipe =
            Pipe::new(&TcpParams { ack_segments: 1, ..params(control) }, [40_000_000, 0], [way.clone(), way], 1);
        assert!(pipe.run(Time::from_ps(1000 * MS)));
        let ideal_ps = 40_000_000 / 1448 * 1500 * 800;
        let used_ps = pipe.now.ps();
        assert!(used_ps < ideal_ps + ideal_ps / 50, "{control:?}: {used_ps} ps, ideal {ideal_ps} ps");
    }
}

#[test]
fn losses_of_one_in_a_hundred_cost_no_timeout() {
    let way = PipeDirection { loss: 10, ..PipeDirection::default() };
    let mut pipe = Pipe::new(&params(DCTCP), [30_000_000, 0], [way, PipeDirection::default()], 7);
    assert!(pipe.run(Time::from_ps(5000 * MS)));
    let counters = pipe.hosts[0].connection.counters();
    assert_eq!(counters.timeouts, 0, "{counters:?}");
    // One or two surplus probes are allowed.
    assert!(counters.packets_retransmitted <= pipe.dropped[0] + 2);
    assert!(counters.recoveries > 50);
}
