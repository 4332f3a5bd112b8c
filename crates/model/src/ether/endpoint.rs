//! An endpoint: a host without a host network, with ends of flows at the end of a cable. It costs nothing but its
//! latency.

use super::drops::{DropCounters, DropReason};
use super::egress::Egress;
use super::engines::{Compressor, Decompressor};
use super::flow_end::FlowEnd;
use super::flow_index::FlowIndex;
use super::forwarder::{Forwarder, FORWARDED};
use super::port_queues::PRIORITIES;
use super::ranks::EndpointRanks;
use super::served::EndpointServices;
use crate::flow::Workers;
use crate::line::{Packet, PacketId, Packets};
use crate::met::{Limit, ReachedLimits};
use crate::params::{CompressParams, WrittenStream};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{ComponentId, PrefetchStage, Scheduler, Time};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// An endpoint: a host without a host network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    ports: Vec<Egress>,
    /// Ends that have a packet to send and wait for room at a port, served round robin; [`FORWARDED`] stands for the
    /// packets to forward. One list per port and priority.
    pub(super) blocked: Vec<VecDeque<u32>>,
    /// Maximum number of packets of a priority that may wait at a port.
    queue_packets: u32,
    pub(super) ends: Vec<FlowEnd>,
    by_flow: FlowIndex,
    pub(super) services: Option<Box<EndpointServices>>,
    pub(super) ranks: Option<Box<EndpointRanks>>,
    /// Network that carries messages whole, in place of the ports, if there is one.
    pub(super) messages: Option<ComponentId>,
    /// Decompression engine for received packets, if there is one.
    decompressor: Option<Box<Decompressor>>,
    /// Packets for other hosts, if the endpoint forwards them.
    pub(super) forwarder: Option<Box<Forwarder>>,
    drops: DropCounters,
    pub(super) met: ReachedLimits,
}

impl Endpoint {
    /// Creates an endpoint with `ports` and the `ends` of flows, which are in ascending order of flows. A port queues
    /// at most `queue_packets` packets per priority.
    #[must_use]
    pub fn new(ports: Vec<Egress>, queue_packets: u32, ends: Vec<FlowEnd>) -> Self {
        let by_flow = FlowIndex::new(ends.iter().map(FlowEnd::flow).collect());
        let blocked = vec![VecDeque::new(); ports.len() * PRIORITIES];
        let queue_packets = queue_packets.max(1);
        let services = EndpointServices::new(&ends);
        Self {
            ports,
            blocked,
            queue_packets,
            ends,
            by_flow,
            services,
            ranks: None,
            messages: None,
            decompressor: None,
            forwarder: None,
            drops: DropCounters::default(),
            met: ReachedLimits::default(),
        }
    }

    /// Adds compression engines at the ports for the flows `out`, and a decompression engine for the flows `into`,
    /// both in ascending order.
    #[must_use]
    pub fn with_engines(mut self, params: CompressParams, out: &[(u32, WrittenStream)], into: Vec<u32>) -> Self {
        self.ports.iter_mut().for_each(|port| port.compress(Compressor::new(params.clone(), out.to_vec())));
        self.decompressor = Some(Box::new(Decompressor::new(params, into)));
        self
    }

    /// Has a network carry the messages of the ranks whole, if there is one.
    #[must_use]
    pub fn with_messages(mut self, network: Option<ComponentId>) -> Self {
        self.messages = network;
        self
    }

    /// Returns a port.
    pub(super) fn port_mut(&mut self, port: u16) -> Option<&mut Egress> {
        self.ports.get_mut(usize::from(port))
    }

    /// Returns the limits of the configuration that have come into play.
    #[must_use]
    pub fn met(&self) -> ReachedLimits {
        self.met
    }

    /// Returns the decompression engine, if there is one.
    #[must_use]
    pub fn decompressor(&self) -> Option<&Decompressor> {
        self.decompressor.as_deref()
    }

    /// Schedules the start of every end that begins a flow, and of every rank.
    pub(super) fn begin(&self, id: ComponentId, scheduler: &mut Scheduler<Payload>) {
        for (index, end) in self.ends.iter().enumerate() {
            if let Some(time) = end.begins_at() {
                scheduler.send(id, id, time.ps(), Payload::Begin { connection: index as u32 });
            }
        }
        self.begin_ranks(id, scheduler);
    }

    /// Prefetches the data that a packet needs.
    #[inline(always)]
    pub(super) fn fetch(&self, id: PacketId, packets: &Packets, ahead: PrefetchStage) {
        match ahead {
            PrefetchStage::Tens => {
                packets.fetch(id);
                prefetch_index(std::slice::from_ref(self), 0);
            }
            PrefetchStage::Several => self.by_flow.fetch(packets.get(id).flow),
            PrefetchStage::Few => {
                if let Some(end) = self.end_of(packets.get(id).flow) {
                    self.ends[end as usize].fetch();
                }
                prefetch_index(&self.ports, 0);
            }
            PrefetchStage::None => {}
        }
    }

    /// Prefetches the data that a port needs to send.
    #[inline(always)]
    pub(super) fn fetch_port(&self, port: u16, packets: &Packets, ahead: PrefetchStage) {
        match ahead {
            PrefetchStage::Tens => prefetch_index(std::slice::from_ref(self), 0),
            PrefetchStage::Several => prefetch_index(&self.ports, usize::from(port)),
            PrefetchStage::Few => self.ports[usize::from(port)].fetch(),
            PrefetchStage::None => self.ports[usize::from(port)].fetch_next(packets),
        }
    }

    /// Handles a received packet. A compressed packet is decompressed first, and is then handled again as if it had
    /// come in by [`Decompressor::PORT`].
    #[inline]
    pub(super) fn on_packet(&mut self, id: PacketId, port: u16, context: &mut NetContext) {
        if port != Decompressor::PORT && self.decompressor.is_some() && self.decompress(id, context) {
            return;
        }
        // Recorded after decompression, as the receiver sees the packet.
        context.packets.pass(id, context.id, context.now());
        let packet = context.packets.get(id);
        if packet.corrupt {
            return self.drop(id, DropReason::Corrupt, context);
        }
        let Some(end) = self.end_of(packet.flow) else {
            return self.forward(id, context);
        };
        self.ends[end as usize].on_packet(packet, context.now());
        context.packets.discard(id);
        self.advance(end, context);
    }

    pub(super) fn drop(&mut self, id: PacketId, reason: DropReason, context: &mut NetContext) {
        let packet = context.packets.remove(id);
        self.drops.count(packet.flow, packet.ip_bytes, reason.for_packet(&packet));
    }

    /// Returns true if the packet goes through the decompression engine or is dropped there.
    fn decompress(&mut self, id: PacketId, context: &mut NetContext) -> bool {
        let Some(decompressor) = &mut self.decompressor else { return false };
        let now = context.now();
        match decompressor.admit(context.packets.get_mut(id), now) {
            None => return false,
            Some(Some(delay_ps)) => {
                context.send(context.id, delay_ps, Payload::Packet { id, port: Decompressor::PORT });
            }
            Some(None) => {
                let packet = context.packets.remove(id);
                self.drops.count(packet.flow, packet.ip_bytes, DropReason::Full);
            }
        }
        true
    }

    /// Returns the end of a flow at this endpoint.
    #[inline]
    pub(super) fn end_of(&self, flow: u32) -> Option<u32> {
        // With a single flow, a lookup in the table would only touch one more cache line.
        if let [only] = self.ends.as_slice() {
            return (only.flow() == flow).then_some(0);
        }
        self.by_flow.end_of(flow)
    }

    /// Handles a timer event of an end: its start, or a wake-up of its application. Numbers after those of the ends
    /// belong to services, then to ranks.
    pub(super) fn on_begin(&mut self, end: u32, context: &mut NetContext) {
        if let Some(service) = end.checked_sub(self.ends.len() as u32) {
            if service as usize >= self.services().len() {
                return self.on_rank(end, context);
            }
            return self.on_served(service, context);
        }
        // A wake-up that an earlier one has replaced changes nothing.
        if self.ends[end as usize].on_wake(context.now()) {
            self.advance(end, context);
        }
    }

    /// Handles a timer of a transport.
    pub(super) fn on_timer(&mut self, end: u32, generation: u32, context: &mut NetContext) {
        if self.ends[end as usize].on_timer(generation, context.now()) {
            self.advance(end, context);
        }
    }

    /// Handles a port that may send its next packet.
    #[inline]
    pub(super) fn on_ready(&mut self, port: u16, context: &mut NetContext) {
        let Some(left) = self.ports[usize::from(port)].on_ready(context) else { return };
        if let Some(reason) = left.dropped {
            self.drops.count(left.flow, left.ip_bytes, reason);
        }
        let list = usize::from(port) * PRIORITIES + usize::from(left.priority);
        // A free place is given to the end that has waited longest.
        while self.has_room(port, left.priority) {
            let Some(end) = self.blocked[list].pop_front() else { return };
            if end == FORWARDED {
                if self.forward_next(list, context) {
                    self.blocked[list].push_back(FORWARDED);
                }
                continue;
            }
            self.ends[end as usize].set_blocked(false);
            // Blocked ends send one packet each, round robin.
            if self.send_one(end, context) {
                self.block(end);
            }
            self.arm(end, context);
        }
    }

    /// Handles a request of a port's peer for a pause, or for its end.
    pub(super) fn on_pause(&mut self, port: u16, priority: u8, on: bool, context: &mut NetContext) {
        self.ports[usize::from(port)].on_pause(priority, on, context);
    }

    /// Advances an end as far as possible now: passes requests to workers, sends packets, and passes data to ranks.
    #[inline]
    pub(super) fn advance(&mut self, end: u32, context: &mut NetContext) {
        if self.services.is_some() {
            // Before `flush`, so that answers that need no time leave with this event.
            self.take_requests(end, context);
        }
        self.flush(end, context);
        if self.ranks.is_some() {
            self.hand_over(end, context);
        }
    }

    /// Sends packets of an end until it has no more or its port has no room.
    #[inline]
    pub(super) fn flush(&mut self, end: u32, context: &mut NetContext) {
        let at = &self.ends[end as usize];
        let (port, priority) = (at.port(), at.priority());
        let mut again = false;
        while !self.ends[end as usize].is_blocked() {
            if !self.has_room(port, priority) {
                // Only an end that has something to send waits for room.
                if self.ends[end as usize].may_have_more(context.now()) {
                    self.block(end);
                }
                break;
            }
            // Speed only: a second call finds nothing if the window is full again, or after the acknowledgement of what
            // has come.
            if again && self.ends[end as usize].is_held_by_congestion(context.now()) {
                break;
            }
            if !self.send_one(end, context) || self.ends[end as usize].is_drained() {
                break;
            }
            again = true;
        }
        self.arm(end, context);
    }

    #[inline]
    pub(super) fn has_room(&self, port: u16, priority: u8) -> bool {
        // By priority, so that a paused one does not block the others.
        self.ports[usize::from(port)].waiting_of(priority).0 < self.queue_packets
    }

    fn block(&mut self, end: u32) {
        let at = &mut self.ends[end as usize];
        at.set_blocked(true);
        self.met.set(Limit::PortQueue);
        let list = usize::from(at.port()) * PRIORITIES + usize::from(at.priority());
        self.blocked[list].push_back(end);
    }

    /// Sends the next packet of an end. Returns false if there is none.
    #[inline]
    fn send_one(&mut self, end: u32, context: &mut NetContext) -> bool {
        let at = &mut self.ends[end as usize];
        let Some(id) = at.next(context.now(), context.packets) else { return false };
        let port = at.port();
        self.send_by(port, id, context);
        true
    }

    /// Sends a packet by a port that has room.
    #[inline]
    pub(super) fn send_by(&mut self, port: u16, id: PacketId, context: &mut NetContext) {
        let &Packet { flow, ip_bytes, priority, .. } = context.packets.get(id);
        let port = &mut self.ports[usize::from(port)];
        if !port.is_free(context.now(), priority) {
            port.enqueue(id, priority, ip_bytes, context);
        } else if let Some(reason) = port.put_on_wire(id, context) {
            self.drops.count(flow, ip_bytes, reason);
        }
    }

    /// Schedules the timer events of an end, unless events are pending that are due no later.
    #[inline]
    fn arm(&mut self, end: u32, context: &mut NetContext) {
        let now = context.now();
        let at = &mut self.ends[end as usize];
        if let Some((time, generation)) = at.timer_to_set(now) {
            let delay_ps = time.ps().saturating_sub(now.ps()).max(1);
            context.send(context.id, delay_ps, Payload::Timer { connection: end, generation });
        }
        if let Some(time) = at.wake_to_set() {
            let delay_ps = time.ps().saturating_sub(now.ps()).max(1);
            context.send(context.id, delay_ps, Payload::Begin { connection: end });
        }
    }

    /// Moves the waiting packets from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.ports.iter_mut().for_each(|port| port.move_packets(from, to));
        self.forwarder.iter_mut().for_each(|forwarder| forwarder.move_packets(from, to));
    }

    /// Begins a new measurement window.
    pub fn reset(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.reset(now));
        self.ends.iter_mut().for_each(FlowEnd::reset);
        self.decompressor.iter_mut().for_each(|decompressor| decompressor.reset(now));
        self.services.iter_mut().for_each(|services| services.reset(now));
        self.reset_sums(now);
    }

    /// Brings the queue statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.settle(now));
        self.services.iter_mut().for_each(|services| services.settle(now));
    }

    /// Stops the applications: they begin nothing new.
    pub fn stop(&mut self) {
        self.ends.iter_mut().for_each(FlowEnd::stop);
    }

    /// Returns the ports, in the order of the cables.
    #[must_use]
    pub fn ports(&self) -> &[Egress] {
        &self.ports
    }

    /// Returns the ends of flows, in ascending order of flows.
    #[must_use]
    pub fn ends(&self) -> &[FlowEnd] {
        &self.ends
    }

    /// Returns the workers of each service of this endpoint.
    #[must_use]
    pub fn services(&self) -> &[Workers] {
        self.services.as_ref().map_or(&[], |services| services.workers())
    }

    /// Returns the drop counters: damaged packets received, packets for other hosts (as of flooding), packets without
    /// room at the decompression engine, and packets lost on outgoing cables.
    #[must_use]
    pub fn drops(&self) -> &DropCounters {
        &self.drops
    }
}
