//! A host without a host network: ends of flows at the end of a cable. Nothing in it costs anything but its latency.

use super::drops::{DropReason, Drops};
use super::egress::{Egress, Left};
use super::engines::{Compressor, Restorer};
use super::flow_end::FlowEnd;
use super::flow_index::FlowIndex;
use super::port_queues::PRIORITIES;
use super::ranked::Ranks;
use super::served::Services;
use crate::flow::Workers;
use crate::line::{PacketId, Packets};
use crate::met::{Limit, Met};
use crate::params::{CompressParams, Written};
use crate::part::{NetContext, Payload};
use hostnet_kernel::{Ahead, ComponentId, Scheduler, Time};
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A host without a host network.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Endpoint {
    ports: Vec<Egress>,
    /// Ends with something to send that wait for room, in turn; for each priority of each port.
    blocked: Vec<VecDeque<u32>>,
    /// Packets of a priority that wait at a port at most.
    queue_packets: u32,
    pub(super) ends: Vec<FlowEnd>,
    by_flow: FlowIndex,
    services: Option<Box<Services>>,
    pub(super) ranks: Option<Box<Ranks>>,
    /// What restores packets that were made smaller.
    restorer: Option<Box<Restorer>>,
    drops: Drops,
    met: Met,
}

impl Endpoint {
    /// A host with `ports` and `ends` of flows, in order of the flows. A port queues
    /// `queue_packets` packets of a priority at most.
    #[must_use]
    pub fn new(ports: Vec<Egress>, queue_packets: u32, ends: Vec<FlowEnd>) -> Self {
        let by_flow = FlowIndex::new(ends.iter().map(FlowEnd::flow).collect());
        let blocked = vec![VecDeque::new(); ports.len() * PRIORITIES];
        let queue_packets = queue_packets.max(1);
        let services = Services::new(&ends);
        Self {
            ports,
            blocked,
            queue_packets,
            ends,
            by_flow,
            services,
            ranks: None,
            restorer: None,
            drops: Drops::default(),
            met: Met::default(),
        }
    }

    /// The same with engines that make packets of these flows smaller, and restore those, in ascending order.
    #[must_use]
    pub fn with_engines(mut self, params: CompressParams, out: &[(u32, Written)], into: Vec<u32>) -> Self {
        self.ports.iter_mut().for_each(|port| port.compress(Compressor::new(params.clone(), out.to_vec())));
        self.restorer = Some(Box::new(Restorer::new(params, into)));
        self
    }

    /// Limits that have come into play.
    #[must_use]
    pub fn met(&self) -> Met {
        self.met
    }

    /// What restores packets that were made smaller, if anything does.
    #[must_use]
    pub fn restorer(&self) -> Option<&Restorer> {
        self.restorer.as_deref()
    }

    /// Has every end that begins a flow do so at its time.
    pub(super) fn begin(&self, id: ComponentId, scheduler: &mut Scheduler<Payload>) {
        for (index, end) in self.ends.iter().enumerate() {
            if let Some(time) = end.begins_at() {
                scheduler.send(id, id, time.ps(), Payload::Begin { connection: index as u32 });
            }
        }
        self.begin_ranks(id, scheduler);
    }

    /// Has what a packet needs fetched.
    #[inline(always)]
    pub(super) fn fetch(&self, id: PacketId, packets: &Packets, ahead: Ahead) {
        match ahead {
            Ahead::Tens => {
                packets.fetch(id);
                prefetch_index(std::slice::from_ref(self), 0);
            }
            Ahead::Several => self.by_flow.fetch(packets.get(id).flow),
            Ahead::Few => {
                if let Some(end) = self.end_of(packets.get(id).flow) {
                    self.ends[end as usize].fetch();
                }
                prefetch_index(&self.ports, 0);
            }
            Ahead::None => {}
        }
    }

    /// Has what a port needs to send fetched.
    #[inline(always)]
    pub(super) fn fetch_port(&self, port: u16, packets: &Packets, ahead: Ahead) {
        match ahead {
            Ahead::Tens => prefetch_index(std::slice::from_ref(self), 0),
            Ahead::Several => prefetch_index(&self.ports, usize::from(port)),
            Ahead::Few => self.ports[usize::from(port)].fetch(),
            Ahead::None => self.ports[usize::from(port)].fetch_next(packets),
        }
    }

    /// A packet has come in. If it was made smaller, it is restored first, and comes again.
    #[inline]
    pub(super) fn on_packet(&mut self, id: PacketId, port: u16, context: &mut NetContext) {
        if port != Restorer::PORT && self.restorer.is_some() && self.restore(id, context) {
            return;
        }
        context.packets.pass(id, context.id, context.now());
        let mut packet = context.packets.remove(id);
        if packet.corrupt {
            return self.drops.count(packet.flow, packet.ip_bytes, DropReason::Corrupt.of(&packet));
        }
        let Some(end) = self.end_of(packet.flow) else {
            return self.drops.count(packet.flow, packet.ip_bytes, DropReason::NoRoute.of(&packet));
        };
        self.ends[end as usize].on_packet(&mut packet, context.now());
        self.advance(end, context);
    }

    /// Whether a packet has to be restored before it is received, or is lost.
    fn restore(&mut self, id: PacketId, context: &mut NetContext) -> bool {
        let Some(restorer) = &mut self.restorer else { return false };
        let now = context.now();
        match restorer.take(context.packets.get_mut(id), now) {
            None => return false,
            Some(Some(delay_ps)) => {
                context.send(context.id, delay_ps, Payload::Packet { id, port: Restorer::PORT });
            }
            Some(None) => {
                let packet = context.packets.remove(id);
                self.drops.count(packet.flow, packet.ip_bytes, DropReason::Full);
            }
        }
        true
    }

    /// The end here of a flow.
    #[inline]
    fn end_of(&self, flow: u32) -> Option<u32> {
        // With one flow the table would only be one more thing to fetch.
        if let [only] = self.ends.as_slice() {
            return (only.flow() == flow).then_some(0);
        }
        self.by_flow.end_of(flow)
    }

    /// The time of an end has come: its beginning, or what its application waited for. What comes after the ends are
    /// the services and ranks.
    pub(super) fn on_begin(&mut self, end: u32, context: &mut NetContext) {
        if let Some(service) = end.checked_sub(self.ends.len() as u32) {
            if service as usize >= self.services().len() {
                return self.on_rank(end, context);
            }
            return self.on_served(service, context);
        }
        if self.ends[end as usize].on_wake(context.now()) {
            self.advance(end, context);
        }
    }

    /// A worker of a service has served a request, or more of them have.
    fn on_served(&mut self, service: u32, context: &mut NetContext) {
        let now = context.now();
        while let Some((end, number)) = self.services.as_mut().and_then(|services| services.served(service, now)) {
            self.ends[end as usize].tell(now, |application| application.serve(number));
            self.advance(end, context);
        }
        let to_set = self.services.as_mut().and_then(|services| services.event(service));
        self.arm_service(to_set, context);
    }

    /// Hands requests that have come to their workers.
    fn take_requests(&mut self, end: u32, context: &mut NetContext) {
        let Some(services) = &mut self.services else { return };
        let to_set = services.take(end, &mut self.ends[end as usize], context.now());
        self.arm_service(to_set, context);
    }

    fn arm_service(&self, to_set: Option<(u32, Time)>, context: &mut NetContext) {
        if let Some((service, time)) = to_set {
            let delay_ps = time.ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay_ps, Payload::Begin { connection: self.ends.len() as u32 + service });
        }
    }

    /// A timer of a transport has come.
    pub(super) fn on_timer(&mut self, end: u32, generation: u32, context: &mut NetContext) {
        if self.ends[end as usize].on_timer(generation, context.now()) {
            self.advance(end, context);
        }
    }

    /// A port may send its next packet.
    #[inline]
    pub(super) fn on_ready(&mut self, port: u16, context: &mut NetContext) {
        let Some(left) = self.ports[usize::from(port)].on_ready(context) else { return };
        self.note_loss(&left);
        let list = usize::from(port) * PRIORITIES + usize::from(left.priority);
        while self.has_room(port, left.priority) {
            let Some(end) = self.blocked[list].pop_front() else { return };
            self.ends[end as usize].set_blocked(false);
            // One packet each, in turn.
            if self.send_one(end, context) {
                self.block(end);
            }
            self.arm(end, context);
        }
    }

    /// The peer of a port asks for a pause, or for its end.
    pub(super) fn on_pause(&mut self, port: u16, priority: u8, on: bool, context: &mut NetContext) {
        self.ports[usize::from(port)].on_pause(priority, on, context);
    }

    /// Has an end do all that it can do now.
    #[inline]
    fn advance(&mut self, end: u32, context: &mut NetContext) {
        if self.services.is_some() {
            self.take_requests(end, context);
        }
        self.flush(end, context);
        if self.ranks.is_some() {
            self.hand_over(end, context);
        }
    }

    /// Has an end send all that it can send now.
    #[inline]
    pub(super) fn flush(&mut self, end: u32, context: &mut NetContext) {
        let at = &self.ends[end as usize];
        let (port, priority) = (at.port(), at.priority());
        while !self.ends[end as usize].is_blocked() {
            if !self.has_room(port, priority) {
                if self.ends[end as usize].may_have_more(context.now()) {
                    self.block(end);
                }
                break;
            }
            if !self.send_one(end, context) {
                break;
            }
        }
        self.arm(end, context);
    }

    #[inline]
    fn has_room(&self, port: u16, priority: u8) -> bool {
        self.ports[usize::from(port)].waiting_of(priority).0 < self.queue_packets
    }

    fn block(&mut self, end: u32) {
        let at = &mut self.ends[end as usize];
        at.set_blocked(true);
        self.met.set(Limit::PortQueue);
        let list = usize::from(at.port()) * PRIORITIES + usize::from(at.priority());
        self.blocked[list].push_back(end);
    }

    /// Sends the next packet of an end, if it has one.
    #[inline]
    fn send_one(&mut self, end: u32, context: &mut NetContext) -> bool {
        let at = &mut self.ends[end as usize];
        let Some(packet) = at.next(context.now()) else { return false };
        let port = at.port();
        let id = context.packets.insert(packet);
        if let Some(left) = self.ports[usize::from(port)].push(id, context) {
            self.note_loss(&left);
        }
        true
    }

    /// Sets the timers of an end, as far as those on their way come too late.
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

    #[inline]
    fn note_loss(&mut self, left: &Left) {
        if let Some(reason) = left.dropped {
            self.drops.count(left.flow, left.ip_bytes, reason);
        }
    }

    /// Moves the packets that wait from one store to another.
    pub(super) fn move_packets(&mut self, from: &mut Packets, to: &mut Packets) {
        self.ports.iter_mut().for_each(|port| port.move_packets(from, to));
    }

    /// Begins a new measuring window.
    pub fn reset(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.reset(now));
        self.ends.iter_mut().for_each(FlowEnd::reset);
        self.restorer.iter_mut().for_each(|restorer| restorer.reset(now));
        self.services.iter_mut().for_each(|services| services.reset(now));
        self.reset_sums(now);
    }

    /// Brings the queue statistics up to `now`.
    pub fn settle(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.settle(now));
        self.services.iter_mut().for_each(|services| services.settle(now));
    }

    /// Its applications begin nothing new.
    pub fn stop(&mut self) {
        self.ends.iter_mut().for_each(FlowEnd::stop);
    }

    /// The ports, in the order of the cables that end here.
    #[must_use]
    pub fn ports(&self) -> &[Egress] {
        &self.ports
    }

    /// The ends of flows here, in order of the flows.
    #[must_use]
    pub fn ends(&self) -> &[FlowEnd] {
        &self.ends
    }

    /// The workers of its services.
    #[must_use]
    pub fn services(&self) -> &[Workers] {
        self.services.as_ref().map_or(&[], |services| services.workers())
    }

    /// What was dropped here: damaged packets that came in, copies of packets for others, and those that its cables
    /// lost on the way out.
    #[must_use]
    pub fn drops(&self) -> &Drops {
        &self.drops
    }
}
