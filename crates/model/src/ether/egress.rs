//! An output port: queues of packets, one per priority, and a cable.
//!
//! A packet that meets a free port is on the wire at once, and the one event of its hop is its arrival at the peer.
//! Only while packets wait does the port wake itself up when the wire is free again. A packet leaves its queue when its
//! first bit goes out: the one on the wire is not waiting.

use super::drops::DropReason;
use super::engines::Compressor;
use super::occupancy::Level;
use super::port_queues::{Queues, PRIORITIES};
use super::wire::{Fate, Wire, WireParams, BYTE_PARTS};
use crate::line::{Fifo, Packet, PacketId, Packets, POOL_FLOW};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Bins;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// What left a port: its first bit is on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// The packet; it may not be in the store any more.
    pub id: PacketId,
    /// Its flow.
    pub flow: u32,
    /// Its bytes, as before an engine that made them less.
    pub ip_bytes: u32,
    /// Its priority.
    pub priority: u8,
    /// [`crate::Packet::queue`], by which its owner may know where it came from.
    pub queue: u16,
    /// Why it does not arrive; it is then out of the store. The owner counts it.
    pub dropped: Option<DropReason>,
}

/// An output port. Higher priorities go first; one that is paused waits. What a packet needs that does not wait lies
/// together.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Egress {
    wire: Wire,
    /// When the wire is free again.
    free_at: Time,
    sent_packets: u64,
    sent_bytes: u64,
    sent_wire_bytes: u64,
    /// Whether an event is on its way that tells when the wire is free.
    armed: bool,
    /// Whether there is an engine before the wire.
    compresses: bool,
    /// Whether it is kept when the wire was busy.
    watched: bool,
    /// One bit per priority: packets wait; the peer asked for a pause.
    waiting: u8,
    paused: u8,
    queues: Box<Queues>,
}

impl Egress {
    /// A free port with empty queues.
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
            queues: Box::new(Queues::new(params)),
        }
    }

    /// Puts an engine before the wire.
    pub(crate) fn compress(&mut self, compressor: Compressor) {
        self.compresses = true;
        self.queues.compressor = Some(Box::new(compressor));
    }

    /// What makes packets smaller before the wire, if anything does.
    #[must_use]
    pub fn compressor(&self) -> Option<&Compressor> {
        self.queues.compressor.as_deref()
    }

    /// Spares messages of a pool of memory so much of the way between queue and wire, in ps.
    pub(crate) fn spare_pool(&mut self, ps: u64) {
        self.queues.bypass_ps = ps;
    }

    /// Whether a packet of `priority` would be on the wire at once.
    #[must_use]
    #[inline]
    pub fn is_free(&self, now: Time, priority: u8) -> bool {
        !self.armed && self.free_at <= now && self.paused >> priority & 1 == 0
    }

    /// Has the queues fetched.
    #[inline(always)]
    pub(super) fn fetch(&self) {
        prefetch_index(std::slice::from_ref(&self.queues.packets), 0);
        prefetch_index(std::slice::from_ref(&self.queues.bytes), 0);
        prefetch_index(std::slice::from_ref(&self.queues.bytes), 1);
        if let Some(priority) = self.waiting.checked_ilog2() {
            prefetch_index(&self.queues.classes, priority as usize);
        }
    }

    /// Has the packet fetched that goes next.
    #[inline(always)]
    pub(super) fn fetch_next(&self, packets: &Packets) {
        let priority = (self.waiting & !self.paused).checked_ilog2();
        if let Some(id) = priority.and_then(|priority| self.queues.classes[priority as usize].fifo.front()) {
            packets.fetch(id);
        }
    }

    /// Sends a packet, or lets it wait. Returns what left: this packet or none.
    #[inline]
    pub fn push(&mut self, id: PacketId, context: &mut NetContext) -> Option<Left> {
        let now = context.now();
        let packet = context.packets.get(id);
        let priority = packet.priority % PRIORITIES as u8;
        if self.is_free(now, priority) {
            return Some(self.transmit(id, context));
        }
        self.enqueue(id, priority, packet.ip_bytes, context);
        None
    }

    fn enqueue(&mut self, id: PacketId, priority: u8, ip_bytes: u32, context: &mut NetContext) {
        self.waiting |= 1 << priority;
        self.queues.push(id, priority, ip_bytes, context);
        self.arm(context);
    }

    /// The port's own [`Payload::PortReady`]: sends the next packet, if one may go. Returns what left.
    #[inline]
    pub fn on_ready(&mut self, context: &mut NetContext) -> Option<Left> {
        self.armed = false;
        let ready = self.waiting & !self.paused;
        if ready == 0 {
            return None;
        }
        let priority = ready.ilog2() as u8;
        let (id, last) = self.queues.pop(priority, context)?;
        if last {
            self.waiting &= !(1 << priority);
        }
        let left = self.transmit(id, context);
        self.arm(context);
        Some(left)
    }

    /// [`Payload::Pause`] of this port: a priority waits, or goes on.
    pub fn on_pause(&mut self, priority: u8, on: bool, context: &mut NetContext) {
        let (now, priority) = (context.now(), priority % PRIORITIES as u8);
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

    /// Has the port told when the wire is free, if a packet may go then.
    #[inline]
    fn arm(&mut self, context: &mut NetContext) {
        if self.armed || self.waiting & !self.paused == 0 {
            return;
        }
        self.armed = true;
        // What the end of a pause lets go on free wire goes after the least time that an event takes.
        let delay_ps = self.free_at.ps().saturating_sub(context.now().ps()).max(1);
        context.send(context.id, delay_ps, Payload::PortReady { port: self.wire.port });
    }

    /// Puts a packet on the wire.
    #[inline]
    fn transmit(&mut self, id: PacketId, context: &mut NetContext) -> Left {
        let now = context.now();
        context.packets.pass(id, context.id, now);
        let packet = context.packets.get_mut(id);
        let whole_bytes = packet.ip_bytes;
        let mut compressor = if self.compresses { self.queues.compressor.as_deref_mut() } else { None };
        let through = compressor.as_mut().map_or(now, |compressor| compressor.begin(packet, now));
        let (wire_bytes, delay_ps) = if packet.flow == POOL_FLOW {
            (packet.ip_bytes, self.wire.delay_ps - self.queues.bypass_ps)
        } else {
            (self.wire.wire_bytes(packet.ip_bytes), self.wire.delay_ps)
        };
        let serialization_ps = self.wire.serialization_ps(wire_bytes);
        let (first, free_at) = match compressor {
            None => (now, now + serialization_ps),
            Some(compressor) => compressor.follow(through, now, serialization_ps),
        };
        if self.watched {
            self.note_busy(first, serialization_ps);
        }
        self.free_at = free_at;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(packet.ip_bytes);
        self.sent_wire_bytes += u64::from(wire_bytes);
        let fate = if self.wire.faulty { self.queues.faults.fate(first, serialization_ps) } else { Fate::Arrives };
        packet.corrupt |= fate == Fate::ArrivesDamaged;
        let dropped = (fate == Fate::Lost).then(|| DropReason::LinkDown.of(packet));
        let left = Left {
            id,
            flow: packet.flow,
            ip_bytes: whole_bytes,
            priority: packet.priority,
            queue: packet.queue,
            dropped,
        };
        if dropped.is_some() {
            context.packets.remove(id);
        } else {
            let port = self.wire.peer_port;
            let way_ps = first.since(now) + serialization_ps + delay_ps;
            context.send(self.wire.peer, way_ps, Payload::Packet { id, port });
        }
        left
    }

    #[inline(never)]
    fn note_busy(&mut self, first: Time, ps: u64) {
        if let Some(busy) = &mut self.queues.busy {
            busy.add(first.ps(), first.ps() + ps);
        }
    }

    /// When the wire was busy since the start of the run, if that is kept.
    #[must_use]
    pub fn busy(&self) -> Option<&Bins> {
        self.queues.busy.as_deref()
    }

    /// Takes out the packet of a priority that would go next, if it `may` be.
    pub(super) fn take(&mut self, priority: u8, may: fn(&Packet) -> bool, net: &mut NetContext) -> Option<PacketId> {
        let next = self.queues.classes[usize::from(priority)].fifo.front();
        next.filter(|&id| may(net.packets.get(id)))?;
        let (id, last) = self.queues.pop(priority, net)?;
        self.waiting &= !(u8::from(last) << priority);
        Some(id)
    }

    /// Asks the peer for a pause of `priority`, or ends it. Pause frames are never lost and take no time of the wire.
    pub fn ask_pause(&self, priority: u8, on: bool, context: &mut NetContext) {
        let port = self.wire.peer_port;
        context.send(self.wire.peer, self.queues.faults.latency_ps, Payload::Pause { port, priority, on });
    }

    /// Moves the packets that wait from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.queues.classes.iter_mut().for_each(|class| class.fifo.move_to(from, to));
    }

    /// Begins a new measuring window at `now`: queue statistics and pauses begin anew. Counts of packets go on.
    pub fn reset(&mut self, now: Time) {
        self.queues.packets.reset(now);
        self.queues.bytes.reset(now);
        self.queues.reset_at = now;
        self.queues.classes.iter_mut().for_each(|class| class.paused_ps = 0);
        self.queues.compressor.iter_mut().for_each(|compressor| compressor.reset(now));
    }

    /// Brings the queue statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.queues.packets.settle(now);
        self.queues.bytes.settle(now);
    }

    /// Packets of any priority that wait.
    #[must_use]
    pub fn waiting_packets(&self) -> u32 {
        self.queues.waiting_packets
    }

    /// Bytes of IP packets of any priority that wait.
    #[must_use]
    pub fn waiting_bytes(&self) -> u64 {
        self.queues.waiting_bytes
    }

    /// Packets and bytes of IP packets of one priority that wait.
    #[must_use]
    #[inline]
    pub fn waiting_of(&self, priority: u8) -> (u32, u64) {
        if self.waiting >> priority & 1 == 0 {
            return (0, 0);
        }
        let class = &self.queues.classes[usize::from(priority)];
        (class.fifo.len(), class.bytes)
    }

    /// The packets of one priority that wait.
    #[must_use]
    pub fn queue_of(&self, priority: u8) -> &Fifo<Packet> {
        &self.queues.classes[usize::from(priority)].fifo
    }

    /// Waiting packets over time.
    #[must_use]
    pub fn queue_packets(&self) -> &Level {
        &self.queues.packets
    }

    /// Bytes of waiting IP packets over time.
    #[must_use]
    pub fn queue_bytes(&self) -> &Level {
        &self.queues.bytes
    }

    /// Packets sent since the start of the run, those that the cable lost included.
    #[must_use]
    pub fn sent_packets(&self) -> u64 {
        self.sent_packets
    }

    /// Bytes of IP packets sent since the start of the run.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.sent_bytes
    }

    /// Bytes on the wire since the start of the run, framing included.
    #[must_use]
    pub fn sent_wire_bytes(&self) -> u64 {
        self.sent_wire_bytes
    }

    /// Parts of a byte ([`super::BYTE_PARTS`]) that were on the wire until `now`: of a packet that still is, what is
    /// gone.
    #[must_use]
    pub fn carried_parts(&self, now: Time) -> u64 {
        let ahead_ps = match &self.queues.compressor {
            Some(compressor) => compressor.ahead_ps(now),
            None => self.free_at.ps().saturating_sub(now.ps()),
        };
        (self.sent_wire_bytes * BYTE_PARTS).saturating_sub(self.wire.byte_parts(ahead_ps))
    }

    /// Whether a priority is paused by the peer.
    #[must_use]
    pub fn is_paused(&self, priority: u8) -> bool {
        self.paused >> priority & 1 != 0
    }

    /// Time for which a priority was paused since the last reset, up to `now`, in ps.
    #[must_use]
    pub fn paused_ps(&self, priority: u8, now: Time) -> u64 {
        let class = &self.queues.classes[usize::from(priority)];
        let running = if self.is_paused(priority) { now.since(class.paused_at.max(self.queues.reset_at)) } else { 0 };
        class.paused_ps + running
    }

    /// Time that an IP packet of so many bytes takes on the wire, in ps.
    #[must_use]
    pub fn serialization_ps(&self, ip_bytes: u32) -> u64 {
        self.wire.serialization_ps(self.wire.wire_bytes(ip_bytes))
    }

    /// Bytes on the wire of an IP packet of so many bytes.
    #[must_use]
    pub(super) fn wire_bytes(&self, ip_bytes: u32) -> u32 {
        self.wire.wire_bytes(ip_bytes)
    }

    /// From the last bit of a packet at this port until the other end handles it, in ps.
    #[must_use]
    pub fn delay_ps(&self) -> u64 {
        self.wire.delay_ps
    }

    /// Who receives what is sent here, and by which of its ports.
    #[must_use]
    pub fn peer(&self) -> (ComponentId, u16) {
        (self.wire.peer, self.wire.peer_port)
    }
}
