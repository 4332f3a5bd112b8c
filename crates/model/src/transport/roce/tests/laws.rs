//! Tests of invariants, and of the edge cases of go-back-N.

use super::super::responder::control;
use super::super::{Roce, RoceConnection, RoceOperation};
use crate::params::{DcqcnParams, RankChannelParams, RoceParams, Traffic};
use hostnet_kernel::Time;
use proptest::prelude::*;
use std::collections::VecDeque;

pub(super) const US: u64 = 1_000_000;
pub(super) const PORT: u64 = 12_500_000_000;

pub(super) fn dcqcn() -> DcqcnParams {
    DcqcnParams {
        gain: 256,
        notify_ps: 50 * US,
        alpha_ps: 55 * US,
        increase_ps: 55 * US,
        increase_bytes: 10_000_000,
        fast_rounds: 5,
        additive_bytes_per_s: 5_000_000,
        hyper_bytes_per_s: 50_000_000,
        least_bytes_per_s: 12_500_000,
    }
}

pub(super) fn params() -> RoceParams {
    RoceParams {
        message_bytes: 10_000,
        in_flight: 2,
        mtu_bytes: 1024,
        ack_packets: 4,
        timeout_ps: 500 * US,
        dcqcn: None,
    }
}

/// Two ends, paths with 1 us per packet and a delay of 5 us, and the data placed.
struct Pair {
    now: Time,
    ends: [RoceConnection; 2],
    ways: [VecDeque<(Time, Roce, bool)>; 2],
    free: [Time; 2],
    loss: u64,
    marks: u64,
    seed: u64,
    placed: Vec<u8>,
    data_sent: u64,
    data_lost: u64,
    /// Indices of the data packets that are lost, from 0.
    lose: Vec<u64>,
    log: Vec<Roce>,
}

impl Pair {
    fn new(params: &RoceParams, traffic: &Traffic, loss: u64, marks: u64, seed: u64) -> Self {
        let (Traffic::Bulk { bytes } | Traffic::Read { bytes }) = traffic else {
            unreachable!("only writes and reads")
        };
        Self {
            now: Time::from_ps(1),
            ends: [true, false].map(|initiator| RoceConnection::new(params, traffic, initiator, PORT)),
            ways: [VecDeque::new(), VecDeque::new()],
            free: [Time::ZERO; 2],
            loss,
            marks,
            seed: seed | 1,
            placed: vec![0; *bytes as usize],
            data_sent: 0,
            data_lost: 0,
            lose: Vec::new(),
            log: Vec::new(),
        }
    }

    fn chance(&mut self, share: u64) -> bool {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 20) % 1000 < share
    }

    fn serve(&mut self, end: usize) {
        while let Some(packet) = self.ends[end].next(self.now) {
            self.log.push(packet);
            let data = matches!(packet.operation, RoceOperation::Write | RoceOperation::ReadResponse);
            let index = self.data_sent;
            self.data_sent += u64::from(data);
            self.free[end] = self.free[end].max(self.now) + US;
            if self.chance(self.loss) || (data && self.lose.contains(&index)) {
                self.data_lost += u64::from(data);
                continue;
            }
            let marked = self.chance(self.marks);
            self.ways[end].push_back((self.free[end] + 5 * US, packet, marked));
        }
    }

    /// Runs until all messages are complete or until `until`. Returns true if all are complete.
    fn run(&mut self, until: Time) -> bool {
        self.serve(0);
        self.serve(1);
        while !self.ends[0].done() || self.ways.iter().any(|way| !way.is_empty()) {
            let arrivals = [0, 1].map(|way| self.ways[way].front().map_or(Time::MAX, |first| first.0));
            let timers = [0, 1].map(|end| self.ends[end].timer(self.now).unwrap_or(Time::MAX));
            self.now = arrivals[0].min(arrivals[1]).min(timers[0]).min(timers[1]);
            if self.now > until {
                return false;
            }
            for (way, arrival) in arrivals.into_iter().enumerate() {
                if arrival == self.now {
                    let (_, packet, marked) = self.ways[way].pop_front().unwrap();
                    if let Some(placed) = self.ends[1 - way].on_packet(self.now, &packet, marked) {
                        for byte in placed.offset..placed.offset + u64::from(placed.bytes) {
                            self.placed[byte as usize] += 1;
                        }
                    }
                }
                self.ends[way].on_timer(self.now);
            }
            self.serve(0);
            self.serve(1);
        }
        true
    }
}

fn traffic(reads: bool, bytes: u64) -> Traffic {
    if reads {
        Traffic::Read { bytes }
    } else {
        Traffic::Bulk { bytes }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_byte_is_placed_once_whatever_is_lost(
        reads: bool, bytes in 0..100_000_u64, message in 1..30_000_u64, mtu in 64..4097_u32,
        in_flight in 1..20_u32, ack_packets in 1..20_u32,
        loss in 0..200_u64, marks in 0..1000_u64, control: bool, seed: u64
    ) {
        let message_bytes = message.max(bytes / 200 + 1);
        let dcqcn = control.then(dcqcn);
        let params = RoceParams { message_bytes, in_flight, mtu_bytes: mtu, ack_packets, dcqcn, ..params() };
        let mut pair = Pair::new(&params, &traffic(reads, bytes), loss, marks, seed);
        prop_assert!(pair.run(Time::from_ps(1_000_000_000 * US)), "it hangs: {:?}", pair.ends[0].counters());
        prop_assert!(pair.placed.iter().all(|&count| count == 1));
        let (sender, receiver) = (pair.ends[usize::from(reads)].counters(), pair.ends[usize::from(!reads)].counters());
        prop_assert_eq!(sender.bytes_sent, bytes);
        prop_assert_eq!(receiver.bytes_received, bytes);
        let arrived = receiver.packets_received + receiver.packets_out_of_order + receiver.packets_duplicate;
        prop_assert_eq!(sender.packets_sent + sender.packets_retransmitted, arrived + pair.data_lost);
        prop_assert_eq!(pair.ends[0].completed(), bytes.div_ceil(message_bytes));
        prop_assert_eq!(pair.ends[0].latency().unwrap().count(), pair.ends[0].completed());
        if loss == 0 {
            prop_assert_eq!(sender.packets_retransmitted + pair.ends[0].counters().timeouts, 0);
        }
    }

    #[test]
    fn no_packet_makes_it_panic(
        kind in 0..3_usize, initiator: bool,
        packets in prop::collection::vec((0..6_usize, 0..60_u64, any::<u16>(), any::<u8>(), any::<bool>()), 1..200)
    ) {
        let params = RoceParams { dcqcn: Some(dcqcn()), ..params() };
        let ranks = Traffic::Messages(RankChannelParams { job: 0, ranks: [0, 1], lane: 0 });
        let traffic = [traffic(false, 30_000), traffic(true, 30_000), ranks];
        let mut connection = RoceConnection::new(&params, &traffic[kind], initiator, PORT);
        let operations = [
            RoceOperation::Write,
            RoceOperation::ReadRequest,
            RoceOperation::ReadResponse,
            RoceOperation::Acknowledge,
            RoceOperation::OutOfOrder,
            RoceOperation::Congestion,
        ];
        let mut now = Time::from_ps(1);
        for (operation, sequence, bytes, step, marked) in packets {
            let sequence = if sequence > 50 { u64::MAX - sequence } else { sequence };
            let operation = operations[operation];
            let packet = Roce { operation, sequence, bytes: u32::from(bytes), offset: 0, last: marked };
            connection.on_packet(now, &packet, marked);
            connection.post(now, connection.room().min(u64::from(bytes) / 3));
            let mut sent = 0;
            while connection.next(now).is_some() {
                sent += 1;
                prop_assert!(sent < 1000, "it sends for ever");
            }
            now += u64::from(step) * 10 * US;
            connection.on_timer(now);
        }
    }
}

#[test]
fn a_hole_is_complained_about_once_and_everything_from_it_on_is_sent_again() {
    let mut pair = Pair::new(&params(), &traffic(false, 20_000), 0, 0, 1);
    pair.lose = vec![3];
    assert!(pair.run(Time::from_ps(10_000 * US)));
    let naks: Vec<_> = pair.log.iter().filter(|packet| packet.operation == RoceOperation::OutOfOrder).collect();
    assert_eq!(naks.iter().map(|nak| nak.sequence).collect::<Vec<_>>(), [3]);
    // All 20 packets of both messages were in flight: those from the hole on are sent again.
    assert_eq!(pair.ends[0].counters().packets_retransmitted, 17);
    assert_eq!(pair.ends[1].counters().packets_out_of_order, 16);
    assert_eq!(pair.ends[0].counters().timeouts, 0);
}

#[test]
fn a_last_packet_that_is_lost_waits_for_the_timeout() {
    let mut pair = Pair::new(&params(), &traffic(false, 10_000), 0, 0, 1);
    pair.lose = vec![9];
    assert!(pair.run(Time::from_ps(10_000 * US)));
    let counters = *pair.ends[0].counters();
    // The packets beyond the acknowledgement of eight are sent again.
    assert_eq!((counters.timeouts, counters.packets_retransmitted, counters.naks_received), (1, 2, 0));
    assert!(pair.now.ps() > 500 * US);
}

#[test]
fn every_so_many_packets_and_every_last_one_are_acknowledged() {
    let mut pair = Pair::new(&params(), &traffic(false, 10_000), 0, 0, 1);
    assert!(pair.run(Time::from_ps(10_000 * US)));
    let acks: Vec<_> = pair
        .log
        .iter()
        .filter(|packet| packet.operation == RoceOperation::Acknowledge)
        .map(|ack| ack.sequence)
        .collect();
    assert_eq!(acks, [3, 7, 9]);
}

#[test]
fn messages_in_flight_are_limited() {
    for reads in [false, true] {
        let mut connection = RoceConnection::new(&params(), &traffic(reads, 1_000_000), true, PORT);
        let sent: Vec<_> = std::iter::from_fn(|| connection.next(Time::from_ps(1))).collect();
        assert_eq!(sent.len(), if reads { 2 } else { 20 });
        assert_eq!(sent.iter().map(|packet| u64::from(packet.bytes)).sum::<u64>(), 20_000);
        assert_eq!(sent.iter().filter(|packet| packet.last).count(), 2);
        assert_eq!(connection.window_limited_ps(Time::from_ps(100)), 99);
        if !reads {
            // The first message is complete: the window admits another, so nothing is held back until it is sent.
            connection.on_packet(Time::from_ps(200), &control(RoceOperation::Acknowledge, 9), false);
            assert_eq!(connection.window_limited_ps(Time::from_ps(300)), 199);
            assert_eq!(std::iter::from_fn(|| connection.next(Time::from_ps(400))).count(), 10);
            assert_eq!(connection.window_limited_ps(Time::from_ps(450)), 249);
        }
    }
}

#[test]
fn a_lost_packet_of_a_read_is_asked_for_again_from_there() {
    let mut pair = Pair::new(&params(), &traffic(true, 10_000), 0, 0, 1);
    pair.lose = vec![4];
    assert!(pair.run(Time::from_ps(10_000 * US)));
    let asked: Vec<_> = pair
        .log
        .iter()
        .filter(|packet| packet.operation == RoceOperation::ReadRequest)
        .map(|p| (p.sequence, p.bytes))
        .collect();
    assert_eq!(asked, [(0, 10_000), (4, 10_000 - 4 * 1024)]);
    assert_eq!(pair.ends[0].counters().timeouts, 0);
}

#[test]
fn a_checkpoint_changes_nothing() {
    let params = RoceParams { dcqcn: Some(dcqcn()), ..params() };
    let mut plain = Pair::new(&params, &traffic(true, 90_000), 50, 100, 3);
    let mut stopped = Pair::new(&params, &traffic(true, 90_000), 50, 100, 3);
    plain.run(Time::from_ps(30 * US));
    stopped.run(Time::from_ps(30 * US));
    for end in &mut stopped.ends {
        *end = serde_json::from_str(&serde_json::to_string(end).unwrap()).unwrap();
    }
    assert!(plain.run(Time::from_ps(1_000_000 * US)) && stopped.run(Time::from_ps(1_000_000 * US)));
    assert_eq!(plain.log, stopped.log);
}

#[test]
fn one_notification_per_period() {
    let params = RoceParams { dcqcn: Some(dcqcn()), ..params() };
    let mut connection = RoceConnection::new(&params, &traffic(false, 1_000_000), false, PORT);
    let mut told = Vec::new();
    for (sequence, at) in [0, 10, 49, 50, 51, 99, 100, 170].into_iter().enumerate() {
        let packet =
            Roce { operation: RoceOperation::Write, sequence: sequence as u64, bytes: 1024, offset: 0, last: false };
        let now = Time::from_ps((at + 1) * US);
        connection.on_packet(now, &packet, true);
        while let Some(out) = connection.next(now) {
            if out.operation == RoceOperation::Congestion {
                told.push(at);
            }
        }
    }
    assert_eq!(told, [0, 50, 100, 170]);
}

#[test]
fn packets_are_spaced_by_the_rate() {
    let params = RoceParams { dcqcn: Some(dcqcn()), mtu_bytes: 1206, ..params() };
    let mut connection = RoceConnection::new(&params, &traffic(false, 1_000_000), true, PORT);
    let now = Time::from_ps(US);
    assert!(connection.next(now).is_some());
    assert!(connection.next(now).is_none());
    // 1206 + 44 bytes at 12.5 GB/s.
    let due = now + 100_000;
    assert_eq!(connection.timer(now), Some(due));
    assert!(connection.next(due - 1).is_none());
    assert!(connection.next(due).is_some());
}
