//! Packets whose data is being read. With hints (IOctoSG) the fragments of a packet are read by the functions of the
//! nodes that they lie on; packets with data leave in the order in which their function has cut them.

use crate::line::PacketId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The packet that a read is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Owner {
    /// The function that has cut it.
    pub(super) function: usize,
    /// Its number among those that this has cut.
    number: u64,
}

/// A part of a packet that lies on one node.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Fragment {
    /// The packet.
    pub(super) owner: Owner,
    /// Its lines of virtual memory: the first that is not yet asked for, and how many are left.
    pub(super) line: u64,
    pub(super) lines: u32,
    pub(super) class: u8,
}

/// A packet that is being read.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Reading {
    id: PacketId,
    /// Reads of it that are not done, and whether there may be more.
    reads: u32,
    whole: bool,
}

/// The packets that a function has cut and that have not gone to the port.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Gather {
    /// The number of the first.
    first: u64,
    packets: VecDeque<Reading>,
}

impl Gather {
    /// A packet is cut by `function`, whose packets these are.
    pub(super) fn begin(&mut self, id: PacketId, function: usize) -> Owner {
        let number = self.first + self.packets.len() as u64;
        self.packets.push_back(Reading { id, reads: 0, whole: false });
        Owner { function, number }
    }

    /// Something of the last packet is to be read.
    pub(super) fn ask(&mut self) {
        self.packets.back_mut().expect("a packet was begun").reads += 1;
    }

    /// There is no more of the last packet.
    pub(super) fn end(&mut self) {
        self.packets.back_mut().expect("a packet was begun").whole = true;
    }

    /// A read of a packet is done.
    pub(super) fn done(&mut self, Owner { number, .. }: Owner) {
        self.packets[(number - self.first) as usize].reads -= 1;
    }

    /// The next packet that goes to the port, if all of it is there.
    pub(super) fn next(&mut self) -> Option<PacketId> {
        let Reading { id, .. } = *self.packets.front().filter(|packet| packet.whole && packet.reads == 0)?;
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
        let mut gather = Gather::default();
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
        let mut gather = Gather::default();
        let owner = gather.begin(PacketId(3), 0);
        gather.ask();
        gather.done(owner);
        assert_eq!(gather.next(), None);
        gather.end();
        assert_eq!(gather.next(), Some(PacketId(3)));
    }
}
