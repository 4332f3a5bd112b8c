//! Packets, from the NIC or endpoint that creates a packet to the part that ends it.

use super::pool_message::PoolMessage;
use super::slab::{Slab, SlabEntry, NONE};
use crate::transport::roce::Roce;
use crate::transport::stage_times::Stage;
use crate::transport::tcp::Segment;
use crate::transport::udp::Datagram;
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::ops::{Deref, DerefMut};

/// Id of a packet in the store of its partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PacketId(pub u32);

impl PacketId {
    /// No packet.
    pub const NONE: Self = Self(NONE);
}

/// Explicit congestion notification (ECN) field of the IP header (RFC 3168).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub enum Ecn {
    /// Not ECN-capable: a full queue drops the packet.
    #[default]
    NotCapable,
    /// ECN-capable.
    Capable,
    /// Congestion experienced.
    Marked,
}

/// Content of a packet.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub enum Content {
    /// TCP segment.
    Tcp(Segment),
    /// RoCE v2 packet.
    Roce(Roce),
    /// UDP datagram.
    Udp(Datagram),
    /// Bytes without a transport, as replayed from a capture.
    Raw,
    /// Message of a memory pool. Its packet has [`super::POOL_FLOW`] as the flow, and all its bytes on the wire as the
    /// bytes of the IP packet.
    Pool(PoolMessage),
}

/// Packet, or at a sending NIC a segment that is as long as several packets.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Packet {
    /// Flow, as numbered in [`crate::params::ClusterParams::flows`].
    pub flow: u32,
    /// Sending host.
    pub from: u16,
    /// Receiving host.
    pub to: u16,
    /// Bytes of the IP packet: headers of IP and above, and data. Without meaning at a sending NIC before segments are
    /// cut.
    pub ip_bytes: u32,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Priority class, 0 to 7.
    pub priority: u8,
    /// True if the packet was damaged in transit: the next NIC or switch drops it.
    pub corrupt: bool,
    /// True for a copy that a switch floods to a port which does not lead to the receiver.
    pub copy: bool,
    /// At the receiving server: queue of the NIC by which the packet arrived.
    pub queue: u16,
    /// At a receiving server that may steer the flow from one queue to another: number of the packet in its flow, from
    /// 1.
    pub order: u64,
    /// At a server: line of virtual memory (address / 64) at which the packet lies.
    pub line: u64,
    /// Content of the packet.
    pub content: Content,
    /// Next packet in the list that this one waits in.
    pub next: PacketId,
}

impl Packet {
    /// Records the end of a stage of the packet's path. Only datagrams keep the times of stages.
    #[inline]
    pub fn end(&mut self, stage: Stage, now: Time) {
        if let Content::Udp(datagram) = &mut self.content {
            datagram.stage_times.end(stage, now);
        }
    }
}

impl SlabEntry for Packet {
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

/// Packets of one partition.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Packets {
    slab: Slab<Packet>,
    /// Recorder of packets; it is no part of the state.
    #[serde(skip)]
    recorder: Option<Box<PacketRecorder>>,
}

/// Record of the packets that one NIC or endpoint sends and receives.
#[derive(Clone, Debug)]
struct PacketRecorder {
    part: ComponentId,
    seen: Vec<(Time, Packet)>,
}

impl Packets {
    /// Records from now on every packet that `part` puts on its cable, at the first bit, and every undamaged packet
    /// for `part` that arrives there, at the last bit. The record grows until [`Packets::take_recorded`] empties it.
    pub fn record(&mut self, part: ComponentId) {
        self.recorder = Some(Box::new(PacketRecorder { part, seen: Vec::new() }));
    }

    /// Returns the packets recorded since the last call, in order of time.
    pub fn take_recorded(&mut self) -> Vec<(Time, Packet)> {
        self.recorder.as_mut().map(|recorder| std::mem::take(&mut recorder.seen)).unwrap_or_default()
    }

    /// Returns true if packets are recorded.
    #[inline]
    pub(crate) fn is_recording(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns the part that packets are recorded for, if there is one.
    pub(crate) fn recorded_part(&self) -> Option<ComponentId> {
        self.recorder.as_ref().map(|recorder| recorder.part)
    }

    /// Moves the record to another store.
    pub(crate) fn move_record(&mut self, to: &mut Self) {
        to.recorder = self.recorder.take();
    }

    /// Removes a packet that is not needed any more.
    #[inline]
    pub(crate) fn discard(&mut self, id: PacketId) {
        self.slab.remove(id);
    }

    /// Removes a packet and returns it.
    pub fn remove(&mut self, id: PacketId) -> Packet {
        self.slab.remove(id);
        // A free slot keeps its content until it is reused.
        *self.slab.get(id)
    }

    /// Records a packet that `part` sends or receives, if packets are recorded for `part`.
    #[inline]
    pub(crate) fn pass(&mut self, id: PacketId, part: ComponentId, now: Time) {
        if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.part == part) {
            let packet = *self.slab.get(id);
            if !packet.corrupt && !packet.copy && packet.flow != super::POOL_FLOW {
                recorder.seen.push((now, packet));
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
