//! Packets whose data is being read from memory.
//!
//! With hints (IOctoSG), each fragment of a packet is read by the function of the node where the fragment lies.
//! Packets with data leave in the order in which their function cut them.

use crate::line::PacketId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Packet that a read request belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PacketOwner {
    /// Function that cut the packet.
    pub(super) function: usize,
    /// Number of the packet among those that the function cut.
    number: u64,
}

/// Fragment of a packet: consecutive lines on one node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Fragment {
    /// Packet that the fragment belongs to.
    pub(super) owner: PacketOwner,
    /// Next line of virtual memory to request.
    pub(super) line: u64,
    /// Lines that are not yet requested.
    pub(super) lines: u32,
    pub(super) class: u8,
}

/// Packet whose data is being read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingPacket {
    id: PacketId,
    /// Fragment reads of the packet that are still outstanding.
    reads: u32,
    /// True once all reads of the packet are known.
    whole: bool,
}

/// Packets that a function has cut and that have not reached the port, oldest first.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct GatherQueue {
    /// Number of the oldest packet.
    first: u64,
    packets: VecDeque<PendingPacket>,
}

impl GatherQueue {
    /// Appends a packet that `function`, the owner of this list, has just cut.
    pub(super) fn begin(&mut self, id: PacketId, function: usize) -> PacketOwner {
        let number = self.first + self.packets.len() as u64;
        self.packets.push_back(PendingPacket { id, reads: 0, whole: false });
        PacketOwner { function, number }
    }

    /// Adds an outstanding read to the last packet.
    pub(super) fn ask(&mut self) {
        self.packets.back_mut().expect("a packet was begun").reads += 1;
    }

    /// Marks the last packet as complete: no further reads follow.
    pub(super) fn end(&mut self) {
        self.packets.back_mut().expect("a packet was begun").whole = true;
    }

    /// Removes an outstanding read from a packet.
    pub(super) fn done(&mut self, PacketOwner { number, .. }: PacketOwner) {
        // Packets are numbered in a row, so the distance from the oldest is the index.
        self.packets[(number - self.first) as usize].reads -= 1;
    }

    /// Removes and returns the oldest packet if all of its data has arrived.
    pub(super) fn next(&mut self) -> Option<PacketId> {
        // A packet without outstanding reads may still have some that no credit allowed yet.
        let PendingPacket { id, .. } = *self.packets.front().filter(|packet| packet.whole && packet.reads == 0)?;
        self.packets.pop_front();
        self.first += 1;
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_waits_for_all_its_fragments_and_for_those_before_it() {
        let mut gather = GatherQueue::default();
        let [first, second] = [3, 4].map(|id| {
            let owner = gather.begin(PacketId(id), 1);
            gather.ask();
            gather.ask();
            gather.end();
            owner
        });
        for (done, next) in [(second, None), (second, None), (first, None), (first, Some(PacketId(3)))] {
            gather.done(done);
            assert_eq!(gather.next(), next);
        }
        assert_eq!(gather.next(), Some(PacketId(4)));
        assert_eq!(gather.next(), None);
    }

    #[test]
    fn a_packet_of_which_more_comes_does_not_go() {
        let mut gather = GatherQueue::default();
        let owner = gather.begin(PacketId(3), 0);
        gather.ask();
        gather.done(owner);
        assert_eq!(gather.next(), None);
        gather.end();
        assert_eq!(gather.next(), Some(PacketId(3)));
    }
}
