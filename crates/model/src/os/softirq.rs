//! The softirq of a receive queue: it polls for packets, joins them and hands them to TCP (NAPI).

use super::books::Spent;
use super::gro::Joined;
use super::kernel::Owed;
use super::lines::Pace;
use super::mcn::BY_RING;
use super::run::{Choice, Task};
use super::NetStack;
use crate::lfb::Lfb;
use crate::line::{Content, Ecn, Fifo, Packet, PacketId, Packets};
use crate::part::Context;
use crate::transport::journey::Stage;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// From a core to the NIC, in ps: the NIC knows what its link adds.
pub(super) const TO_NIC_PS: u64 = 1;

/// The state of polling.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Softirq {
    queue: Option<u16>,
    /// Packets that have come and are not worked on yet.
    backlog: Fifo<Packet>,
    polling: bool,
    /// Packets taken in this poll, and when it began.
    polled: u32,
    since: Time,
    /// Of these, packets that did not come by the NIC.
    foreign: u32,
    /// The class of the packets of the last interrupt.
    class: u8,
}

impl Softirq {
    pub(super) fn new(queue: Option<u16>) -> Self {
        Self { queue, backlog: Fifo::default(), polling: false, polled: 0, since: Time::ZERO, foreign: 0, class: 0 }
    }

    /// The receive queue that it polls.
    pub(super) fn queue(&self) -> Option<u16> {
        self.queue
    }

    pub(super) fn is_polling(&self) -> bool {
        self.polling
    }

    /// Packets that have come and are not worked on yet.
    pub(super) fn waiting<'a>(&self, packets: &'a Packets) -> impl Iterator<Item = &'a Packet> {
        self.backlog.iter(packets)
    }

    /// It is to look for packets.
    pub(super) fn poll(&mut self) {
        self.polling = true;
    }
}

impl NetStack {
    /// A packet has come.
    pub(super) fn on_received(&mut self, id: PacketId, context: &mut Context) {
        let flow = context.packets.get(id).flow;
        self.counts.packets += 1;
        if let Some(index) = self.socket_of(flow) {
            self.sockets[index].counts.packets += 1;
        } else if let Some((_, end)) = self.datagrams_of(flow) {
            end.counts.packets += 1;
        }
        if self.driver.is_some() {
            self.arrive_by_dimm(id);
        } else {
            self.softirq.backlog.push(context.packets, id);
        }
        if self.stack.poll {
            self.softirq.polling = true;
        }
    }

    /// A packet is one of the softirq's.
    pub(super) fn keep_received(&mut self, id: PacketId, context: &mut Context) {
        self.softirq.backlog.push(context.packets, id);
        self.softirq.polling = true;
    }

    /// The queue has interrupted: the core reads why before it looks for packets.
    pub(super) fn on_interrupt(&mut self, context: &Context) {
        self.counts.interrupts += 1;
        self.softirq.polling |= !self.ask_cause();
        if let Some(events) = &mut self.rings.events {
            let event = events.next_line();
            if let Some(flow) = self.softirq.waiting(context.packets).next().map(|packet| packet.flow) {
                let here = self.end_of(flow).map(|index| self.class_of(index));
                let class = here.or_else(|| Some(self.moving.find(flow)?.class));
                self.softirq.class = class.unwrap_or(self.softirq.class);
            }
            self.lines.know(event, false, self.softirq.class, context);
        }
    }

    /// What the softirq does next.
    pub(super) fn next_softirq(&mut self, lfb: &mut Lfb, context: &mut Context) -> Choice {
        if !self.softirq.polling && !self.lines.leads() {
            return Choice::Nothing;
        }
        if let Some(choice) = self.next_arrival(lfb, context) {
            return choice;
        }
        match self.lines.follow(lfb, &mut self.counts, context) {
            Pace::Waiting => return Choice::Wait(Spent::Softirq),
            Pace::Until(at) => return Choice::Work(Task::Lines, at.since(context.now()), Spent::Softirq),
            Pace::Done if !self.softirq.polling => return Choice::Nothing,
            Pace::Done => {}
        }
        if self.is_held() {
            return Choice::Wait(Spent::Softirq);
        }
        if let Some(joined) = self.gro.next() {
            return Choice::Work(Task::Segment(joined), self.stack.segment_ps, Spent::Softirq);
        }
        if self.softirq.polled < self.stack.budget.clamp(1, u32::from(u16::MAX)) && !self.softirq.backlog.is_empty() {
            if let Some(id) = self.softirq.backlog.pop(context.packets) {
                if self.softirq.polled == 0 {
                    self.softirq.since = context.now();
                }
                self.softirq.polled += 1;
                let work_ps = self.packet_ps(id, context);
                return Choice::Work(Task::Packet(id), work_ps, Spent::Softirq);
            }
        }
        self.gro.flush();
        if let Some(joined) = self.gro.next() {
            return Choice::Work(Task::Segment(joined), self.stack.segment_ps, Spent::Softirq);
        }
        self.end_poll(context);
        Choice::Nothing
    }

    /// Work of the driver and IP on a packet that begins now, in ps.
    fn packet_ps(&mut self, id: PacketId, context: &mut Context) -> u64 {
        if self.stack.allocate_ps == 0 {
            return self.stack.packet_ps;
        }
        let packet = context.packets.get(id);
        let allocation_ps = self.allocation_ps(self.end_of(packet.flow), &packet.content);
        let now = context.now();
        Self::note_allocation(context.packets.get_mut(id), Stage::RxDriver, Stage::RxCopy, allocation_ps, now);
        allocation_ps + self.stack.packet_ps
    }

    /// Gives the descriptors back. What is left in the queue waits until the applications had their turn.
    fn end_poll(&mut self, context: &mut Context) {
        let now = context.now();
        let softirq = &mut self.softirq;
        let done = softirq.backlog.is_empty();
        let count = (softirq.polled - std::mem::take(&mut softirq.foreign)) as u16;
        self.counts.polls += 1;
        self.counts.polls_full += u64::from(!done);
        if done {
            self.steer(context);
        }
        if let Some(queue) = self.softirq.queue {
            let armed = done && !self.stack.poll;
            self.give_back(queue, count, armed, context);
        }
        let softirq = &mut self.softirq;
        softirq.polled = 0;
        if done {
            softirq.polling = false;
        } else {
            self.applications_until = now + now.since(softirq.since);
        }
    }

    /// The driver and IP are through with a packet.
    pub(super) fn end_packet(&mut self, id: PacketId, lfb: &mut Lfb, context: &mut Context) {
        if self.mcn.is_some() && self.passes_on(id, context) || self.holds_back(id, context) {
            return;
        }
        let packet = context.packets.remove(id);
        let by_ring = packet.queue == BY_RING;
        let completion = self.driver.is_none().then(|| if by_ring { 0 } else { self.rings.received.next_line() });
        let class = match (self.end_of(packet.flow), packet.content) {
            (Some(index), Content::Tcp(_)) => {
                self.admit(index, &packet);
                self.class_of(index)
            }
            (Some(index), Content::Udp(datagram)) => {
                self.keep_datagram(index, datagram, packet.line);
                self.class_of(index)
            }
            _ => match self.moving.find(packet.flow) {
                Some(elsewhere) => {
                    self.hand_on(packet, context);
                    elsewhere.class
                }
                None => {
                    self.counts.strangers += 1;
                    return;
                }
            },
        };
        self.registers.class = class;
        let next = !self.softirq.backlog.is_empty();
        self.softirq.foreign += u32::from(by_ring);
        let known = match completion {
            Some(completion) => {
                let known = by_ring || self.lines.know_completion(completion, next, class, context);
                self.lines.know(packet.line * 64, false, class, context);
                known
            }
            // The driver of a NIC in a DIMM has read both.
            None => context.caches.are_there(),
        };
        let owed = Owed::of_packet(&self.stack, packet.ip_bytes, if known { 2 } else { 0 });
        self.lines.owe(owed, class, lfb, &mut self.counts, context);
    }

    /// The driver is through with a packet of a connection, and perhaps with others that waited for it.
    pub(super) fn admit(&mut self, index: usize, packet: &Packet) {
        let mut next = self.sockets[index].is_next(packet).then_some(*packet);
        while let Some(packet) = next {
            self.join(index, &packet);
            let kept = self.sockets[index].next_kept();
            next = kept.filter(|packet| self.sockets[index].is_next(packet));
        }
    }

    /// A packet of a connection is joined to others.
    fn join(&mut self, index: usize, packet: &Packet) {
        let Content::Tcp(mut segment) = packet.content else { return };
        let socket = &mut self.sockets[index];
        segment.marked = packet.ecn == Ecn::Marked;
        socket.counts.marked += u64::from(segment.marked);
        if self.mark_incoming && segment.bytes > 0 && packet.ecn == Ecn::Capable {
            segment.marked = true;
            socket.counts.marked_by_host += 1;
        }
        socket.keep(&segment, packet);
        self.gro.add(index as u32, segment, &mut self.counts.met);
    }

    /// TCP has seen a segment.
    pub(super) fn end_segment(&mut self, joined: &Joined, context: &mut Context) {
        let index = joined.socket as usize;
        let now = context.now();
        let socket = &mut self.sockets[index];
        socket.connection.on_segment(now, &joined.segment);
        socket.counts.delivered += u64::from(joined.packets);
        socket.counts.joined += u64::from(joined.packets - 1);
        socket.counts.segments += 1;
        let readable = socket.connection.readable() > 0;
        let writable = socket.blocked && socket.room() > 0;
        self.want_output(index);
        if readable || writable {
            self.want_turn(index);
        }
    }
}
