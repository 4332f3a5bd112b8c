//! A switch with output queues in one shared buffer.

use super::drops::{DropCounters, DropReason};
use super::egress::{DepartedPacket, Egress};
use super::port_queues::PRIORITIES;
use super::routes::Routes;
use super::sharers::PageSharers;
use crate::line::{Ecn, PacketId, Packets};
use crate::params::{EcnParams, PfcParams, SwitchParams};
use crate::part::NetContext;
use hostnet_kernel::{PrefetchStage, Rng, Time};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// A port of a switch: its output queue, and the bytes that came in by it and still wait.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SwitchPort {
    pub(super) egress: Egress,
    /// Bytes per lossless priority that came in by this port and wait anywhere in the switch.
    held_bytes: Box<[u64; PRIORITIES]>,
    /// Bit mask of the priorities whose pause this port has requested from the peer.
    asked: u8,
    marked: u64,
    pauses: u64,
    overflowed: u64,
}

impl SwitchPort {
    /// Returns the output port.
    #[must_use]
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// Returns the packets that were ECN-marked at this output since the start of the run.
    #[must_use]
    pub fn marked_packets(&self) -> u64 {
        self.marked
    }

    /// Returns the pauses requested from the peer since the start of the run.
    #[must_use]
    pub fn pauses_asked(&self) -> u64 {
        self.pauses
    }

    /// Returns the packets that found no room at this output since the start of the run. Copies do not count.
    #[must_use]
    pub fn overflowed_packets(&self) -> u64 {
        self.overflowed
    }

    /// Returns true if the peer is requested to pause the priority now.
    #[must_use]
    pub fn requests_pause(&self, priority: u8) -> bool {
        self.asked >> priority & 1 != 0
    }

    /// Returns the bytes of a lossless priority that came in by this port and wait anywhere in the switch.
    #[must_use]
    pub fn held_bytes(&self, priority: u8) -> u64 {
        self.held_bytes[usize::from(priority)]
    }
}

/// A switch with output queues, a shared buffer, ECN and PFC.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Switch {
    pub(super) ports: Vec<SwitchPort>,
    pub(super) routes: Routes,
    buffer_bytes: u64,
    /// Bytes of the shared buffer that packets of lossy priorities may fill.
    lossy_bytes: u64,
    alpha: u32,
    ecn: Option<EcnParams>,
    pfc: Option<PfcParams>,
    used_bytes: u64,
    used_bytes_max: u64,
    rng: Rng,
    pub(super) drops: DropCounters,
    pub(super) sharers: Option<Box<PageSharers>>,
}

impl Switch {
    /// Creates a switch with one port per element of `ports`. `headroom_bytes` of the buffer are reserved for packets
    /// in flight when a pause has been requested; packets of lossy priorities do not use them. `random` is a seed and
    /// the number of a random stream.
    #[must_use]
    pub fn new(
        params: &SwitchParams,
        ports: Vec<Egress>,
        routes: Routes,
        headroom_bytes: u64,
        random: (u64, u64),
    ) -> Self {
        let port =
            |egress| SwitchPort { egress, held_bytes: Box::default(), asked: 0, marked: 0, pauses: 0, overflowed: 0 };
        Self {
            ports: ports.into_iter().map(port).collect(),
            routes,
            buffer_bytes: params.buffer_bytes,
            lossy_bytes: params.buffer_bytes.saturating_sub(headroom_bytes),
            alpha: params.alpha,
            ecn: params.ecn,
            pfc: params.pfc,
            used_bytes: 0,
            used_bytes_max: 0,
            rng: Rng::new(random.0, random.1),
            drops: DropCounters::default(),
            sharers: params.sharers.as_ref().map(|sharers| Box::new(PageSharers::new(sharers))),
        }
    }

    /// Returns an output port.
    pub(super) fn port_mut(&mut self, port: u16) -> Option<&mut Egress> {
        self.ports.get_mut(usize::from(port)).map(|port| &mut port.egress)
    }

    /// Prefetches the data that a packet needs.
    #[inline(always)]
    pub(super) fn fetch(&self, id: PacketId, packets: &Packets, ahead: PrefetchStage) {
        match ahead {
            PrefetchStage::Tens => {
                packets.fetch(id);
                prefetch_index(std::slice::from_ref(&self.routes), 0);
                prefetch_index(std::slice::from_ref(&self.used_bytes), 0);
            }
            PrefetchStage::Several => self.routes.fetch(packets.get(id).to),
            PrefetchStage::Few => {
                let packet = packets.get(id);
                if let Some(way) = self.routes.port(packet.flow, packet.from, packet.to) {
                    prefetch_index(&self.ports, usize::from(way));
                    prefetch_index(&self.ports, usize::from(way) + 1);
                }
            }
            PrefetchStage::None => {}
        }
    }

    /// Prefetches the data that a port needs to send.
    #[inline(always)]
    pub(super) fn fetch_port(&self, port: u16, packets: &Packets, ahead: PrefetchStage) {
        match ahead {
            PrefetchStage::Tens => prefetch_index(std::slice::from_ref(&self.used_bytes), 0),
            PrefetchStage::Several => {
                prefetch_index(&self.ports, usize::from(port));
                prefetch_index(&self.ports, usize::from(port) + 1);
            }
            PrefetchStage::Few => self.ports[usize::from(port)].egress.fetch(),
            PrefetchStage::None => self.ports[usize::from(port)].egress.fetch_next(packets),
        }
    }

    /// Handles a packet that has come in by `port`.
    #[inline]
    pub fn on_packet(&mut self, id: PacketId, port: u16, context: &mut NetContext) {
        // Before routing: the switch answers for the pages that it decides about.
        if self.sharers.is_some() && self.decide(id, port, context) {
            return;
        }
        let now = context.now();
        let packet = context.packets.get_mut(id);
        packet.queue = port;
        if packet.corrupt {
            return self.drop(id, DropReason::Corrupt, context);
        }
        let Some(way) = self.routes.port(packet.flow, packet.from, packet.to) else {
            return self.drop(id, DropReason::NoRoute, context);
        };
        let (flow, priority, ip_bytes) = (packet.flow, packet.priority % PRIORITIES as u8, packet.ip_bytes);
        let way = usize::from(way);
        let out = &mut self.ports[way];
        if !out.egress.is_free(now, priority) {
            return self.queue_up(id, (port, way), (priority, ip_bytes), context);
        }
        // Nothing waits before the packet: what could be sent would have been.
        if packet.ecn == Ecn::Capable && self.ecn.as_ref().is_some_and(|ecn| marks(ecn, 0, 0, &mut self.rng)) {
            packet.ecn = Ecn::Marked;
            out.marked += 1;
        }
        // A packet that is sent at once takes no buffer.
        if let Some(reason) = out.egress.put_on_wire(id, context) {
            self.drops.count(flow, ip_bytes, reason);
        }
    }

    /// Enqueues a packet that has come in by the first port and leaves by the second one, if there is room.
    #[inline]
    fn queue_up(
        &mut self,
        id: PacketId,
        (port, way): (u16, usize),
        (priority, ip_bytes): (u8, u32),
        context: &mut NetContext,
    ) {
        if !self.has_room(way, priority, u64::from(ip_bytes), 0) {
            return self.refuse(id, port, way, context);
        }
        self.mark(way, priority, id, (0, 0), context);
        self.hold(port, priority, u64::from(ip_bytes), context);
        self.ports[way].egress.enqueue(id, priority, ip_bytes, context);
    }

    /// Handles a port that may send its next packet.
    #[inline]
    pub fn on_ready(&mut self, port: u16, context: &mut NetContext) {
        if let Some(left) = self.ports[usize::from(port)].egress.on_ready(context) {
            // In this order: a lost packet has left the buffer all the same.
            self.release(&left, context);
            self.note_loss(&left);
        }
    }

    /// Sends a packet whose bytes are held in the buffer, or enqueues it at the port.
    pub(super) fn send(&mut self, id: PacketId, port: usize, context: &mut NetContext) {
        if let Some(left) = self.ports[port].egress.push(id, context) {
            self.release(&left, context);
            self.note_loss(&left);
        }
    }

    /// Handles a request of a port's peer for a pause, or for its end.
    pub fn on_pause(&mut self, port: u16, priority: u8, on: bool, context: &mut NetContext) {
        self.ports[usize::from(port)].egress.on_pause(priority, on, context);
    }

    /// Returns true if the buffer admits a packet that has to wait. A lossless priority may fill the whole buffer; any
    /// other priority may fill its share (alpha) of the free space. `beside` are bytes in flight to the same queue.
    #[inline]
    pub(super) fn has_room(&self, way: usize, priority: u8, ip_bytes: u64, beside: u64) -> bool {
        if self.is_lossless(priority) {
            // PFC pauses the peer first, so no share limits a lossless priority.
            return self.used_bytes + ip_bytes <= self.buffer_bytes;
        }
        let free = self.lossy_bytes.saturating_sub(self.used_bytes);
        // `u32::MAX` stands for an unlimited share.
        let share = if self.alpha == u32::MAX {
            return ip_bytes <= free;
        } else {
            // Dynamic threshold (Choudhury and Hahne, 1998): alpha in units of 2^-16, times the free memory.
            (u128::from(free) * u128::from(self.alpha)) >> 16
        };
        ip_bytes <= free && u128::from(self.ports[way].egress.waiting_of(priority).1 + beside + ip_bytes) <= share
    }

    #[inline]
    fn is_lossless(&self, priority: u8) -> bool {
        self.pfc.is_some_and(|pfc| pfc.priorities >> priority & 1 != 0)
    }

    /// Marks a packet (ECN) if too many packets or bytes wait before it. `beside` are packets and bytes in flight to
    /// the same queue.
    #[inline]
    pub(super) fn mark(
        &mut self,
        way: usize,
        priority: u8,
        id: PacketId,
        beside: (u32, u64),
        context: &mut NetContext,
    ) {
        let Some(ecn) = self.ecn else { return };
        let (packets, bytes) = self.ports[way].egress.waiting_of(priority);
        let (packets, bytes) = (packets + beside.0, bytes + beside.1);
        let packet = context.packets.get_mut(id);
        // Other packets are not dropped instead: the buffer is the only limit for them.
        if packet.ecn == Ecn::Capable && marks(&ecn, packets, bytes, &mut self.rng) {
            packet.ecn = Ecn::Marked;
            self.ports[way].marked += 1;
        }
    }

    /// Adds a packet that came in by `port` to the buffer. Requests a pause from the peer if the port reaches XOFF.
    #[inline]
    pub(super) fn hold(&mut self, port: u16, priority: u8, ip_bytes: u64, context: &mut NetContext) {
        self.used_bytes += ip_bytes;
        self.used_bytes_max = self.used_bytes_max.max(self.used_bytes);
        // Lossy priorities are never paused, so their ingress is not counted.
        let Some(pfc) = self.pfc.filter(|_| self.is_lossless(priority)) else { return };
        let port = &mut self.ports[usize::from(port)];
        port.held_bytes[usize::from(priority)] += ip_bytes;
        if port.held_bytes(priority) >= pfc.xoff_bytes && !port.requests_pause(priority) {
            port.asked |= 1 << priority;
            port.pauses += 1;
            port.egress.request_pause(priority, true, context);
        }
    }

    /// Removes a packet from the buffer. Ends the pause of the peer if the port is down to XON.
    #[inline]
    pub(super) fn release(&mut self, left: &DepartedPacket, context: &mut NetContext) {
        self.used_bytes -= u64::from(left.ip_bytes);
        let Some(pfc) = self.pfc.filter(|_| self.is_lossless(left.priority)) else { return };
        let port = &mut self.ports[usize::from(left.queue)];
        port.held_bytes[usize::from(left.priority)] -= u64::from(left.ip_bytes);
        // Two thresholds, so that a queue at the limit does not send a pause per packet.
        if port.held_bytes(left.priority) <= pfc.xon_bytes && port.requests_pause(left.priority) {
            port.asked &= !(1 << left.priority);
            port.egress.request_pause(left.priority, false, context);
        }
    }

    /// Drops a packet that finds no room at its output port.
    #[cold]
    pub(super) fn overflow(&mut self, id: PacketId, way: usize, context: &mut NetContext) {
        // A lost copy harms nobody.
        self.ports[way].overflowed += u64::from(!context.packets.get(id).copy);
        self.drop(id, DropReason::Full, context);
    }

    pub(super) fn drop(&mut self, id: PacketId, reason: DropReason, context: &mut NetContext) {
        let packet = context.packets.remove(id);
        self.drops.count_pool(&packet);
        self.drops.count(packet.flow, packet.ip_bytes, reason.for_packet(&packet));
    }

    #[inline]
    fn note_loss(&mut self, left: &DepartedPacket) {
        if let Some(reason) = left.dropped {
            self.drops.count(left.flow, left.ip_bytes, reason);
        }
    }

    /// Moves the waiting packets from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.ports.iter_mut().for_each(|port| port.egress.move_packets(from, to));
    }

    /// Begins a new measurement window.
    pub fn reset(&mut self, now: Time) {
        self.used_bytes_max = self.used_bytes;
        self.drops.reset_pool();
        self.sharers.iter_mut().for_each(|sharers| sharers.reset());
        self.ports.iter_mut().for_each(|port| port.egress.reset(now));
    }

    /// Brings the queue statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.egress.settle(now));
    }

    /// Returns the ports, in the order of the cables.
    #[must_use]
    pub fn ports(&self) -> &[SwitchPort] {
        &self.ports
    }

    /// Returns the bytes of a lossless priority from one port at which its pause ends (XON); none without PFC.
    #[must_use]
    pub fn xon_bytes(&self) -> Option<u64> {
        self.pfc.map(|pfc| pfc.xon_bytes)
    }

    /// Returns the routes.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// Returns the drop counters, including packets lost on outgoing cables and copies.
    #[must_use]
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }

    /// Returns the bytes of waiting packets in the shared buffer.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Returns the maximum number of bytes in the shared buffer since the last reset.
    #[must_use]
    pub fn used_bytes_max(&self) -> u64 {
        self.used_bytes_max
    }
}

/// Returns true if a packet that finds `packets` packets and `bytes` bytes waiting is marked.
#[inline]
fn marks(ecn: &EcnParams, packets: u32, bytes: u64, rng: &mut Rng) -> bool {
    match *ecn {
        EcnParams::Packets(threshold) => packets >= threshold,
        EcnParams::Bytes(threshold) => bytes >= threshold,
        EcnParams::Ramp { min_bytes, max_bytes, most } => {
            // RED with the parameters of DCQCN: above the maximum every packet is marked.
            if bytes >= max_bytes {
                return true;
            }
            if bytes <= min_bytes {
                return false;
            }
            let above = u128::from(bytes - min_bytes);
            let share = above * u128::from(most) / u128::from(max_bytes.saturating_sub(min_bytes).max(1));
            // No random number below the minimum, so that marks of other packets do not shift.
            share > 0 && rng.chance(share as u64)
        }
    }
}
