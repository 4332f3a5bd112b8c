//! Driver state of the two rings between this machine and one at the other side of a buffer device.

use super::counters::McnCounts;
use super::ring::Ring;
use crate::line::{PacketId, Packets};
use crate::params::ring_lines;
use crate::params::McnInterface;
use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Message that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OutgoingMessage {
    pub(super) id: PacketId,
    /// Core that writes the message.
    pub(super) writer: ComponentId,
    /// First line in the ring.
    pub(super) at: u32,
    /// Lines of the message.
    pub(super) lines: u32,
    /// Lines that the buffer device does not have yet.
    pub(super) left: u32,
}

/// Pair of rings to and from one machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RingPair {
    pub(super) interface: McnInterface,
    /// Component at the other side.
    pub(super) peer: ComponentId,
    pub(super) out: Ring,
    into: Ring,
    /// Packets that wait for the ring, each with the core that handed it over, and true if it comes from another
    /// DIMM.
    queue: VecDeque<(PacketId, ComponentId, bool)>,
    /// Number of packets in `queue` that come from another DIMM.
    relayed: u32,
    pub(super) writing: Option<OutgoingMessage>,
    /// Lines in flight of messages whose pointer overtook them.
    late: u32,
    /// Messages that have arrived, oldest first.
    come: VecDeque<PacketId>,
    /// Number of arrived messages that the driver saw at its last look at the poll words.
    seen: u32,
    /// Lines that have been read and not yet reported to the other side.
    pub(super) consumed: u32,
    /// Lines of the report in flight, if any.
    pub(super) reporting: Option<u32>,
    pub(super) counts: McnCounts,
}

impl RingPair {
    pub(super) fn new(interface: McnInterface, peer: ComponentId, [out, into]: [u32; 2]) -> Self {
        Self {
            interface,
            peer,
            out: Ring::new(out),
            into: Ring::new(into),
            queue: VecDeque::new(),
            relayed: 0,
            writing: None,
            late: 0,
            come: VecDeque::new(),
            seen: 0,
            consumed: 0,
            reporting: None,
            counts: McnCounts::default(),
        }
    }

    /// Queues a packet for sending. Returns false if the queue is full and the packet must be dropped. For a packet
    /// from another DIMM, the caller has checked that there is room.
    pub(super) fn offer(
        &mut self,
        id: PacketId,
        writer: ComponentId,
        most: u32,
        relayed: bool,
        packets: &Packets,
    ) -> bool {
        self.counts.offered += 1;
        // Packets of DIMMs are held back in their own ring instead (docs/models/mcn.md, Rings).
        if !relayed && self.queue.len() as u32 - self.relayed >= most {
            self.counts.dropped += 1;
            return false;
        }
        self.queue.push_back((id, writer, relayed));
        self.relayed += u32::from(relayed);
        let alone = self.writing.is_none() && self.queue.len() == 1;
        self.counts.busy += u64::from(alone && ring_lines(packets.get(id).ip_bytes) > self.out.free());
        true
    }

    /// Begins to write the next message if the ring has room. The message reserves its lines of the ring.
    pub(super) fn begin(&mut self, packets: &Packets) -> Option<OutgoingMessage> {
        if self.writing.is_some() {
            return None;
        }
        let &(id, writer, relayed) = self.queue.front()?;
        let lines = ring_lines(packets.get(id).ip_bytes);
        // All of the message or none: a reader sees whole messages only.
        let at = self.out.push(lines)?;
        self.queue.pop_front();
        self.relayed -= u32::from(relayed);
        self.writing = Some(OutgoingMessage { id, writer, at, lines, left: lines });
        self.writing
    }

    /// Counts a line that the buffer device has received. Returns true if it was the last line of the current
    /// message.
    pub(super) fn wrote(&mut self) -> bool {
        // Without a fence, lines of a message may arrive after its pointer. These lines count first.
        if self.late > 0 {
            self.late -= 1;
            return false;
        }
        let Some(writing) = &mut self.writing else { return false };
        writing.left -= 1;
        writing.left == 0
    }

    /// Ends the current message: its pointer has reached the device, so the other machine can see the message.
    pub(super) fn end(&mut self, packets: &Packets) -> Option<OutgoingMessage> {
        let writing = self.writing.take()?;
        self.counts.early += u64::from(writing.left > 0);
        self.late += writing.left;
        self.counts.sent += 1;
        self.counts.sent_bytes += u64::from(packets.get(writing.id).ip_bytes);
        Some(writing)
    }

    /// Records an arrived message.
    ///
    /// # Panics
    /// Panics if the ring has no room for the message.
    pub(super) fn arrive(&mut self, id: PacketId, packets: &Packets) {
        let at = self.into.push(ring_lines(packets.get(id).ip_bytes));
        assert!(at.is_some(), "who writes a ring knows what is free");
        self.counts.arrived += 1;
        self.come.push_back(id);
    }

    /// Records that the driver looks at the poll word and the pointer. Messages that have arrived by now may be read.
    pub(super) fn look(&mut self) {
        self.seen = self.come.len() as u32;
    }

    /// Returns the oldest message that the driver has seen and not read.
    pub(super) fn next_seen(&self) -> Option<PacketId> {
        self.come.front().filter(|_| self.seen > 0).copied()
    }

    /// Returns the number of packets from other DIMMs that wait for the ring.
    pub(super) fn relayed(&self) -> u32 {
        self.relayed
    }

    /// Removes the oldest message that the driver has seen. Returns it with its first line and its number of lines.
    /// The lines stay in use until the other side learns that they have been read.
    pub(super) fn take(&mut self, packets: &Packets) -> Option<(PacketId, u32, u32)> {
        self.seen = self.seen.checked_sub(1)?;
        let id = self.come.pop_front()?;
        let lines = ring_lines(packets.get(id).ip_bytes);
        Some((id, self.into.pop(lines), lines))
    }

    /// Returns true if an arrived message waits to be read.
    pub(super) fn has_message(&self) -> bool {
        !self.come.is_empty()
    }

    /// Returns the number of packets that wait in the driver or are being written.
    pub(super) fn waiting(&self) -> u64 {
        self.queue.len() as u64 + u64::from(self.writing.is_some())
    }

    /// Counts a fence for which a core waited `ps`.
    pub(super) fn fenced(&mut self, ps: u32) {
        self.counts.fences += 1;
        self.counts.fence_ps += u64::from(ps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::{Content, Ecn, Packet};
    use crate::params::largest_ring_packet;
    use crate::transport::tcp::Segment;
    use proptest::prelude::*;

    const WRITER: ComponentId = ComponentId(7);
    const MOST: u32 = 3;

    /// Both sides of one ring, and the packets that go through it.
    struct Pair {
        packets: Packets,
        from: RingPair,
        to: RingPair,
        /// Packets that were accepted and not read, oldest first.
        taken: VecDeque<PacketId>,
        /// Lines read that the writer does not know of, by message.
        told: VecDeque<u32>,
    }

    impl Pair {
        fn new(bytes: u32) -> Self {
            let interface = McnInterface { host: 1, port: 0, channel: 0 };
            let link = |rings| RingPair::new(interface, ComponentId(1), rings);
            let (from, to) = (link([bytes, 128]), link([128, bytes]));
            Self { packets: Packets::default(), from, to, taken: VecDeque::new(), told: VecDeque::new() }
        }

        fn offer(&mut self, ip_bytes: u32, relayed: bool) {
            let id = self.packets.insert(packet(ip_bytes));
            let own = self.from.queue.len() as u32 - self.from.relayed;
            let counts = self.from.counts;
            let took = self.from.offer(id, WRITER, MOST, relayed, &self.packets);
            assert_eq!(took, relayed || own < MOST);
            assert_eq!(self.from.counts.dropped, counts.dropped + u64::from(!took));
            if took {
                self.taken.push_back(id);
            }
        }

        /// Begins a message, and checks that it begins if and only if one waits, none is being written and the ring
        /// has room.
        fn begin(&mut self) {
            let next = self.from.queue.front().map(|(id, ..)| ring_lines(self.packets.get(*id).ip_bytes));
            let may = self.from.writing.is_none() && next.is_some_and(|lines| lines <= self.from.out.free());
            let before = (self.from.out, self.from.writing, self.from.waiting(), self.from.relayed, self.from.counts);
            let begun = self.from.begin(&self.packets);
            assert_eq!(begun.is_some(), may);
            let from = &self.from;
            if begun.is_none() {
                assert_eq!((from.out, from.writing, from.waiting(), from.relayed, from.counts), before);
            } else {
                assert_eq!(Some(from.out.used()), next.map(|lines| before.0.used() + lines));
            }
        }

        /// Writes a line of the current message, or its pointer once all lines are there. The pointer delivers the
        /// message.
        fn write(&mut self) {
            let Some(writing) = self.from.writing else { return };
            if writing.left > 0 {
                return assert_eq!(self.from.wrote(), writing.left == 1);
            }
            assert_eq!(self.from.end(&self.packets), Some(writing));
            self.to.arrive(writing.id, &self.packets);
        }

        fn read(&mut self) {
            self.to.look();
            assert_eq!(self.to.next_seen().is_some(), self.to.has_message());
            if let Some((id, _, lines)) = self.to.take(&self.packets) {
                assert_eq!(Some(id), self.taken.pop_front(), "messages stay in their order");
                self.to.counts.read += 1;
                self.told.push_back(lines);
            }
        }

        fn tell(&mut self) {
            if let Some(lines) = self.told.pop_front() {
                self.from.out.pop(lines);
            }
        }

        fn check(&self) {
            let (from, to) = (self.from.counts, self.to.counts);
            let inside = to.arrived - to.read;
            assert_eq!(from.offered, to.read + inside + self.from.waiting() + from.dropped);
            assert_eq!((from.sent, from.early, self.to.into.used()), (to.arrived, 0, self.lines(inside)));
            let written = self.from.writing.map_or(0, |writing| writing.lines);
            let told: u32 = self.told.iter().sum();
            assert_eq!(self.from.out.used(), self.to.into.used() + written + told);
            assert!(self.from.relayed as usize <= self.from.queue.len());
        }

        fn lines(&self, messages: u64) -> u32 {
            self.taken.iter().take(messages as usize).map(|id| ring_lines(self.packets.get(*id).ip_bytes)).sum()
        }
    }

    fn packet(ip_bytes: u32) -> Packet {
        Packet {
            flow: 0,
            from: 0,
            to: 1,
            ip_bytes,
            ecn: Ecn::NotCapable,
            priority: 0,
            corrupt: false,
            copy: false,
            queue: 0,
            order: 0,
            line: 0,
            content: Content::Tcp(Segment::default()),
            next: PacketId::NONE,
        }
    }

    proptest! {
        /// Every packet offered has been read, or is in the ring, in the driver or dropped. A full ring accepts
        /// nothing.
        #[test]
        fn a_full_ring_takes_nothing_and_every_packet_is_somewhere(
            lines in 2_u32..60,
            steps in prop::collection::vec((0_u32..12, any::<u32>(), any::<bool>()), 1..400),
        ) {
            let most = largest_ring_packet(lines * 64);
            let mut pair = Pair::new(lines * 64);
            for (step, bytes, relayed) in steps {
                match step {
                    0..2 => pair.offer(1 + bytes % most, relayed),
                    2 => pair.begin(),
                    3 => pair.read(),
                    4 => pair.tell(),
                    _ => pair.write(),
                }
                pair.check();
            }
            for _ in 0..(pair.taken.len() + pair.told.len()) * (lines as usize + 1) {
                pair.begin();
                pair.write();
                pair.read();
                pair.tell();
            }
            pair.check();
            prop_assert_eq!((pair.from.out.used(), pair.from.waiting(), pair.taken.len()), (0, 0, 0));
        }
    }
}
