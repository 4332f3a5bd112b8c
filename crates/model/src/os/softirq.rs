//! Softirq of a receive queue: it polls for packets, joins them and hands them to TCP (NAPI).

use super::counters::CoreTimeKind;
use super::delays::TO_CORE_PS;
use super::dimm::Arrival;
use super::ends::end_allocation;
use super::gro::{Gro, JoinedSegment};
use super::kernel::PendingLines;
use super::lines::LineProgress;
use super::mcn::BY_RING;
use super::task::{NextWork, Task};
use super::NetStack;
use crate::lfb::Lfb;
use crate::line::{Content, Ecn, Fifo, Packet, PacketId, Packets};
use crate::part::{Context, Payload};
use crate::transport::stage_times::Stage;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// State of polling of a receive queue.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Softirq {
    queue: Option<u16>,
    /// Packets that have arrived and are not processed yet.
    backlog: Fifo<Packet>,
    gro: Gro,
    polling: bool,
    /// Packets taken in this poll, and time of the first.
    polled: u32,
    since: Time,
    /// Packets of this poll that did not arrive by the NIC.
    foreign: u32,
    /// Class of the packets of the last interrupt.
    class: u8,
    /// True while the host marks data that arrives (congestion signals of a host controller).
    pub(super) mark_incoming: bool,
}

impl Softirq {
    /// Creates an idle softirq of a receive queue, if the core has one; it joins packets up to `gro_bytes`.
    pub(super) fn new(queue: Option<u16>, gro_bytes: u32) -> Self {
        Self {
            queue,
            backlog: Fifo::default(),
            gro: Gro::new(gro_bytes),
            polling: false,
            polled: 0,
            since: Time::ZERO,
            foreign: 0,
            class: 0,
            mark_incoming: false,
        }
    }

    /// Returns true while the softirq polls.
    pub(super) fn is_polling(&self) -> bool {
        self.polling
    }

    /// Returns the packets that have arrived and are not processed yet.
    pub(super) fn waiting<'a>(&self, packets: &'a Packets) -> impl Iterator<Item = &'a Packet> {
        self.backlog.iter(packets)
    }

    /// Returns true if packets of a connection are being joined.
    pub(super) fn has_joined(&self, socket: u32) -> bool {
        self.gro.has(socket)
    }

    /// Begins to poll.
    pub(super) fn poll(&mut self) {
        self.polling = true;
    }
}

impl NetStack {
    /// Handles the arrival of a packet from a NIC or a ring.
    pub(super) fn on_received(&mut self, id: PacketId, context: &mut Context) {
        self.counts.packets += 1;
        self.ends.count_arrival(context.packets.get(id).flow);
        match &mut self.driver.dimm {
            Some(dimm) => dimm.on_received(id),
            None => self.softirq.backlog.push(context.packets, id),
        }
        // Without interrupts every packet begins a poll.
        if self.stack.poll {
            self.softirq.polling = true;
        }
    }

    /// Handles an interrupt of the queue. The core reads the cause before it polls, if the NIC has a cause register.
    pub(super) fn on_interrupt(&mut self, context: &Context) {
        self.counts.interrupts += 1;
        self.softirq.polling |= !self.execution.cause.note_received();
        if let Some(events) = &mut self.driver.rings.events {
            let event = events.next_line();
            // The event entry counts for the workload whose packet waits.
            if let Some(flow) = self.softirq.waiting(context.packets).next().map(|packet| packet.flow) {
                self.softirq.class = self.ends.class_of_flow(flow).unwrap_or(self.softirq.class);
            }
            self.lines.access_line(event, false, self.softirq.class, context);
        }
    }

    /// Chooses the next work of the softirq.
    pub(super) fn next_softirq(&mut self, lfb: &mut Lfb, context: &mut Context) -> NextWork {
        // An event queue entry is read even if the poll is over.
        if !self.softirq.polling && !self.lines.has_known_lines() {
            return NextWork::Nothing;
        }
        if let Some(choice) = self.next_arrival(lfb, context) {
            return choice;
        }
        match self.lines.follow(lfb, &mut self.counts, context) {
            LineProgress::Waiting => return NextWork::Wait(CoreTimeKind::Softirq),
            LineProgress::Until(at) => {
                return NextWork::Work(Task::Lines, at.since(context.now()), CoreTimeKind::Softirq)
            }
            LineProgress::Done if !self.softirq.polling => return NextWork::Nothing,
            LineProgress::Done => {}
        }
        if self.driver.dimm.as_ref().is_some_and(|dimm| dimm.is_held()) {
            return NextWork::Wait(CoreTimeKind::Softirq);
        }
        // Joined segments go to TCP before more packets are taken, so that they do not wait for the poll.
        if let Some(joined) = self.softirq.gro.next() {
            return NextWork::Work(Task::Segment(joined), self.stack.segment_ps, CoreTimeKind::Softirq);
        }
        // The NIC counts descriptors of a poll in 16 bits.
        let budget = self.stack.budget.clamp(1, u32::from(u16::MAX));
        if self.softirq.polled < budget && !self.softirq.backlog.is_empty() {
            if let Some(id) = self.softirq.backlog.pop(context.packets) {
                if self.softirq.polled == 0 {
                    self.softirq.since = context.now();
                }
                self.softirq.polled += 1;
                let work_ps = self.packet_ps(id, context);
                return NextWork::Work(Task::Packet(id), work_ps, CoreTimeKind::Softirq);
            }
        }
        // GRO holds packets within a poll only (`napi_gro_flush` of Linux).
        self.softirq.gro.flush();
        if let Some(joined) = self.softirq.gro.next() {
            return NextWork::Work(Task::Segment(joined), self.stack.segment_ps, CoreTimeKind::Softirq);
        }
        self.end_poll(context);
        NextWork::Nothing
    }

    /// Chooses the next work of the driver of a NIC in a DIMM for packets that have arrived.
    fn next_arrival(&mut self, lfb: &mut Lfb, context: &mut Context) -> Option<NextWork> {
        loop {
            let dimm = self.driver.dimm.as_mut()?;
            match dimm.next_arrival(&mut self.lines, lfb, &mut self.counts, context) {
                Arrival::Busy(choice) => return Some(choice),
                Arrival::Nothing => return None,
                Arrival::Completed(id) => {
                    dimm.begin_packet(id, &self.ends, &mut self.lines, context);
                    self.softirq.backlog.push(context.packets, id);
                    self.softirq.polling = true;
                }
            }
        }
    }

    /// Ends the instruction that invalidates the completion of a packet from a NIC in a DIMM, and begins to read the
    /// completion.
    pub(super) fn end_invalidate(&mut self, id: PacketId, context: &mut Context) {
        let flow = context.packets.get(id).flow;
        let class = self.ends.end_of(flow).map_or(0, |index| self.ends.class_of(index));
        let completion = self.driver.rings.received.next_line();
        if let Some(dimm) = &mut self.driver.dimm {
            dimm.read_completion(id, class, completion, &mut self.lines, context);
        }
    }

    /// Returns the work of the driver and IP on a packet that begins now, in ps.
    fn packet_ps(&mut self, id: PacketId, context: &mut Context) -> u64 {
        if self.stack.allocate_ps == 0 {
            return self.stack.packet_ps;
        }
        let packet = context.packets.get(id);
        let (index, in_place) = (self.ends.end_of(packet.flow), self.driver.is_in_place());
        let allocation_ps = self.ends.allocation_ps(index, &packet.content, &self.stack, in_place);
        let now = context.now();
        end_allocation(context.packets.get_mut(id), Stage::RxDriver, Stage::RxCopy, allocation_ps, now);
        allocation_ps + self.stack.packet_ps
    }

    /// Ends a poll and returns its descriptors to the ring. Packets left in the queue wait until the applications have
    /// had as much time as the poll.
    fn end_poll(&mut self, context: &mut Context) {
        let now = context.now();
        let softirq = &mut self.softirq;
        let done = softirq.backlog.is_empty();
        // Packets from rings and other cores took no descriptor of the NIC.
        let count = (softirq.polled - std::mem::take(&mut softirq.foreign)) as u16;
        self.counts.polls += 1;
        self.counts.polls_full += u64::from(!done);
        // Only an empty queue lets the NIC steer: packets of the old queue must go first.
        if done {
            self.ends.migration.steer(softirq.queue, &self.driver, context);
        }
        if let Some(queue) = softirq.queue {
            // With packets left the poll goes on, so no interrupt is needed (NAPI).
            let armed = done && !self.stack.poll;
            self.driver.give_back(queue, count, armed, &mut self.lines, context);
        }
        softirq.polled = 0;
        if done {
            softirq.polling = false;
        } else {
            // `ksoftirqd` and the applications have equal weights in the scheduler (assumed).
            self.turns.applications_until = now + now.since(softirq.since);
        }
    }

    /// Ends the work of the driver and IP on a packet.
    pub(super) fn end_packet(&mut self, id: PacketId, lfb: &mut Lfb, context: &mut Context) {
        let held = |stack: &mut Self, context: &mut Context| {
            stack.driver.dimm.as_mut().is_some_and(|dimm| dimm.holds_back(id, context))
        };
        if self.passes_on(id, context) || held(self, context) {
            return;
        }
        let packet = context.packets.remove(id);
        let by_ring = packet.queue == BY_RING;
        let rings = &mut self.driver.rings;
        let completion = self.driver.dimm.is_none().then(|| if by_ring { 0 } else { rings.received.next_line() });
        let Some(class) = self.deliver(&packet, context) else {
            self.counts.strangers += 1;
            return;
        };
        self.driver.class = class;
        let next = !self.softirq.backlog.is_empty();
        self.softirq.foreign += u32::from(by_ring);
        let known = match completion {
            Some(completion) => {
                let known = by_ring || self.lines.access_completion(completion, next, class, context);
                self.lines.access_line(packet.line * 64, false, class, context);
                known
            }
            // The driver of a NIC in a DIMM has read completion and header already.
            None => context.caches.are_there(),
        };
        // Completion and header with known addresses are two of the lines per packet.
        let pending = PendingLines::of_packet(&self.stack, packet.ip_bytes, if known { 2 } else { 0 });
        self.lines.add_kernel_lines(pending, class, lfb, &mut self.counts, context);
    }

    /// Passes a packet for another machine that arrived by the NIC on to a ring. Returns false if it is for this host.
    fn passes_on(&mut self, id: PacketId, context: &mut Context) -> bool {
        let Some(mcn) = &self.driver.mcn else { return false };
        let packet = *context.packets.get(id);
        if mcn.is_own(&packet) || !mcn.transmit(id, context) {
            return false;
        }
        let class = mcn.class_of(packet.flow);
        self.driver.class = class;
        let next = self.driver.rings.received.next_line();
        self.lines.access_completion(next, false, class, context);
        self.lines.access_line(packet.line * 64, false, class, context);
        true
    }

    /// Delivers a packet to the end of its flow, here or at the core that the flow has migrated to. Returns the class
    /// of the packet, or `None` if the flow is unknown.
    fn deliver(&mut self, packet: &Packet, context: &mut Context) -> Option<u8> {
        match (self.ends.end_of(packet.flow), packet.content) {
            (Some(index), Content::Tcp(_)) => {
                self.admit(index, packet);
                Some(self.ends.class_of(index))
            }
            (Some(index), Content::Udp(datagram)) => {
                self.ends.keep_datagram(index, datagram, packet.line, self.driver.dimm.as_deref_mut());
                Some(self.ends.class_of(index))
            }
            _ => {
                let class = self.ends.migration.find(packet.flow)?.class;
                self.ends.migration.pass_packet_on(*packet, context);
                Some(class)
            }
        }
    }

    /// Handles a packet that another core passes on because its flow has migrated here.
    pub(super) fn on_backlog(&mut self, id: PacketId, context: &mut Context) {
        let packet = context.packets.remove(id);
        match (self.ends.end_of(packet.flow), packet.content) {
            (Some(_), Content::Tcp(_) | Content::Udp(_)) => {
                self.ends.count_arrival(packet.flow);
                self.deliver(&packet, context);
                self.softirq.poll();
            }
            _ if self.ends.migration.pass_packet_on(packet, context) => {}
            _ => self.counts.strangers += 1,
        }
    }

    /// Hands a packet of a connection to GRO in the order of its flow, and packets that waited for it.
    fn admit(&mut self, index: usize, packet: &Packet) {
        let mut next = self.ends.sockets[index].is_next(packet).then_some(*packet);
        // A packet that fills a gap releases those kept behind it.
        while let Some(packet) = next {
            self.join(index, &packet);
            let kept = self.ends.sockets[index].next_kept();
            next = kept.filter(|packet| self.ends.sockets[index].is_next(packet));
        }
    }

    /// Joins a packet of a connection to those before it.
    fn join(&mut self, index: usize, packet: &Packet) {
        let Content::Tcp(mut segment) = packet.content else { return };
        let socket = &mut self.ends.sockets[index];
        segment.marked = packet.ecn == Ecn::Marked;
        socket.counts.marked += u64::from(segment.marked);
        // The host marks packets before GRO, where each packet is still processed by itself.
        if self.softirq.mark_incoming && segment.bytes > 0 && packet.ecn == Ecn::Capable {
            segment.marked = true;
            socket.counts.marked_by_host += 1;
        }
        socket.keep(&segment, packet);
        self.softirq.gro.add(index as u32, segment, &mut self.counts.met);
    }

    /// Ends the work of TCP on a segment.
    pub(super) fn end_segment(&mut self, joined: &JoinedSegment, context: &mut Context) {
        let index = joined.socket as usize;
        let now = context.now();
        let socket = &mut self.ends.sockets[index];
        socket.connection.on_segment(now, &joined.segment);
        socket.counts.delivered += u64::from(joined.packets);
        socket.counts.joined += u64::from(joined.packets - 1);
        socket.counts.segments += 1;
        let readable = socket.connection.readable() > 0;
        // Only a blocked writer waits for room.
        let writable = socket.blocked && socket.room() > 0;
        self.ends.queue_output(index);
        if readable || writable {
            self.ends.queue_turn(index);
        }
    }

    /// Hands a segment or datagram to the NIC, or to the core whose send queue still has earlier segments of its flow.
    pub(super) fn end_output(&mut self, index: usize, mut packet: Packet, context: &mut Context) {
        let by = self.ends.sends_by(index);
        let class = self.ends.class_of(index);
        match packet.content {
            Content::Udp(datagram) => self.ends.count_datagram(index, datagram),
            Content::Tcp(segment) => self.ends.count_segment(index, &segment, &mut packet),
            Content::Roce(_) | Content::Pool(_) | Content::Raw => {}
        }
        packet.end(Stage::TxDriver, context.now());
        let id = context.packets.insert(packet);
        if let Some(core) = by {
            context.send(core, TO_CORE_PS, Payload::Transmit(id));
        // The rings of a memory channel network replace the NIC for hosts behind them.
        } else if !self.driver.transmit_by_ring(id, context) {
            self.driver.hand_down(id, class, &mut self.ends, &mut self.lines, context);
        }
    }

    /// Handles the completion of a segment or datagram: its data has left the NIC.
    pub(super) fn on_sent(&mut self, flow: u32, bytes: u32, context: &mut Context) {
        let completion = self.driver.rings.sent.next_line();
        let Some(index) = self.ends.end_of(flow) else {
            if let Some(elsewhere) = self.ends.migration.find(flow) {
                self.lines.access_line(completion, false, elsewhere.class, context);
                context.send(elsewhere.core, TO_CORE_PS, Payload::Left { flow, bytes });
            }
            return;
        };
        let class = self.ends.class_of(index);
        self.driver.invalidate(completion, &self.lines, context);
        if index < self.ends.sockets.len() {
            self.lines.access_line(completion, false, class, context);
        } else {
            // The core reads the completion of a datagram only once it needs the completion.
            self.lines.access_line_when_needed(completion, class, context);
        }
        self.end_sent(index, bytes);
    }

    /// Frees the resources that an end holds for bytes that have left the machine.
    pub(super) fn end_sent(&mut self, index: usize, bytes: u32) {
        if index < self.ends.sockets.len() {
            self.ends.end_sent(index, bytes);
        } else {
            self.ends.free_datagram(index, bytes, self.driver.dimm.as_deref_mut());
        }
    }

    /// Handles data of a socket that has left by the queue of another core.
    pub(super) fn on_left(&mut self, flow: u32, bytes: u32, context: &mut Context) {
        match (self.ends.socket_of(flow), self.ends.migration.find(flow)) {
            (Some(index), _) => self.ends.end_sent(index, bytes),
            (None, Some(elsewhere)) => context.send(elsewhere.core, TO_CORE_PS, Payload::Left { flow, bytes }),
            (None, None) => {}
        }
    }
}
