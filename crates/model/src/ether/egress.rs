//! An output port: one queue of packets per priority, and a cable.
//!
//! A packet that finds the port idle is put on the wire at once, and its arrival at the peer is the only event of the
//! hop. Only while packets wait does the port schedule an event for the time at which the wire is free again. A packet
//! leaves its queue when its first bit is sent, so the packet on the wire does not count as waiting.

mod any_wire;

use super::drops::DropReason;
use super::engines::Compressor;
use super::occupancy::OccupancyStats;
use super::port_queues::{PortQueues, PRIORITIES};
use super::wire::{Wire, WireParams, BYTE_PARTS};
use crate::line::{Fifo, Packet, PacketId, Packets, POOL_FLOW};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Bins;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// A packet that has left a port: its first bit is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepartedPacket {
    /// Id of the packet, which may no longer be in the store.
    pub id: PacketId,
    /// Flow of the packet.
    pub flow: u32,
    /// Bytes of the IP packet, before a compression engine.
    pub ip_bytes: u32,
    /// Priority of the packet.
    pub priority: u8,
    /// [`crate::Packet::queue`], in which the owner of the port may keep the ingress port.
    pub queue: u16,
    /// Reason why the packet does not arrive, if it is lost; it is then removed from the store. The owner of the port
    /// counts the loss.
    pub dropped: Option<DropReason>,
}

/// An output port. The highest priority that has packets and is not paused is sent first. The fields that a packet
/// needs when it does not wait lie together, to touch few cache lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Egress {
    wire: Wire,
    /// Time at which the wire is free again.
    free_at: Time,
    sent_packets: u64,
    sent_bytes: u64,
    sent_wire_bytes: u64,
    /// True while a [`Payload::PortReady`] event of this port is pending.
    armed: bool,
    /// True if a compression engine stands before the wire.
    compresses: bool,
    /// True if the busy time of the wire is recorded.
    watched: bool,
    /// Bit masks of the priorities: those with waiting packets, and those that the peer has paused.
    waiting: u8,
    paused: u8,
    queues: Box<PortQueues>,
}

impl Egress {
    /// Creates an idle port with empty queues.
    #[must_use]
    pub fn new(params: &WireParams) -> Self {
        Self {
            wire: Wire::new(params),
            free_at: Time::ZERO,
            armed: false,
            compresses: false,
            watched: params.watched,
            waiting: 0,
            paused: 0,
            sent_packets: 0,
            sent_bytes: 0,
            sent_wire_bytes: 0,
            queues: Box::new(PortQueues::new(params)),
        }
    }

    /// Puts a compression engine before the wire.
    pub(crate) fn compress(&mut self, compressor: Compressor) {
        self.compresses = true;
        self.queues.compressor = Some(Box::new(compressor));
    }

    /// Returns the compression engine before the wire, if there is one.
    #[must_use]
    pub fn compressor(&self) -> Option<&Compressor> {
        self.queues.compressor.as_deref()
    }

    /// Shortens the delay between queue and wire by `ps` ps for messages of a memory pool.
    pub(crate) fn spare_pool(&mut self, ps: u64) {
        self.queues.bypass_ps = ps;
    }

    /// Returns true if a packet of `priority` would be put on the wire at once.
    #[must_use]
    #[inline]
    pub fn is_free(&self, now: Time, priority: u8) -> bool {
        // With an event pending, packets wait already and go first.
        !self.armed && self.free_at <= now && self.paused >> priority & 1 == 0
    }

    /// Prefetches the queues.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        prefetch_index(std::slice::from_ref(&self.queues.packets), 0);
        prefetch_index(std::slice::from_ref(&self.queues.bytes), 0);
        prefetch_index(std::slice::from_ref(&self.queues.bytes), 1);
        if let Some(priority) = self.waiting.checked_ilog2() {
            prefetch_index(&self.queues.classes, priority as usize);
        }
    }

    /// Prefetches the packet that is sent next.
    #[inline(always)]
    pub(super) fn fetch_next(&self, packets: &Packets) {
        let priority = (self.waiting & !self.paused).checked_ilog2();
        if let Some(id) = priority.and_then(|priority| self.queues.classes[priority as usize].fifo.front()) {
            packets.fetch(id);
        }
    }

    /// Sends a packet or enqueues it. Returns the packet if it was sent.
    #[inline]
    pub fn push(&mut self, id: PacketId, context: &mut NetContext) -> Option<DepartedPacket> {
        let packet = context.packets.get(id);
        let (priority, ip_bytes) = (packet.priority % PRIORITIES as u8, packet.ip_bytes);
        if self.is_free(context.now(), priority) {
            return Some(self.transmit(id, context));
        }
        self.enqueue(id, priority, ip_bytes, context);
        None
    }

    /// Enqueues a packet that does not find the port free.
    #[inline]
    pub(super) fn enqueue(&mut self, id: PacketId, priority: u8, ip_bytes: u32, context: &mut NetContext) {
        self.waiting |= 1 << priority;
        self.queues.push(id, priority, ip_bytes, context);
        self.arm(context);
    }

    /// Handles the port's own [`Payload::PortReady`]: sends the next packet, if there is one that is not paused, and
    /// returns it.
    #[inline]
    pub fn on_ready(&mut self, context: &mut NetContext) -> Option<DepartedPacket> {
        self.armed = false;
        let ready = self.waiting & !self.paused;
        if ready == 0 {
            return None;
        }
        // Strict priority: the highest bit is the highest priority.
        let priority = ready.ilog2() as u8;
        let (id, last) = self.queues.pop(priority, context)?;
        if last {
            self.waiting &= !(1 << priority);
        }
        let left = self.transmit(id, context);
        self.arm(context);
        Some(left)
    }

    /// Handles a [`Payload::Pause`] of this port: pauses a priority or resumes it.
    pub fn on_pause(&mut self, priority: u8, on: bool, context: &mut NetContext) {
        let (now, priority) = (context.now(), priority % PRIORITIES as u8);
        // A repeated pause changes nothing.
        if self.is_paused(priority) == on {
            return;
        }
        self.paused ^= 1 << priority;
        let since = self.queues.reset_at;
        let class = &mut self.queues.classes[usize::from(priority)];
        if on {
            class.paused_at = now;
        } else {
            class.paused_ps += now.since(class.paused_at.max(since));
            self.arm(context);
        }
    }

    /// Schedules [`Payload::PortReady`] for the time at which the wire is free, if a packet may be sent then.
    #[inline]
    fn arm(&mut self, context: &mut NetContext) {
        // One event at a time; idle ports and paused queues need none.
        if self.armed || self.waiting & !self.paused == 0 {
            return;
        }
        self.armed = true;
        // After a pause the wire may be free already, but an event lies at least 1 ps ahead.
        let delay_ps = self.free_at.ps().saturating_sub(context.now().ps()).max(1);
        context.send(context.id, delay_ps, Payload::PortReady { port: self.wire.port });
    }

    /// Puts a packet on the wire.
    #[inline]
    fn transmit(&mut self, id: PacketId, context: &mut NetContext) -> DepartedPacket {
        let &Packet { flow, ip_bytes, priority, queue, .. } = context.packets.get(id);
        let dropped = self.put_on_wire(id, context);
        DepartedPacket { id, flow, ip_bytes, priority, queue, dropped }
    }

    /// Puts a packet on the wire. Returns the reason why it does not arrive, if it is lost; it is then removed from
    /// the store.
    #[inline]
    pub(super) fn put_on_wire(&mut self, id: PacketId, context: &mut NetContext) -> Option<DropReason> {
        let &Packet { flow, ip_bytes, .. } = context.packets.get(id);
        // Speed only: most packets meet nothing but the wire.
        if self.compresses || self.watched || self.wire.faulty || flow == POOL_FLOW || context.packets.is_recording() {
            return self.put_on_any_wire(id, context);
        }
        let wire_bytes = self.wire.wire_bytes(ip_bytes);
        let serialization_ps = self.wire.serialization_ps(wire_bytes);
        self.count_sent(ip_bytes, wire_bytes, context.now() + serialization_ps);
        let port = self.wire.peer_port;
        context.send(self.wire.peer, serialization_ps + self.wire.delay_ps, Payload::Packet { id, port });
        None
    }

    /// Counts a packet that occupies the wire until `free_at`.
    #[inline(always)]
    fn count_sent(&mut self, ip_bytes: u32, wire_bytes: u32, free_at: Time) {
        self.free_at = free_at;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(ip_bytes);
        self.sent_wire_bytes += u64::from(wire_bytes);
    }

    /// Counts the packets of a message, whose IP packets have `ip_bytes` bytes in all.
    pub(super) fn count_message(&mut self, packets: u64, ip_bytes: u64) {
        self.sent_packets += packets;
        self.sent_bytes += ip_bytes;
    }

    /// Sets the bytes that the wire has carried of messages.
    pub(super) fn set_carried(&mut self, wire_bytes: u64) {
        self.sent_wire_bytes = wire_bytes;
    }

    /// Records that messages kept the wire busy for a share of the time, given as a fraction.
    pub(super) fn record_busy(&mut self, from: Time, to: Time, share: (u64, u64)) {
        if let Some(busy) = &mut self.queues.busy {
            busy.add_share(from.ps(), to.ps(), share);
        }
    }

    /// Returns the busy time of the wire since the start of the run, if it is recorded.
    #[must_use]
    pub fn busy(&self) -> Option<&Bins> {
        self.queues.busy.as_deref()
    }

    /// Removes and returns the next packet of a priority, if `may` is true of it.
    pub(super) fn take_next(
        &mut self,
        priority: u8,
        may: fn(&Packet) -> bool,
        net: &mut NetContext,
    ) -> Option<PacketId> {
        let next = self.queues.classes[usize::from(priority)].fifo.front();
        next.filter(|&id| may(net.packets.get(id)))?;
        let (id, last) = self.queues.pop(priority, net)?;
        self.waiting &= !(u8::from(last) << priority);
        Some(id)
    }

    /// Requests a pause of `priority` from the peer, or ends it. Pause frames are never lost and take no time on the
    /// wire.
    pub fn request_pause(&self, priority: u8, on: bool, context: &mut NetContext) {
        let port = self.wire.peer_port;
        // One latency: pause frames take no time on the wire (docs/models/ether.md, Not modelled).
        context.send(self.wire.peer, self.queues.faults.latency_ps, Payload::Pause { port, priority, on });
    }

    /// Moves the waiting packets from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.queues.classes.iter_mut().for_each(|class| class.fifo.move_to(from, to));
    }

    /// Begins a new measurement window at `now`: resets the queue statistics and the pause times. Packet counters
    /// continue.
    pub fn reset(&mut self, now: Time) {
        self.queues.packets.reset(now);
        self.queues.bytes.reset(now);
        // A pause that goes on counts from the reset (see `paused_ps`).
        self.queues.reset_at = now;
        self.queues.classes.iter_mut().for_each(|class| class.paused_ps = 0);
        self.queues.compressor.iter_mut().for_each(|compressor| compressor.reset(now));
    }

    /// Brings the queue statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.queues.packets.settle(now);
        self.queues.bytes.settle(now);
    }

    /// Returns the waiting packets of all priorities.
    #[must_use]
    pub fn waiting_packets(&self) -> u32 {
        self.queues.waiting_packets
    }

    /// Returns the bytes of the waiting IP packets of all priorities.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.queues.waiting_bytes
    }

    /// Returns the waiting packets of one priority and the bytes of their IP packets.
    #[must_use]
    #[inline]
    pub fn waiting_of(&self, priority: u8) -> (u32, u64) {
        // Speed only: an empty queue is not read from memory.
        if self.waiting >> priority & 1 == 0 {
            return (0, 0);
        }
        let class = &self.queues.classes[usize::from(priority)];
        (class.fifo.len(), class.bytes)
    }

    /// Returns the queue of one priority.
    #[must_use]
    pub fn queue_of(&self, priority: u8) -> &Fifo<Packet> {
        &self.queues.classes[usize::from(priority)].fifo
    }

    /// Returns the statistics of the number of waiting packets.
    #[must_use]
    pub fn queue_packets(&self) -> &OccupancyStats {
        &self.queues.packets
    }

    /// Returns the statistics of the bytes of waiting IP packets.
    #[must_use]
    pub fn queue_bytes(&self) -> &OccupancyStats {
        &self.queues.bytes
    }

    /// Returns the packets sent since the start of the run, including those lost on the cable.
    #[must_use]
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    /// Returns the bytes of IP packets sent since the start of the run.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Returns the bytes sent on the wire since the start of the run, including framing.
    #[must_use]
    pub fn sent_wire_bytes(&self) -> u64 {
        self.sent_wire_bytes
    }

    /// Returns the bytes that the wire had carried by `now`, in units of 1/[`super::BYTE_PARTS`] byte. Of a packet
    /// still on the wire, only the part already sent counts.
    #[must_use]
    pub fn carried_parts(&self, now: Time) -> u64 {
        // Behind an engine the wire may be idle while packets are still in the engine.
        let ahead_ps = match &self.queues.compressor {
            Some(compressor) => compressor.ahead_ps(now),
            None => self.free_at.ps().saturating_sub(now.ps()),
        };
        (self.sent_wire_bytes * BYTE_PARTS).saturating_sub(self.wire.byte_parts(ahead_ps))
    }

    /// Returns true if the peer has paused the priority.
    #[must_use]
    pub fn is_paused(&self, priority: u8) -> bool {
        self.paused >> priority & 1 != 0
    }

    /// Returns the time for which a priority was paused since the last reset, up to `now`, in ps.
    #[must_use]
    pub fn paused_ps(&self, priority: u8, now: Time) -> u64 {
        let class = &self.queues.classes[usize::from(priority)];
        let running = if self.is_paused(priority) { now.since(class.paused_at.max(self.queues.reset_at)) } else { 0 };
        class.paused_ps + running
    }

    /// Returns the time that an IP packet of `ip_bytes` takes on the wire, in ps.
    #[must_use]
    pub fn serialization_ps(&self, ip_bytes: u32) -> u64 {
        self.wire.serialization_ps(self.wire.wire_bytes(ip_bytes))
    }

    /// Returns the bytes on the wire of an IP packet of `ip_bytes`.
    #[must_use]
    pub(super) fn wire_bytes(&self, ip_bytes: u32) -> u32 {
        self.wire.wire_bytes(ip_bytes)
    }

    /// Returns the delay from the last bit of a packet at this port until the peer handles the packet, in ps.
    #[must_use]
    pub fn delay_ps(&self) -> u64 {
        self.wire.delay_ps
    }

    /// Returns the component at the other end of the cable, and its port there.
    #[must_use]
    pub fn peer(&self) -> (ComponentId, u16) {
        (self.wire.peer, self.wire.peer_port)
    }
}
