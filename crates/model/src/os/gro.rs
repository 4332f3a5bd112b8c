//! Joining packets of a flow before TCP sees them (generic receive offload).

use crate::met::{Limit, ReachedLimits};
use crate::transport::tcp::Segment;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packets that TCP will see as one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Joined {
    /// The core's own number of the connection.
    pub(super) socket: u32,
    /// The segment; its mark is that of all its packets.
    pub(super) segment: Segment,
    /// How many packets.
    pub(super) packets: u32,
}

impl Joined {
    /// Whether a packet that follows may be joined.
    fn takes(&self, next: &Segment, most: u32, met: &mut ReachedLimits) -> bool {
        let held = &self.segment;
        let alike = held.marked == next.marked && held.echo == next.echo && !next.reduced;
        let follows = alike && held.sequence + u64::from(held.bytes) == next.sequence;
        if follows && held.bytes + next.bytes >= most {
            met.set(Limit::JoinedBytes);
        }
        follows && held.bytes + next.bytes <= most
    }

    fn add(&mut self, next: &Segment) {
        let Segment { sequence, bytes, sent, sent_echo, reduced, retransmitted, .. } = self.segment;
        let sent_echo = next.sent_echo.max(sent_echo);
        let retransmitted = retransmitted || next.retransmitted;
        self.segment =
            Segment { sequence, bytes: bytes + next.bytes, sent, sent_echo, reduced, retransmitted, ..*next };
        self.packets += 1;
    }
}

/// The packets of one poll that may still be joined, and those that may not any more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Gro {
    /// Bytes of data that packets are joined up to; 0 = not at all.
    most: u32,
    held: Vec<Joined>,
    ready: VecDeque<Joined>,
}

impl Gro {
    pub(super) fn new(most: u32) -> Self {
        Self { most, held: Vec::new(), ready: VecDeque::new() }
    }

    /// A packet of a connection: it is joined to the one before it, or kept for the next, or ready.
    pub(super) fn add(&mut self, socket: u32, segment: Segment, met: &mut ReachedLimits) {
        let held = self.held.iter().position(|joined| joined.socket == socket);
        if let Some(index) = held {
            let joined = &mut self.held[index];
            if segment.bytes > 0 && joined.takes(&segment, self.most, met) {
                joined.add(&segment);
                if joined.segment.bytes == self.most {
                    self.ready.push_back(self.held.remove(index));
                }
                return;
            }
            self.ready.push_back(self.held.remove(index));
        }
        if segment.bytes >= self.most {
            met.set(Limit::JoinedBytes);
        }
        let joined = Joined { socket, segment, packets: 1 };
        if segment.bytes > 0 && segment.bytes < self.most {
            self.held.push(joined);
        } else {
            self.ready.push_back(joined);
        }
    }

    /// Whether it has packets of a connection.
    pub(super) fn has(&self, socket: u32) -> bool {
        self.held.iter().chain(&self.ready).any(|joined| joined.socket == socket)
    }

    /// What TCP is to see next.
    pub(super) fn next(&mut self) -> Option<Joined> {
        self.ready.pop_front()
    }

    /// Nothing more is joined to what is kept.
    pub(super) fn flush(&mut self) {
        self.ready.extend(self.held.drain(..));
    }
}
