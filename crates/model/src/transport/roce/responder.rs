//! The responder of a connection: accepts writes in order, and sends the data of reads.

use super::plan::MessagePlan;
use super::{Roce, RoceCounters, RoceOperation};
use serde::{Deserialize, Serialize};

/// The responder of a connection.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Responder {
    reads: bool,
    ack_packets: u32,
    /// Next packet of a write, or next request of a read, that is expected.
    expected: u64,
    /// Next packet of a read to send, and the end of those ever sent.
    next: u64,
    high: u64,
    unacknowledged: u32,
    ack: bool,
    nak: bool,
    /// True if a NAK was sent and the packet that it requests has not arrived: one NAK per hole.
    nak_sent: bool,
    /// PSN of the last read request that a NAK answered. A request that is not beyond it is a repetition, and gets
    /// another NAK.
    nak_sent_to: u64,
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
            nak_sent: false,
            nak_sent_to: 0,
        }
    }

    /// Handles data of a write. Returns true if it is the packet expected.
    pub(crate) fn on_write(&mut self, packet: &Roce, counters: &mut RoceCounters) -> bool {
        if self.reads {
            return false;
        }
        if packet.sequence > self.expected {
            counters.packets_out_of_order += 1;
            self.request_nak();
            return false;
        }
        if packet.sequence < self.expected {
            // The acknowledgement was lost, so it is sent again at once.
            counters.packets_duplicate += 1;
            self.ack = true;
            return false;
        }
        counters.packets_received += 1;
        counters.bytes_received += u64::from(packet.bytes);
        self.expected += 1;
        self.nak_sent = false;
        // The packet has arrived before the NAK could be sent.
        self.nak = false;
        self.unacknowledged += 1;
        // The last packet of a message completes it, so the requester must know.
        self.ack |= packet.last || self.unacknowledged >= self.ack_packets;
        true
    }

    /// Handles a read request. If the request was served before, its data is sent again from there.
    pub(crate) fn on_request(&mut self, plan: &MessagePlan, packet: &Roce) {
        if !self.reads {
            return;
        }
        if packet.sequence > self.expected {
            // A request not beyond the last one is a repetition: the NAK was lost.
            self.nak_sent &= packet.sequence > self.nak_sent_to;
            self.nak_sent_to = packet.sequence;
            self.request_nak();
            return;
        }
        self.nak_sent = false;
        self.nak = false;
        if packet.sequence < self.expected {
            if packet.sequence > self.next {
                // The data has not been sent yet, so the repetition is not needed.
                return;
            }
            self.next = packet.sequence;
        }
        let end = packet.sequence.saturating_add(plan.packets_in(u64::from(packet.bytes)));
        self.expected = end.min(plan.packets());
    }

    fn request_nak(&mut self) {
        self.nak |= !self.nak_sent;
        self.nak_sent = true;
    }

    /// Returns true if there is data of a read to send.
    pub(crate) fn ready(&self) -> bool {
        self.reads && self.next < self.expected
    }

    /// Returns the next packet of a read; there must be one.
    pub(crate) fn send(&mut self, plan: &MessagePlan, counters: &mut RoceCounters) -> Roce {
        let sequence = self.next;
        let piece = plan.piece(sequence);
        counters.count_data(piece.bytes, sequence < self.high);
        self.next += 1;
        self.high = self.high.max(self.next);
        Roce {
            operation: RoceOperation::ReadResponse,
            sequence,
            bytes: piece.bytes,
            offset: piece.offset,
            last: piece.last,
        }
    }

    /// Returns the acknowledgement that is due, if any.
    pub(crate) fn acknowledge(&mut self, counters: &mut RoceCounters) -> Option<Roce> {
        // A NAK also acknowledges all packets before `expected`.
        if self.nak {
            self.nak = false;
            self.ack = false;
            self.unacknowledged = 0;
            counters.naks_sent += 1;
            return Some(control(RoceOperation::OutOfOrder, self.expected));
        }
        if !self.ack {
            return None;
        }
        self.ack = false;
        self.unacknowledged = 0;
        counters.acks_sent += 1;
        Some(control(RoceOperation::Acknowledge, self.expected - 1))
    }
}

/// Creates a packet without payload.
pub(crate) fn control(operation: RoceOperation, sequence: u64) -> Roce {
    Roce { operation, sequence, bytes: 0, offset: 0, last: true }
}
