//! Packets: from the NIC or endpoint that makes them to the part that ends them.

use super::pool_message::PoolMessage;
use super::slab::{Entry, Slab, NONE};
use crate::transport::journey::Stage;
use crate::transport::roce::Roce;
use crate::transport::tcp::Segment;
use crate::transport::udp::Datagram;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Names a packet in the store of its partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PacketId(pub u32);

impl PacketId {
    /// No packet.
    pub const NONE: Self = Self(NONE);
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
    /// A datagram of UDP.
    Udp(Datagram),
    /// Bytes of no transport, as replayed from a capture.
    Raw,
    /// A message of a pool of memory. Its packet has [`super::POOL_FLOW`] for a flow, and all its bytes on the wire for
    /// those of the IP packet.
    Pool(PoolMessage),
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
    /// Bytes of the IP packet: headers of IP and above, and data. At a sending NIC, before segments are cut, without
    /// meaning.
    pub ip_bytes: u32,
    /// Congestion in the IP header.
    pub ecn: Ecn,
    /// Priority class, 0 to 7.
    pub priority: u8,
    /// Whether it was damaged on the way: the next NIC or switch drops it.
    pub corrupt: bool,
    /// Whether it is one of those that a switch, which does not know where the receiver is, sends where it is not.
    pub copy: bool,
    /// At the receiving server: the queue of the NIC it came in by.
    pub queue: u16,
    /// At a receiving server that may steer its flow from one queue to another: which one of its flow it is, from 1 on.
    pub order: u64,
    /// At a server: the line of virtual memory at which it lies.
    pub line: u64,
    /// What it is for.
    pub content: Content,
    /// The next packet in the list that it waits in.
    pub next: PacketId,
}

impl Packet {
    /// A stage of its journey ends now. Of datagrams only.
    #[inline]
    pub fn end(&mut self, stage: Stage, now: Time) {
        if let Content::Udp(datagram) = &mut self.content {
            datagram.journey.end(stage, now);
        }
    }
}

impl Entry for Packet {
    type Id = PacketId;

    #[inline]
    fn id(number: u32) -> PacketId {
        PacketId(number)
    }

    #[inline]
    fn number(id: PacketId) -> u32 {
        id.0
    }

    #[inline]
    fn next(&mut self) -> &mut PacketId {
        &mut self.next
    }
}

/// The packets of one partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Packets {
    slab: Slab<Packet>,
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
    /// Records from now on every packet that `part` puts on its cable, at the first bit, and every undamaged one that
    /// comes to it and is for it, at the last bit. The record grows until [`Packets::take_recorded`] empties it.
    pub fn record(&mut self, part: ComponentId) {
        self.tap = Some(Box::new(Tap { part, seen: Vec::new() }));
    }

    /// What was recorded since the last time, in order of time.
    pub fn take_recorded(&mut self) -> Vec<(Time, Packet)> {
        self.tap.as_mut().map(|tap| std::mem::take(&mut tap.seen)).unwrap_or_default()
    }

    /// Whose packets are recorded, if anyone's.
    pub(crate) fn recorded_part(&self) -> Option<ComponentId> {
        self.tap.as_ref().map(|tap| tap.part)
    }

    /// Hands the record on to another store.
    pub(crate) fn move_record(&mut self, to: &mut Self) {
        to.tap = self.tap.take();
    }

    /// Ends a packet, and returns it.
    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.slab.remove(id);
        *self.slab.get(id)
    }

    /// `part` sends or receives a packet.
    #[inline]
    pub(crate) fn pass(&mut self, id: PacketId, part: ComponentId, now: Time) {
        if let Some(tap) = self.tap.as_mut().filter(|tap| tap.part == part) {
            let packet = *self.slab.get(id);
            if !packet.corrupt && !packet.copy && packet.flow != super::POOL_FLOW {
                tap.seen.push((now, packet));
            }
        }
    }
}

impl Deref for Packets {
    type Target = Slab<Packet>;

    #[inline]
    fn deref(&self) -> &Slab<Packet> {
        &self.slab
    }
}

impl DerefMut for Packets {
    #[inline]
    fn deref_mut(&mut self) -> &mut Slab<Packet> {
        &mut self.slab
    }
}
