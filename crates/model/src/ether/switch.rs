//! A switch with output queues in one shared memory.

use super::drops::{DropReason, Drops};
use super::egress::{Egress, Left};
use super::port_queues::PRIORITIES;
use super::routes::Routes;
use super::sharers::Sharers;
use crate::line::{Ecn, PacketId, Packets};
use crate::params::{EcnParams, PfcParams, SwitchParams};
use crate::part::NetContext;
use hostnet_kernel::{Ahead, Rng, Time};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// A port: its way out, and what came in by it and still waits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    pub(super) egress: Egress,
    /// Bytes per lossless priority that came in here and wait anywhere in the switch.
    held_bytes: Box<[u64; PRIORITIES]>,
    /// One bit per priority: the peer was asked for a pause.
    asked: u8,
    marked: u64,
    pauses: u64,
    overflowed: u64,
}

impl Port {
    /// The way out.
    #[must_use]
    pub fn egress(&self) -> &Egress {
        &self.egress
    }

    /// Packets that were marked on their way out since the start of the run.
    #[must_use]
    pub fn marked_packets(&self) -> u64 {
        self.marked
    }

    /// Pauses that the peer was asked for since the start of the run.
    #[must_use]
    pub fn pauses_asked(&self) -> u64 {
        self.pauses
    }

    /// Packets that found no room on their way out since the start of the run; copies are none.
    #[must_use]
    pub fn overflowed_packets(&self) -> u64 {
        self.overflowed
    }

    /// Whether the peer is asked to pause a priority now.
    #[must_use]
    pub fn asks_pause(&self, priority: u8) -> bool {
        self.asked >> priority & 1 != 0
    }

    /// Bytes of a lossless priority that came in here and wait anywhere in the switch.
    #[must_use]
    pub fn held_bytes(&self, priority: u8) -> u64 {
        self.held_bytes[usize::from(priority)]
    }
}

/// A switch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Switch {
    pub(super) ports: Vec<Port>,
    pub(super) routes: Routes,
    buffer_bytes: u64,
    /// What packets of priorities that may be lost may fill.
    lossy_bytes: u64,
    alpha: u32,
    ecn: Option<EcnParams>,
    pfc: Option<PfcParams>,
    used_bytes: u64,
    used_bytes_max: u64,
    rng: Rng,
    pub(super) drops: Drops,
    pub(super) sharers: Option<Box<Sharers>>,
}

impl Switch {
    /// A switch with a port per element of `ports`. `headroom_bytes` of the memory are kept for what is still on its
    /// way when a pause has been asked for: packets that may be lost do not get them. `random` is a seed and the number
    /// of the random stream.
    #[must_use]
    pub fn new(
        params: &SwitchParams,
        ports: Vec<Egress>,
        routes: Routes,
        headroom_bytes: u64,
        random: (u64, u64),
    ) -> Self {
        let port = |egress| Port { egress, held_bytes: Box::default(), asked: 0, marked: 0, pauses: 0, overflowed: 0 };
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
            drops: Drops::default(),
            sharers: params.sharers.as_ref().map(|sharers| Box::new(Sharers::new(sharers))),
        }
    }

    /// Has what a packet needs fetched.
    #[inline(always)]
    pub(super) fn fetch(&self, id: PacketId, packets: &Packets, ahead: Ahead) {
        match ahead {
            Ahead::Tens => {
                packets.fetch(id);
                prefetch_index(std::slice::from_ref(&self.routes), 0);
                prefetch_index(std::slice::from_ref(&self.used_bytes), 0);
            }
            Ahead::Several => self.routes.fetch(packets.get(id).to),
            Ahead::Few => {
                let packet = packets.get(id);
                if let Some(way) = self.routes.port(packet.flow, packet.from, packet.to) {
                    prefetch_index(&self.ports, usize::from(way));
                    prefetch_index(&self.ports, usize::from(way) + 1);
                }
            }
            Ahead::None => {}
        }
    }

    /// Has what a port needs to send fetched.
    #[inline(always)]
    pub(super) fn fetch_port(&self, port: u16, packets: &Packets, ahead: Ahead) {
        match ahead {
            Ahead::Tens => prefetch_index(std::slice::from_ref(&self.used_bytes), 0),
            Ahead::Several => {
                prefetch_index(&self.ports, usize::from(port));
                prefetch_index(&self.ports, usize::from(port) + 1);
            }
            Ahead::Few => self.ports[usize::from(port)].egress.fetch(),
            Ahead::None => self.ports[usize::from(port)].egress.fetch_next(packets),
        }
    }

    /// A packet has come in by `port`.
    #[inline]
    pub fn on_packet(&mut self, id: PacketId, port: u16, context: &mut NetContext) {
        if self.sharers.is_some() && self.decide(id, port, context) {
            return;
        }
        let packet = context.packets.get_mut(id);
        packet.queue = port;
        if packet.corrupt {
            return self.drop(id, DropReason::Corrupt, context);
        }
        let Some(way) = self.routes.port(packet.flow, packet.from, packet.to) else {
            return self.drop(id, DropReason::NoRoute, context);
        };
        let (priority, ip_bytes) = (packet.priority % PRIORITIES as u8, packet.ip_bytes);
        let way = usize::from(way);
        let free = self.ports[way].egress.is_free(context.now(), priority);
        if !free && !self.has_room(way, priority, u64::from(ip_bytes), 0) {
            return self.refuse(id, port, way, context);
        }
        self.mark(way, priority, id, (0, 0), context);
        if !free {
            self.hold(port, priority, u64::from(ip_bytes), context);
        }
        if let Some(left) = self.ports[way].egress.push(id, context) {
            self.note_loss(&left);
        }
    }

    /// A port may send its next packet.
    #[inline]
    pub fn on_ready(&mut self, port: u16, context: &mut NetContext) {
        if let Some(left) = self.ports[usize::from(port)].egress.on_ready(context) {
            self.release(&left, context);
            self.note_loss(&left);
        }
    }

    /// Puts a packet that was held on the wire of a port, or into its queue.
    pub(super) fn send(&mut self, id: PacketId, port: usize, context: &mut NetContext) {
        if let Some(left) = self.ports[port].egress.push(id, context) {
            self.release(&left, context);
            self.note_loss(&left);
        }
    }

    /// The peer of a port asks for a pause, or for its end.
    pub fn on_pause(&mut self, port: u16, priority: u8, on: bool, context: &mut NetContext) {
        self.ports[usize::from(port)].egress.on_pause(priority, on, context);
    }

    /// Whether a packet that has to wait finds room. One of a lossless priority may fill the memory; any other may fill
    /// its share of what is free. `beside` are bytes that are on their way to the queue.
    #[inline]
    pub(super) fn has_room(&self, way: usize, priority: u8, ip_bytes: u64, beside: u64) -> bool {
        if self.is_lossless(priority) {
            return self.used_bytes + ip_bytes <= self.buffer_bytes;
        }
        let free = self.lossy_bytes.saturating_sub(self.used_bytes);
        let share = if self.alpha == u32::MAX {
            return ip_bytes <= free;
        } else {
            (u128::from(free) * u128::from(self.alpha)) >> 16
        };
        ip_bytes <= free && u128::from(self.ports[way].egress.waiting_of(priority).1 + beside + ip_bytes) <= share
    }

    #[inline]
    fn is_lossless(&self, priority: u8) -> bool {
        self.pfc.is_some_and(|pfc| pfc.priorities >> priority & 1 != 0)
    }

    /// Marks a packet that finds too many before it. `beside` are packets and bytes that are on their way to the queue.
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
        if packet.ecn == Ecn::Capable && marks(&ecn, packets, bytes, &mut self.rng) {
            packet.ecn = Ecn::Marked;
            self.ports[way].marked += 1;
        }
    }

    /// A packet that came in by `port` begins to wait.
    #[inline]
    pub(super) fn hold(&mut self, port: u16, priority: u8, ip_bytes: u64, context: &mut NetContext) {
        self.used_bytes += ip_bytes;
        self.used_bytes_max = self.used_bytes_max.max(self.used_bytes);
        let Some(pfc) = self.pfc.filter(|_| self.is_lossless(priority)) else { return };
        let port = &mut self.ports[usize::from(port)];
        port.held_bytes[usize::from(priority)] += ip_bytes;
        if port.held_bytes(priority) >= pfc.xoff_bytes && !port.asks_pause(priority) {
            port.asked |= 1 << priority;
            port.pauses += 1;
            port.egress.ask_pause(priority, true, context);
        }
    }

    /// A packet no longer waits.
    #[inline]
    pub(super) fn release(&mut self, left: &Left, context: &mut NetContext) {
        self.used_bytes -= u64::from(left.ip_bytes);
        let Some(pfc) = self.pfc.filter(|_| self.is_lossless(left.priority)) else { return };
        let port = &mut self.ports[usize::from(left.queue)];
        port.held_bytes[usize::from(left.priority)] -= u64::from(left.ip_bytes);
        if port.held_bytes(left.priority) <= pfc.xon_bytes && port.asks_pause(left.priority) {
            port.asked &= !(1 << left.priority);
            port.egress.ask_pause(left.priority, false, context);
        }
    }

    /// Drops a packet for which there is no room on its way out by a port.
    #[cold]
    pub(super) fn overflow(&mut self, id: PacketId, way: usize, context: &mut NetContext) {
        self.ports[way].overflowed += u64::from(!context.packets.get(id).copy);
        self.drop(id, DropReason::Full, context);
    }

    pub(super) fn drop(&mut self, id: PacketId, reason: DropReason, context: &mut NetContext) {
        let packet = context.packets.remove(id);
        self.drops.count_pool(&packet);
        self.drops.count(packet.flow, packet.ip_bytes, reason.of(&packet));
    }

    #[inline]
    fn note_loss(&mut self, left: &Left) {
        if let Some(reason) = left.dropped {
            self.drops.count(left.flow, left.ip_bytes, reason);
        }
    }

    /// Moves the packets that wait from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.ports.iter_mut().for_each(|port| port.egress.move_packets(from, to));
    }

    /// Begins a new measuring window.
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

    /// The ports, in the order of the cables that end here.
    #[must_use]
    pub fn ports(&self) -> &[Port] {
        &self.ports
    }

    /// Bytes of a lossless priority from one port at which the end of a pause is asked for; none without PFC.
    #[must_use]
    pub fn xon_bytes(&self) -> Option<u64> {
        self.pfc.map(|pfc| pfc.xon_bytes)
    }

    /// Which port leads where.
    #[must_use]
    pub fn routes(&self) -> &Routes {
        &self.routes
    }

    /// What was dropped, on the cables of its ports outward as well; copies of packets among it.
    #[must_use]
    pub fn drops(&self) -> &Drops {
        &self.drops
    }

    /// Bytes of waiting packets in the shared memory.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// The most of them since the last reset.
    #[must_use]
    pub fn used_bytes_max(&self) -> u64 {
        self.used_bytes_max
    }
}

/// Whether a packet is marked that finds so many packets and bytes waiting.
#[inline]
fn marks(ecn: &EcnParams, packets: u32, bytes: u64, rng: &mut Rng) -> bool {
    match *ecn {
        EcnParams::Packets(threshold) => packets >= threshold,
        EcnParams::Bytes(threshold) => bytes >= threshold,
        EcnParams::Ramp { min_bytes, max_bytes, most } => {
            if bytes >= max_bytes {
                return true;
            }
            let above = u128::from(bytes.saturating_sub(min_bytes));
            let share = above * u128::from(most) / u128::from(max_bytes.saturating_sub(min_bytes).max(1));
            share > 0 && rng.chance(share as u64)
        }
    }
}
