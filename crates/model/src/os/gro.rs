//! Generic receive offload: joins packets of a flow before TCP processes them.

use crate::met::{Limit, ReachedLimits};
use crate::transport::tcp::Segment;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packets that TCP processes as one segment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct JoinedSegment {
    /// Number of the connection at the core.
    pub(super) socket: u32,
    /// Joined segment; its mark is that of all its packets.
    pub(super) segment: Segment,
    /// Number of packets.
    pub(super) packets: u32,
}

impl JoinedSegment {
    /// Returns true if the packet that follows may be joined, up to `most` bytes of data.
    fn takes(&self, next: &Segment, most: u32, met: &mut ReachedLimits) -> bool {
        let held = &self.segment;
        // Packets with a different mark or echo, or with CWR, are not joined.
        let alike = held.marked == next.marked && held.echo == next.echo && !next.reduced;
        let follows = alike && held.sequence + u64::from(held.bytes) == next.sequence;
        // At the limit GRO would have joined more.
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

/// Packets of one poll that may still be joined, and packets that may not any more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Gro {
    /// Maximum data of joined packets, in bytes; 0 to join none.
    most: u32,
    held: Vec<JoinedSegment>,
    ready: VecDeque<JoinedSegment>,
}

impl Gro {
    pub(super) fn new(most: u32) -> Self {
        Self { most, held: Vec::new(), ready: VecDeque::new() }
    }

    /// Adds a packet of a connection: joins it to the previous one, holds it for the next, or makes it ready.
    pub(super) fn add(&mut self, socket: u32, segment: Segment, met: &mut ReachedLimits) {
        let held = self.held.iter().position(|joined| joined.socket == socket);
        if let Some(index) = held {
            let joined = &mut self.held[index];
            // A packet without data ends the segment: TCP needs each acknowledgement (docs/models/os.md).
            if segment.bytes > 0 && joined.takes(&segment, self.most, met) {
                joined.add(&segment);
                // Nothing fits any more, so waiting for the end of the poll would only delay it.
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
        let joined = JoinedSegment { socket, segment, packets: 1 };
        // Only packets that others can join are held.
        if segment.bytes > 0 && segment.bytes < self.most {
            self.held.push(joined);
        } else {
            self.ready.push_back(joined);
        }
    }

    /// Returns true if packets of a connection are here.
    pub(super) fn has(&self, socket: u32) -> bool {
        self.held.iter().chain(&self.ready).any(|joined| joined.socket == socket)
    }

    /// Takes the next segment for TCP.
    pub(super) fn next(&mut self) -> Option<JoinedSegment> {
        self.ready.pop_front()
    }

    /// Makes all held packets ready: nothing more is joined to them.
    pub(super) fn flush(&mut self) {
        self.ready.extend(self.held.drain(..));
    }
}
