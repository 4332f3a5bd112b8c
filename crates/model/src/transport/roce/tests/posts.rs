//! Tests with both ends posting messages at the same time, as ranks do.

use super::super::{Roce, RoceConnection, RoceOperation};
use super::laws::{dcqcn, params, PORT, US};
use crate::params::{RankChannelParams, RoceParams, Traffic};
use hostnet_kernel::Time;
use proptest::prelude::*;
use std::collections::VecDeque;

/// Packets after which none is lost.
const LOSSY: usize = 2000;
const TRAFFIC: Traffic = Traffic::Messages(RankChannelParams { job: 0, ranks: [0, 1], lane: 0 });

fn ends(params: &RoceParams) -> [RoceConnection; 2] {
    [true, false].map(|initiator| RoceConnection::new(params, &TRAFFIC, initiator, PORT))
}

/// Two ends with bytes still to post, and paths with a delay of 5 us that lose and mark packets by a list; records the
/// data placed.
struct Pair {
    now: Time,
    ends: [RoceConnection; 2],
    left: [u64; 2],
    ways: [VecDeque<(Time, Roce, bool)>; 2],
    fates: Vec<u8>,
    sent: usize,
    placed: [u64; 2],
    lost: u64,
}

impl Pair {
    fn serve(&mut self, end: usize) {
        let own = &mut self.ends[end];
        let bytes = own.room().min(self.left[end]);
        own.post(self.now, bytes);
        self.left[end] -= bytes;
        while let Some(packet) = own.next(self.now) {
            // Losses in a fixed cycle could hit the same packet of every round, so they end.
            let fate = *self.fates.get(self.sent % self.fates.len()).filter(|_| self.sent < LOSSY).unwrap_or(&255);
            self.sent += 1;
            if fate < 16 {
                self.lost += u64::from(packet.operation == RoceOperation::Write);
            } else {
                self.ways[end].push_back((self.now + 5 * US, packet, fate < 64));
            }
        }
    }

    fn is_done(&self) -> bool {
        self.left == [0, 0] && self.ends.iter().all(RoceConnection::done)
    }

    fn run(&mut self) {
        for _ in 0..200_000 {
            self.serve(0);
            self.serve(1);
            let arrivals = [0, 1].map(|way| self.ways[way].front().map_or(Time::MAX, |first| first.0));
            if self.is_done() && arrivals == [Time::MAX; 2] {
                return;
            }
            let timers = [0, 1].map(|end| self.ends[end].timer(self.now).unwrap_or(Time::MAX));
            self.now = arrivals.into_iter().chain(timers).min().unwrap_or(Time::MAX);
            for (way, arrival) in arrivals.into_iter().enumerate() {
                if arrival == self.now {
                    let (_, packet, marked) = self.ways[way].pop_front().unwrap();
                    if let Some(placed) = self.ends[1 - way].on_packet(self.now, &packet, marked) {
                        assert_eq!(placed.offset, self.placed[way], "in order");
                        self.placed[way] += u64::from(placed.bytes);
                    }
                }
                self.ends[way].on_timer(self.now);
            }
        }
        panic!("it hangs: {:?} {:?}", self.ends[0].counters(), self.ends[1].counters());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_that_both_ends_post_comes_in_order_whatever_is_lost(
        left in prop::array::uniform2(0..120_000_u64), message in 900..30_000_u64, mtu in 64..4097_u32,
        in_flight in 1..20_u32, ack_packets in 1..20_u32, control: bool,
        fates in prop::collection::vec(any::<u8>(), 101..130)
    ) {
        let dcqcn = control.then(dcqcn);
        let params = RoceParams { message_bytes: message, in_flight, mtu_bytes: mtu, ack_packets, dcqcn, ..params() };
        let mut pair = Pair {
            now: Time::from_ps(1),
            ends: ends(&params),
            left,
            ways: [VecDeque::new(), VecDeque::new()],
            fates,
            sent: 0,
            placed: [0; 2],
            lost: 0,
        };
        pair.run();
        prop_assert_eq!(pair.placed, left);
        let (mut sent, mut arrived) = (0, 0);
        for (end, bytes) in pair.ends.iter().zip(left) {
            let counts = end.counters();
            prop_assert_eq!(counts.bytes_sent, bytes);
            sent += counts.packets_sent + counts.packets_retransmitted;
            arrived += counts.packets_received + counts.packets_out_of_order + counts.packets_duplicate;
            prop_assert_eq!(end.latency().unwrap().count(), end.completed());
            prop_assert_eq!(end.room(), u64::from(in_flight) * message);
            prop_assert_eq!(end.completed_at(), None);
        }
        prop_assert_eq!(sent, arrived + pair.lost);
    }
}

#[test]
fn what_has_no_room_is_posted_when_a_message_is_complete() {
    let params = RoceParams { message_bytes: 2048, in_flight: 2, mtu_bytes: 1024, ack_packets: 2, ..params() };
    let [mut here, mut there] = ends(&params);
    let now = Time::from_ps(1);
    assert_eq!(here.room(), 4096);
    here.post(now, 3000);
    assert_eq!((here.room(), here.next(now).map(|packet| packet.bytes)), (0, Some(1024)));
    let rest: Vec<Roce> = std::iter::from_fn(|| here.next(now)).collect();
    assert_eq!(rest.iter().map(|packet| (packet.bytes, packet.last)).collect::<Vec<_>>(), [(1024, true), (952, true)]);
    there.on_packet(now, &Roce { sequence: 0, last: false, ..rest[0] }, false);
    assert!(there.next(now).is_none());
    there.on_packet(now, &rest[0], false);
    let answer = there.next(now).expect("the end of a message is acknowledged");
    here.on_packet(now, &answer, false);
    assert_eq!((here.room(), here.completed(), here.done()), (2048, 1, false));
}
