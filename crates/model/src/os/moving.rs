//! Threads that go to another core, and the packets that come after them.
//!
//! A thread takes the sockets of its flow along. Packets that still come by the old receive queue are the old core's as
//! far as the driver goes; then they are handed on, as the backlog of a socket is (Linux). When the old queue is empty
//! the NIC is asked to steer the flow to the queue of the new core (accelerated RFS). What was sent before is still on
//! the old send queue: until it has left, more goes by the same queue, so that nothing overtakes (`ooo_okay` of XPS).

use super::mcn::BY_RING;
use super::run::Task;
use super::socket::Socket;
use super::softirq::TO_NIC_PS;
use super::NetStack;
use crate::line::{Content, Packet, PacketId, Packets};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// From one core to another, in ps (assumed: a line that one core stores to and the other reads).
pub(super) const TO_CORE_PS: u64 = 100_000;

/// When a thread goes, and where to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// When, in ps from the start of the run.
    pub at_ps: u64,
    /// The core that it goes to.
    pub core: ComponentId,
    /// The receive queue of that core.
    pub queue: u16,
}

/// A flow of this host whose application runs on another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigratedFlow {
    /// The flow.
    pub flow: u32,
    /// The core that it was at when this core heard of it last.
    pub core: ComponentId,
    /// The receive queue of that core.
    pub queue: u16,
    /// The class of the requests for lines that it causes.
    pub class: u8,
}

/// A socket between two cores.
#[derive(Debug)]
pub(crate) struct Passing(Box<Socket>);

/// What a core knows of threads that go, or have gone.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Moving {
    /// Sockets that go as soon as nothing here is busy with them.
    leaving: Vec<u32>,
    /// By flow; each with whether a packet of it has come here since the NIC was asked to steer it.
    elsewhere: Vec<(MigratedFlow, bool)>,
}

impl Moving {
    /// With flows that are elsewhere from the start, in ascending order.
    pub(super) fn new(elsewhere: Vec<MigratedFlow>) -> Self {
        debug_assert!(elsewhere.is_sorted_by_key(|flow| flow.flow));
        Self { leaving: Vec::new(), elsewhere: elsewhere.into_iter().map(|flow| (flow, false)).collect() }
    }

    /// Whether any socket is to go.
    pub(super) fn waits(&self) -> bool {
        !self.leaving.is_empty()
    }

    fn place(&self, flow: u32) -> Result<usize, usize> {
        self.elsewhere.binary_search_by_key(&flow, |(elsewhere, _)| elsewhere.flow)
    }

    pub(super) fn find(&self, flow: u32) -> Option<MigratedFlow> {
        self.place(flow).ok().map(|at| self.elsewhere[at].0)
    }

    /// A packet of a flow has come.
    fn meet(&mut self, flow: u32) {
        if let Ok(at) = self.place(flow) {
            self.elsewhere[at].1 = true;
        }
    }

    fn note(&mut self, elsewhere: MigratedFlow) {
        match self.place(elsewhere.flow) {
            Ok(at) => self.elsewhere[at] = (elsewhere, false),
            Err(at) => self.elsewhere.insert(at, (elsewhere, false)),
        }
    }

    fn forget(&mut self, flow: u32) {
        if let Ok(at) = self.place(flow) {
            self.elsewhere.remove(at);
        }
    }
}

impl NetStack {
    /// It is time for a thread to go.
    pub(super) fn on_move(&mut self, connection: u32) {
        let socket = &mut self.sockets[connection as usize];
        if socket.present && !socket.leaving {
            socket.leaving = true;
            self.moving.leaving.push(connection);
        }
    }

    /// Threads go that are to go and that nothing here is busy with.
    pub(super) fn depart(&mut self, context: &mut Context) {
        let mut leaving = std::mem::take(&mut self.moving.leaving);
        leaving.retain(|&index| {
            let socket = &self.sockets[index as usize];
            let hop = socket.next_hop().filter(|_| !self.is_busy_with(index));
            if let Some(hop) = hop {
                context.tell(hop.core, 0, Payload::Hop { flow: socket.params.flow, from: context.id });
            }
            hop.is_none()
        });
        self.moving.leaving = leaving;
    }

    fn is_busy_with(&self, index: u32) -> bool {
        let calling = self.calling.is_some_and(|calling| calling.is_of(index));
        let working = match self.task {
            Some(Task::Segment(joined)) => joined.socket == index,
            Some(Task::Output { socket, .. }) => socket == index,
            _ => false,
        };
        calling || working || self.gro.has(index)
    }

    /// Gives the socket of a flow away, which goes where its next hop leads.
    pub(crate) fn give(&mut self, flow: u32, own: ComponentId, packets: &Packets) -> Option<Passing> {
        let index = self.socket_of(flow)?;
        let waiting = self.waiting_of(flow, packets);
        self.ready.retain(|&other| other as usize != index);
        self.output.forget(index as u32);
        let socket = &mut self.sockets[index];
        let hop = socket.next_hop()?;
        let elsewhere = MigratedFlow { flow, core: hop.core, queue: hop.queue, class: socket.params.class };
        let left = Socket::absent(socket);
        let mut socket = Box::new(std::mem::replace(socket, left));
        socket.hops += 1;
        socket.counts.packets -= waiting;
        if socket.in_nic > 0 {
            socket.by.get_or_insert(own);
        }
        self.moving.note(elsewhere);
        Some(Passing(socket))
    }

    /// Takes the socket of a flow, whose thread has come here.
    pub(crate) fn take(&mut self, Passing(mut socket): Passing, context: &mut Context) {
        let now = context.now();
        let flow = socket.params.flow;
        let Ok(at) = self.by_flow.binary_search_by_key(&flow, |&(flow, _)| flow) else { return };
        let index = self.by_flow[at].1 as usize;
        let connection = index as u32;
        self.moving.forget(flow);
        socket.counts.packets += self.waiting_of(flow, context.packets);
        socket.generation = socket.generation.max(self.sockets[index].generation).wrapping_add(1);
        socket.timer_at = None;
        socket.ready = false;
        socket.sending = false;
        socket.asleep = true;
        socket.leaving = false;
        socket.sends_from(self.output.buffer(index));
        let wake_at = [socket.wake_at, (!socket.begun).then(|| Time::from_ps(socket.params.start_ps))];
        wake_at.into_iter().flatten().for_each(|at| {
            context.send(context.id, at.ps().saturating_sub(now.ps()).max(1), Payload::Begin { connection });
        });
        if socket.by == Some(context.id) {
            socket.by = None;
        }
        self.sockets[index] = *socket;
        self.await_hop(index, context);
        self.set_timer(index, context);
        self.want_output(index);
        context.send(context.id, 1, Payload::Begin { connection });
    }

    /// Packets of a flow that have come here and that the driver is not through with.
    fn waiting_of(&self, flow: u32, packets: &Packets) -> u64 {
        let working = match self.task {
            Some(Task::Packet(id)) => u64::from(packets.get(id).flow == flow),
            _ => 0,
        };
        working + self.softirq.waiting(packets).filter(|packet| packet.flow == flow).count() as u64
    }

    /// Sees to it that a thread goes when it is to go next.
    fn await_hop(&self, index: usize, context: &mut Context) {
        if let Some(hop) = self.sockets[index].next_hop() {
            let delay = hop.at_ps.saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay, Payload::Move { connection: index as u32 });
        }
    }

    /// The driver is through with a packet of a flow whose socket is not here: it is handed on to where that is.
    pub(super) fn hand_on(&mut self, packet: Packet, context: &mut Context) -> bool {
        let Some(MigratedFlow { core, .. }) = self.moving.find(packet.flow) else { return false };
        if packet.queue != BY_RING {
            self.moving.meet(packet.flow);
        }
        let id = context.packets.insert(packet);
        context.send(core, TO_CORE_PS, Payload::Backlog(id));
        true
    }

    /// Another core hands a packet on.
    pub(super) fn on_backlog(&mut self, id: PacketId, context: &mut Context) {
        let packet = context.packets.remove(id);
        match (self.end_of(packet.flow), packet.content) {
            (Some(index), Content::Tcp(_)) => {
                self.sockets[index].counts.packets += 1;
                self.admit(index, &packet);
                self.softirq.poll();
            }
            (Some(index), Content::Udp(datagram)) => {
                if let Some(end) = self.datagram_end(index) {
                    end.counts.packets += 1;
                }
                self.keep_datagram(index, datagram, packet.line);
                self.softirq.poll();
            }
            _ if self.hand_on(packet, context) => {}
            _ => self.counts.strangers += 1,
        }
    }

    /// The receive queue is empty: the NIC is asked to steer those flows elsewhere whose packets came here.
    pub(super) fn steer(&mut self, context: &mut Context) {
        for (MigratedFlow { flow, queue, .. }, met) in &mut self.moving.elsewhere {
            if std::mem::take(met) && Some(*queue) != self.softirq.queue() {
                let steer = Payload::Steer { flow: *flow, queue: *queue };
                context.send(self.nic, TO_NIC_PS + self.away_ps, steer);
            }
        }
    }

    /// The core by whose queue a segment of a socket goes, if not by that of this one: something is still there.
    pub(super) fn sends_by(&mut self, index: usize) -> Option<ComponentId> {
        let socket = &mut self.sockets[index];
        if socket.in_nic == 0 {
            socket.by = None;
        }
        socket.by
    }

    /// A segment is sent that another core hands on: it goes by the queue of this one.
    pub(super) fn on_transmit(&mut self, id: PacketId, context: &mut Context) {
        let flow = context.packets.get(id).flow;
        let here = self.end_of(flow).map(|index| self.class_of(index));
        let class = here.or_else(|| Some(self.moving.find(flow)?.class)).unwrap_or_default();
        self.hand_down(id, class, context);
    }
}
