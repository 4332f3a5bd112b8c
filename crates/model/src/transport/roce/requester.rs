//! The requester of a connection: sends writes or read requests, with go-back-N.

use super::plan::MessagePlan;
use super::{Roce, RoceCounters, RoceOperation};
use crate::met::Limit;
use hostnet_kernel::Time;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Maximum number of packets requested by one read request. The longest message of the InfiniBand architecture has 2^31
/// bytes.
const REQUEST_PACKETS: u64 = 1 << 16;

/// The requester of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Requester {
    reads: bool,
    in_flight: u64,
    timeout_ps: u64,
    /// First packet that has not been acknowledged or, of a read, has not arrived.
    pub(crate) una: u64,
    /// Next packet to send or request, and the end of those ever sent or requested.
    next: u64,
    high: u64,
    /// True if the requester has gone back because of a hole and the missing packet has not arrived: one rewind per
    /// hole.
    rewound: bool,
    completed: u64,
    /// Post times of the messages in flight.
    posted: VecDeque<Time>,
    timeout_at: Time,
    /// Time since which as many messages as may be in flight are sent, if they are, and the sum of such times before,
    /// in ps.
    window_full_since: Option<Time>,
    window_full_ps: u64,
    pub(crate) done_at: Option<Time>,
    pub(crate) latency: Histogram,
}

impl Requester {
    pub(crate) fn new(reads: bool, in_flight: u32, timeout_ps: u64) -> Self {
        Self {
            reads,
            // At least one, so that a flow is never stuck.
            in_flight: u64::from(in_flight.max(1)),
            timeout_ps: timeout_ps.max(1),
            una: 0,
            next: 0,
            high: 0,
            rewound: false,
            completed: 0,
            posted: VecDeque::new(),
            timeout_at: Time::MAX,
            window_full_since: None,
            window_full_ps: 0,
            done_at: None,
            latency: Histogram::default(),
        }
    }

    /// Returns the end of the packets that may be sent, given the number of messages that may be in flight.
    fn limit(&self, plan: &MessagePlan) -> u64 {
        plan.packets_of(self.completed + self.in_flight)
    }

    /// Returns true if there is a packet to send now.
    pub(crate) fn ready(&self, plan: &MessagePlan) -> bool {
        self.next < self.limit(plan)
    }

    pub(crate) fn completed(&self) -> u64 {
        self.completed
    }

    /// Returns true if all messages are complete.
    pub(crate) fn done(&self, plan: &MessagePlan) -> bool {
        self.una == plan.packets()
    }

    pub(crate) fn timer(&self) -> Time {
        self.timeout_at
    }

    /// Posts as many messages as may be in flight.
    pub(crate) fn post(&mut self, now: Time, plan: &MessagePlan) {
        while (self.posted.len() as u64) < self.in_flight
            && plan.packets_of(self.completed + self.posted.len() as u64) < plan.packets()
        {
            self.posted.push_back(now);
        }
    }

    /// Returns the next packet; there must be one.
    pub(crate) fn send(&mut self, now: Time, plan: &MessagePlan, counters: &mut RoceCounters) -> Roce {
        self.post(now, plan);
        // Restarted by every packet, so it covers the silence after the last one.
        self.timeout_at = now.saturating_add(self.timeout_ps);
        let packet = if self.reads { self.request_read(plan, counters) } else { self.write(plan, counters) };
        if !self.ready(plan) {
            counters.met.set(Limit::InFlight);
        }
        self.note_window_full(now, plan);
        packet
    }

    /// Notes if as many messages as may be in flight are sent.
    fn note_window_full(&mut self, now: Time, plan: &MessagePlan) {
        let is_held = self.posted.len() as u64 == self.in_flight && !self.ready(plan);
        if is_held {
            self.window_full_since.get_or_insert(now);
        } else if let Some(since) = self.window_full_since.take() {
            self.window_full_ps += now.since(since);
        }
    }

    /// Returns the time up to `now` for which as many messages as may be in flight were sent, in ps.
    pub(crate) fn window_full_ps(&self, now: Time) -> u64 {
        self.window_full_ps + self.window_full_since.map_or(0, |since| now.since(since))
    }

    fn write(&mut self, plan: &MessagePlan, counters: &mut RoceCounters) -> Roce {
        let sequence = self.next;
        let piece = plan.piece(sequence);
        // Below the end of what was ever sent: a retransmission.
        counters.count_data(piece.bytes, sequence < self.high);
        self.next += 1;
        self.high = self.high.max(self.next);
        Roce { operation: RoceOperation::Write, sequence, bytes: piece.bytes, offset: piece.offset, last: piece.last }
    }

    fn request_read(&mut self, plan: &MessagePlan, counters: &mut RoceCounters) -> Roce {
        let sequence = self.next;
        let bytes = plan.rest(sequence, REQUEST_PACKETS);
        let offset = plan.piece(sequence).offset;
        counters.requests_sent += 1;
        self.next += plan.packets_in(bytes);
        self.high = self.high.max(self.next);
        Roce { operation: RoceOperation::ReadRequest, sequence, bytes: bytes as u32, offset, last: true }
    }

    /// Records that all packets below `una` have arrived.
    fn advance(&mut self, now: Time, plan: &MessagePlan, una: u64) {
        self.una = una;
        self.next = self.next.max(una);
        // The hole is filled, so the next one may cause a rewind.
        self.rewound = false;
        while let Some(&posted) = self.posted.front().filter(|_| plan.packets_of(self.completed + 1) <= una) {
            self.latency.record(now.since(posted));
            self.posted.pop_front();
            self.completed += 1;
        }
        self.post(now, plan);
        if self.done(plan) {
            self.done_at = Some(now);
        }
        // Progress restarts the timer; with nothing outstanding none runs.
        self.timeout_at = if una < self.high { now.saturating_add(self.timeout_ps) } else { Time::MAX };
        self.note_window_full(now, plan);
    }

    /// Handles an acknowledgement of all packets below `una`.
    pub(crate) fn on_ack(&mut self, now: Time, plan: &MessagePlan, una: u64) {
        // Reads are acknowledged by their data; an old acknowledgement moves nothing.
        if !self.reads && una > self.una && una <= self.high {
            self.advance(now, plan, una);
        }
    }

    /// Handles a NAK: the responder misses packet or request `expected`.
    pub(crate) fn on_nak(&mut self, now: Time, plan: &MessagePlan, expected: u64, counters: &mut RoceCounters) {
        counters.naks_received += 1;
        // Nothing beyond `high` was sent, so the NAK cannot be for this flow's data.
        if expected > self.high {
            return;
        }
        self.on_ack(now, plan, expected);
        // A responder of reads may have lost track of later requests, so it is asked again for everything it misses.
        if self.reads || expected >= self.una {
            self.rewind(expected, counters);
        }
    }

    fn rewind(&mut self, to: u64, counters: &mut RoceCounters) {
        // The requester may have gone back already.
        if to < self.next {
            self.next = to;
            counters.rewinds += 1;
        }
    }

    /// Handles data of a read. Returns true if it is the packet expected.
    pub(crate) fn on_data(
        &mut self,
        now: Time,
        plan: &MessagePlan,
        packet: &Roce,
        counters: &mut RoceCounters,
    ) -> bool {
        if !self.reads {
            return false;
        }
        if packet.sequence == self.una && self.una < self.high {
            counters.packets_received += 1;
            counters.bytes_received += u64::from(packet.bytes);
            self.advance(now, plan, self.una + 1);
            return true;
        }
        if packet.sequence < self.una {
            counters.packets_duplicate += 1;
            return false;
        }
        counters.packets_out_of_order += 1;
        // One rewind per hole, however many packets arrive behind it.
        if !self.rewound {
            self.rewound = true;
            self.rewind(self.una, counters);
        }
        false
    }

    pub(crate) fn on_timer(&mut self, now: Time, counters: &mut RoceCounters) {
        if now >= self.timeout_at {
            self.timeout_at = Time::MAX;
            // The data after the rewind was lost, too, so a hole may cause another one.
            self.rewound = false;
            counters.timeouts += 1;
            self.rewind(self.una, counters);
        }
    }
}
