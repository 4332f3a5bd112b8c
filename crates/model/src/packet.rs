//! Packets: from the NIC or endpoint that makes them to the part that ends them.

use crate::transport::roce::Roce;
use crate::transport::tcp::Segment;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Names a packet in the store of its partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PacketId(pub u32);

impl PacketId {
    /// No packet.
    pub const NONE: Self = Self(u32::MAX);
}

/// Explicit congestion notification of the IP header (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Ecn {
    /// Not capable: a full queue drops it.
    #[default]
    NotCapable,
    /// Capable.
    Capable,
    /// Congestion experienced.
    Marked,
}

/// What a packet is for.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Content {
    /// A segment of TCP.
    Tcp(Segment),
    /// A packet of RoCE v2.
    Roce(Roce),
    /// Bytes of no transport, as replayed from a capture.
    Raw,
}

/// A packet, or at a sending NIC a segment of several packets' length.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Packet {
    /// The flow, as numbered in [`crate::params::ClusterParams::flows`].
    pub flow: u32,
    /// The sending host.
    pub from: u16,
    /// The receiving host.
    pub to: u16,
    /// Bytes of the IP packet: headers of IP and above, and data. At a sending NIC, before segments are cut, without meaning.
    pub ip_bytes: u32,
    /// Congestion in the IP header.
    pub ecn: Ecn,
    /// Priority class, 0 to 7.
    pub priority: u8,
    /// Whether it was damaged on the way: the next NIC or switch drops it.
    pub corrupt: bool,
    /// At the receiving server: the queue of the NIC it came in by.
    pub queue: u16,
    /// At a server: the line of virtual memory at which it lies.
    pub line: u64,
    /// What it is for.
    pub content: Content,
    /// The next packet in the list that it waits in.
    pub next: PacketId,
}

/// The packets of one partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Packets {
    slots: Vec<Packet>,
    free: Vec<PacketId>,
    /// Who looks at them is no part of the state.
    #[serde(skip)]
    tap: Option<Box<Tap>>,
}

/// What one NIC or endpoint sends and receives.
#[derive(Clone, Debug)]
struct Tap {
    part: ComponentId,
    seen: Vec<(Time, Packet)>,
}

impl Packets {
    /// A store with room for `capacity` packets before it has to allocate.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity), tap: None }
    }

    /// Records from now on every packet that `part` puts on its cable, at the first bit, and every undamaged one that comes to
    /// it, at the last bit. The record grows until [`Packets::take_recorded`] empties it.
    pub fn record(&mut self, part: ComponentId) {
        self.tap = Some(Box::new(Tap { part, seen: Vec::new() }));
    }

    /// What was recorded since the last time, in order of time.
    pub fn take_recorded(&mut self) -> Vec<(Time, Packet)> {
        self.tap.as_mut().map(|tap| std::mem::take(&mut tap.seen)).unwrap_or_default()
    }

    /// `part` sends or receives a packet.
    #[inline]
    pub(crate) fn pass(&mut self, id: PacketId, part: ComponentId, now: Time) {
        if let Some(tap) = self.tap.as_mut().filter(|tap| tap.part == part) {
            let packet = self.slots[id.0 as usize];
            if !packet.corrupt {
                tap.seen.push((now, packet));
            }
        }
    }

    /// Adds a packet.
    pub fn insert(&mut self, packet: Packet) -> PacketId {
        if let Some(id) = self.free.pop() {
            self.slots[id.0 as usize] = packet;
            return id;
        }
        self.slots.push(packet);
        PacketId(self.slots.len() as u32 - 1)
    }

    /// Ends a packet, and returns it.
    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.free.push(id);
        self.slots[id.0 as usize]
    }

    /// The packet.
    #[must_use]
    pub fn get(&self, id: PacketId) -> &Packet {
        &self.slots[id.0 as usize]
    }

    /// The packet, to change.
    pub fn get_mut(&mut self, id: PacketId) -> &mut Packet {
        &mut self.slots[id.0 as usize]
    }

    /// The packets on their way, in no order that means anything. It takes as long as there ever were packets: for reports,
    /// not for events.
    pub fn iter(&self) -> impl Iterator<Item = &Packet> {
        let mut free = vec![false; self.slots.len()];
        self.free.iter().for_each(|id| free[id.0 as usize] = true);
        self.slots.iter().zip(free).filter(|(_, free)| !free).map(|(packet, _)| packet)
    }

    /// How many packets are on their way.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// True when none is on its way.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A first-in first-out list of packets, linked through [`Packet::next`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PacketFifo {
    head: PacketId,
    tail: PacketId,
    len: u32,
}

impl Default for PacketFifo {
    fn default() -> Self {
        Self { head: PacketId::NONE, tail: PacketId::NONE, len: 0 }
    }
}

impl PacketFifo {
    /// Adds a packet at the end.
    pub fn push(&mut self, packets: &mut Packets, id: PacketId) {
        packets.get_mut(id).next = PacketId::NONE;
        if self.len == 0 {
            self.head = id;
        } else {
            packets.get_mut(self.tail).next = id;
        }
        self.tail = id;
        self.len += 1;
    }

    /// The first packet.
    #[must_use]
    pub fn front(&self) -> Option<PacketId> {
        (self.len > 0).then_some(self.head)
    }

    /// Takes out the first packet.
    pub fn pop(&mut self, packets: &Packets) -> Option<PacketId> {
        let id = self.front()?;
        self.head = packets.get(id).next;
        self.len -= 1;
        Some(id)
    }

    /// How many wait.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True when none waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}
