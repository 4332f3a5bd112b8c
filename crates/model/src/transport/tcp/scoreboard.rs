//! Bytes in flight that are known to have arrived or are considered lost (RFC 6675).
//!
//! Lost bytes leave the flight. When they are sent again, they are in flight like new ones. No cost is proportional to
//! the window: intervals are merged, and the lower end of the bytes that may be found lost only rises.

use super::intervals::Intervals;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Segments that must have arrived beyond a hole before it is considered lost (RFC 6675 section 2, DupThresh).
pub(crate) const DUPLICATES: u64 = 3;

/// A retransmitted packet that is not known to have arrived.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Retransmission {
    start: u64,
    end: u64,
    /// End of the stream sent at that time. If later bytes arrive, they have overtaken the packet.
    after: u64,
}

/// Scoreboard of a sender.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Scoreboard {
    sacked: Intervals,
    lost: Intervals,
    retransmissions: VecDeque<Retransmission>,
    /// End of the bytes that were ever sent again.
    again_to: u64,
    /// All holes below have been considered lost.
    lost_to: u64,
}

impl Scoreboard {
    /// Returns the bytes that have arrived beyond the cumulative acknowledgement.
    pub(crate) fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// Returns the bytes that are lost and have not been sent again.
    pub(crate) fn lost_bytes(&self) -> u64 {
        self.lost.bytes()
    }

    /// Returns the first interval of lost bytes.
    pub(crate) fn first_lost(&self) -> Option<(u64, u64)> {
        self.lost.first().map(|block| (block.start, block.end))
    }

    /// Returns the end of the highest hole, if it is not considered lost yet.
    pub(crate) fn doubtful_to(&self) -> Option<u64> {
        self.sacked.last().map(|top| top.start).filter(|&start| start > self.lost_to)
    }

    /// Records that all bytes below `una` have arrived.
    pub(crate) fn advance(&mut self, una: u64) {
        if !self.sacked.is_empty() {
            self.sacked.remove_below(una);
        }
        if !self.lost.is_empty() {
            self.lost.remove_below(una);
        }
        while self.retransmissions.front().is_some_and(|packet| packet.end <= una) {
            self.retransmissions.pop_front();
        }
    }

    /// Records that the bytes from `start` to `end` have arrived. Returns how many of them were not known to have.
    pub(crate) fn arrive(&mut self, start: u64, end: u64) -> u64 {
        let added = self.sacked.insert(start, end);
        if added > 0 {
            self.lost.remove(start, end);
            // Speed only: most data is never sent again.
            if start < self.again_to {
                self.overtake(start, end);
            }
        }
        added
    }

    /// Considers packets lost again that were sent again before one that has arrived (RFC 8985 section 6.2, without
    /// reordering).
    fn overtake(&mut self, start: u64, end: u64) {
        let Some(index) = self.retransmissions.iter().position(|packet| packet.start < end && packet.end > start)
        else {
            return;
        };
        // Packets are listed in the order in which they were sent again, so those before are overtaken.
        for _ in 0..index {
            self.lose_first_again();
        }
        if self.retransmissions.front().is_some_and(|packet| self.sacked.contains(packet.start, packet.end)) {
            self.retransmissions.pop_front();
        }
    }

    fn lose_first_again(&mut self) {
        if let Some(packet) = self.retransmissions.pop_front() {
            let lost = &mut self.lost;
            self.sacked.gaps(packet.start, packet.end, |from, to| {
                lost.insert(from, to);
            });
        }
    }

    /// Finds lost bytes after an acknowledgement: holes with enough bytes or intervals beyond them, and
    /// retransmissions that were overtaken.
    pub(crate) fn detect(&mut self, una: u64, mss: u64) {
        let Some(top) = self.sacked.last() else { return };
        if let Some(limit) = self.certain_to(mss) {
            self.lose_below(una, limit);
        }
        // Data sent after the retransmission has arrived before it.
        while self.retransmissions.front().is_some_and(|packet| packet.after < top.end) {
            self.lose_first_again();
        }
        self.lost.remove_below(una);
    }

    /// Returns the end of the highest hole with enough beyond it (RFC 6675 section 4, IsLost).
    fn certain_to(&self, mss: u64) -> Option<u64> {
        let (mut bytes, mut count) = (0, 0);
        // From the top: the first block with enough above and in it is the highest certain one.
        for block in self.sacked.descending() {
            bytes += block.end - block.start;
            count += 1;
            // More than two segments or three intervals beyond the hole (RFC 6675 section 4, IsLost).
            if bytes > (DUPLICATES - 1) * mss || count >= DUPLICATES {
                return Some(block.start);
            }
        }
        None
    }

    /// Considers all holes from `una` to `limit` lost that have not been before.
    pub(crate) fn lose_below(&mut self, una: u64, limit: u64) {
        // Holes below were found lost before; some have been sent again since.
        let from = self.lost_to.max(una);
        if limit > from {
            let lost = &mut self.lost;
            self.sacked.gaps(from, limit, |start, end| {
                lost.insert(start, end);
            });
            self.lost_to = limit;
        }
    }

    /// Considers the bytes from `start` to `end` lost, even if they were sent again.
    pub(crate) fn lose(&mut self, start: u64, end: u64) {
        self.lost.insert(start, end);
        self.lost_to = self.lost_to.max(end);
    }

    /// Considers all bytes in flight lost that are not known to have arrived.
    pub(crate) fn lose_all(&mut self, una: u64, next: u64) {
        self.retransmissions.clear();
        self.lost.clear();
        // After a timeout what was sent again counts as lost, too.
        self.lost_to = una;
        self.lose_below(una, next);
    }

    /// Records that the lost bytes from `start` to `end` are sent again in packets of `mss` bytes. `next` is the first
    /// byte never sent.
    pub(crate) fn send_again(&mut self, start: u64, end: u64, mss: u64, next: u64) {
        self.lost.remove_below(end);
        self.again_to = self.again_to.max(end);
        let mut at = start;
        while at < end {
            // Packet by packet: each may be lost again by itself.
            let to = (at + mss).min(end);
            self.retransmissions.push_back(Retransmission { start: at, end: to, after: next });
            at = to;
        }
    }
}
