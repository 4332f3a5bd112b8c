//! Who answers: takes writes in order, and sends the data of reads.

use super::plan::Plan;
use super::{Operation, Roce, RoceCounters};
use serde::{Deserialize, Serialize};

/// The answering half.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Responder {
    reads: bool,
    ack_packets: u32,
    /// Next packet of a write, or next request of a read, that is expected.
    expected: u64,
    /// Next packet of a read to send, and the highest it ever was.
    next: u64,
    high: u64,
    unacknowledged: u32,
    ack: bool,
    nak: bool,
    /// A negative acknowledgement was sent and what it asks for has not come: one per hole.
    complained: bool,
    /// The furthest request that was complained about: one that is not beyond it is a repetition.
    complained_to: u64,
}

impl Responder {
    pub(crate) fn new(reads: bool, ack_packets: u32) -> Self {
        let ack_packets = ack_packets.max(1);
        Self {
            reads,
            ack_packets,
            expected: 0,
            next: 0,
            high: 0,
            unacknowledged: 0,
            ack: false,
            nak: false,
            complained: false,
            complained_to: 0,
        }
    }

    /// Data of a write; whether it is what was expected.
    pub(crate) fn on_write(&mut self, packet: &Roce, counters: &mut RoceCounters) -> bool {
        if self.reads {
            return false;
        }
        if packet.sequence > self.expected {
            counters.packets_out_of_order += 1;
            self.complain();
            return false;
        }
        if packet.sequence < self.expected {
            counters.packets_duplicate += 1;
            self.ack = true;
            return false;
        }
        counters.packets_received += 1;
        counters.bytes_received += u64::from(packet.bytes);
        self.expected += 1;
        self.complained = false;
        self.nak = false;
        self.unacknowledged += 1;
        self.ack |= packet.last || self.unacknowledged >= self.ack_packets;
        true
    }

    /// A request for a read. One that was served before is served again from there.
    pub(crate) fn on_request(&mut self, plan: &Plan, packet: &Roce) {
        if !self.reads {
            return;
        }
        if packet.sequence > self.expected {
            self.complained &= packet.sequence > self.complained_to;
            self.complained_to = packet.sequence;
            self.complain();
            return;
        }
        if packet.sequence < self.expected {
            self.next = packet.sequence;
        }
        self.complained = false;
        self.nak = false;
        let end = packet.sequence.saturating_add(plan.packets_in(u64::from(packet.bytes)));
        self.expected = end.min(plan.packets());
    }

    fn complain(&mut self) {
        self.nak |= !self.complained;
        self.complained = true;
    }

    /// Whether there is data of a read to send.
    pub(crate) fn ready(&self) -> bool {
        self.reads && self.next < self.expected
    }

    /// The next packet of a read; there must be one.
    pub(crate) fn send(&mut self, plan: &Plan, counters: &mut RoceCounters) -> Roce {
        let sequence = self.next;
        let piece = plan.piece(sequence);
        counters.count_data(piece.bytes, sequence < self.high);
        self.next += 1;
        self.high = self.high.max(self.next);
        Roce {
            operation: Operation::ReadResponse,
            sequence,
            bytes: piece.bytes,
            offset: piece.offset,
            last: piece.last,
        }
    }

    /// The acknowledgement that is due.
    pub(crate) fn acknowledge(&mut self, counters: &mut RoceCounters) -> Option<Roce> {
        if self.nak {
            self.nak = false;
            self.ack = false;
            self.unacknowledged = 0;
            counters.naks_sent += 1;
            return Some(control(Operation::OutOfOrder, self.expected));
        }
        if !self.ack {
            return None;
        }
        self.ack = false;
        self.unacknowledged = 0;
        counters.acks_sent += 1;
        Some(control(Operation::Acknowledge, self.expected - 1))
    }
}

/// A packet without data.
pub(crate) fn control(operation: Operation, sequence: u64) -> Roce {
    Roce { operation, sequence, bytes: 0, offset: 0, last: true }
}
