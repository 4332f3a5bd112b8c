//! Threads that migrate to another core, and the packets that follow them.
//!
//! A thread takes the socket of its flow along. The driver of the old core still handles the packets that arrive by
//! the old receive queue, and then passes them on, as the backlog of a socket is passed on in Linux. When the old
//! queue is empty, the NIC is requested to steer the flow to the queue of the new core (accelerated RFS). Segments
//! that were sent before are still on the old send queue: until they have left, further segments go by that queue, so
//! that nothing overtakes (`ooo_okay` of XPS).

use super::socket::Socket;
use super::FlowEnds;
use crate::line::Packet;
use crate::os::delays::TO_CORE_PS;
use crate::os::execution::Execution;
use crate::os::mcn::BY_RING;
use crate::os::nic_driver::NicDriver;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Flow of this host whose application runs on another core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MigratedFlow {
    /// Number of the flow.
    pub flow: u32,
    /// Core of the flow, as far as this core knows.
    pub core: ComponentId,
    /// Receive queue of that core.
    pub queue: u16,
    /// Class of the line requests that the flow causes.
    pub class: u8,
}

/// Socket in migration between two cores.
#[derive(Debug)]
pub(crate) struct MigratingSocket(Box<Socket>);

impl MigratingSocket {
    /// Returns the flow of the socket.
    pub(in crate::os) fn flow(&self) -> u32 {
        self.0.params.flow
    }
}

/// Threads that leave a core, or have left it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::os) struct Migration {
    /// Sockets that migrate as soon as no work here uses them.
    leaving: Vec<u32>,
    /// Flows at other cores, in ascending order; each with true if a packet of it has arrived here since the NIC was
    /// last requested to steer the flow.
    elsewhere: Vec<(MigratedFlow, bool)>,
}

impl Migration {
    /// Creates the state with flows that run on other cores from the start, in ascending order.
    pub(in crate::os) fn new(elsewhere: Vec<MigratedFlow>) -> Self {
        debug_assert!(elsewhere.is_sorted_by_key(|flow| flow.flow));
        Self { leaving: Vec::new(), elsewhere: elsewhere.into_iter().map(|flow| (flow, false)).collect() }
    }

    /// Returns true if a socket waits for its migration.
    pub(in crate::os) fn waits(&self) -> bool {
        !self.leaving.is_empty()
    }

    fn place(&self, flow: u32) -> Result<usize, usize> {
        self.elsewhere.binary_search_by_key(&flow, |(elsewhere, _)| elsewhere.flow)
    }

    /// Returns the flow if it runs on another core, as far as is known.
    pub(in crate::os) fn find(&self, flow: u32) -> Option<MigratedFlow> {
        self.place(flow).ok().map(|at| self.elsewhere[at].0)
    }

    /// Notes that a packet of a flow has arrived here.
    fn note_packet(&mut self, flow: u32) {
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

impl FlowEnds {
    /// Marks the socket of a thread whose migration is due.
    pub(in crate::os) fn begin_migration(&mut self, connection: u32) {
        let socket = &mut self.sockets[connection as usize];
        if socket.present && !socket.leaving {
            socket.leaving = true;
            self.migration.leaving.push(connection);
        }
    }

    /// Starts the migration of the leaving threads whose sockets are not `busy`.
    pub(in crate::os) fn begin_migrations(&mut self, busy: impl Fn(u32) -> bool, context: &mut Context) {
        let sockets = &self.sockets;
        self.migration.leaving.retain(|&index| {
            let socket = &sockets[index as usize];
            // A socket in use by a call or a packet leaves later (docs/models/os.md, Thread migration).
            let hop = socket.next_migration().filter(|_| !busy(index));
            if let Some(hop) = hop {
                context.notify(hop.core, 0, Payload::Hop { flow: socket.params.flow, from: context.id });
            }
            hop.is_none()
        });
    }

    /// Hands over the socket of a flow to the core that its thread migrates to. `waiting` of its packets remain in the
    /// queue of the softirq.
    pub(in crate::os) fn release_socket(
        &mut self,
        flow: u32,
        own: ComponentId,
        waiting: u64,
    ) -> Option<MigratingSocket> {
        let index = self.socket_of(flow)?;
        // Turns and output of the socket are queued anew at its new core.
        self.ready.retain(|&other| other as usize != index);
        self.output.forget(index as u32);
        let socket = &mut self.sockets[index];
        let hop = socket.next_migration()?;
        let elsewhere = MigratedFlow { flow, core: hop.core, queue: hop.queue, class: socket.params.class };
        let left = Socket::absent(socket);
        let mut socket = Box::new(std::mem::replace(socket, left));
        socket.migrations += 1;
        // Packets that wait here follow by the backlog and count where they are processed.
        socket.counts.packets -= waiting;
        // Until the NIC has sent this data, further segments go by the old send queue.
        if socket.in_nic > 0 {
            socket.by.get_or_insert(own);
        }
        self.migration.note(elsewhere);
        Some(MigratingSocket(socket))
    }

    /// Adds the socket of a flow whose thread has migrated here; `waiting` of its packets arrived here before.
    pub(in crate::os) fn adopt_socket(
        &mut self,
        MigratingSocket(mut socket): MigratingSocket,
        waiting: u64,
        execution: &mut Execution,
        context: &mut Context,
    ) {
        let now = context.now();
        let flow = socket.params.flow;
        let Some(index) = self.number_of(flow) else { return };
        let connection = index as u32;
        self.migration.forget(flow);
        socket.counts.packets += waiting;
        // Higher than both, so that timer events of either core for older generations are ignored.
        socket.generation = socket.generation.max(self.sockets[index].generation).wrapping_add(1);
        socket.timer_at = None;
        socket.ready = false;
        socket.sending = false;
        // The thread is woken up on its new core.
        socket.asleep = true;
        socket.leaving = false;
        socket.sends_from(self.output.buffer(index));
        let wake_at = [socket.wake_at, (!socket.begun).then(|| Time::from_ps(socket.params.start_ps))];
        wake_at.into_iter().flatten().for_each(|at| {
            // The time may have passed while the socket moved.
            context.send(context.id, at.ps().saturating_sub(now.ps()).max(1), Payload::Begin { connection });
        });
        // The thread is back at the core whose queue its segments wait in.
        if socket.by == Some(context.id) {
            socket.by = None;
        }
        self.sockets[index] = *socket;
        self.schedule_migration(index, context);
        self.set_timer(index, execution, context);
        self.queue_output(index);
        // Wakes the thread, whose data may have arrived during the move.
        context.send(context.id, 1, Payload::Begin { connection });
    }

    /// Schedules the next migration of a thread, if there is one.
    fn schedule_migration(&self, index: usize, context: &mut Context) {
        if let Some(hop) = self.sockets[index].next_migration() {
            let delay = hop.at_ps.saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay, Payload::Move { connection: index as u32 });
        }
    }

    /// Returns the core whose queue must send a segment of a socket, because earlier segments are still in that queue;
    /// `None` for the core of the socket.
    pub(in crate::os) fn sends_by(&mut self, index: usize) -> Option<ComponentId> {
        let socket = self.sockets.get_mut(index)?;
        // Nothing is left on the old queue, so nothing can be overtaken (`ooo_okay` of Linux).
        if socket.in_nic == 0 {
            socket.by = None;
        }
        socket.by
    }
}

impl Migration {
    /// Passes a packet on to the core that its flow has migrated to. Returns false if the flow is unknown.
    pub(in crate::os) fn pass_packet_on(&mut self, packet: Packet, context: &mut Context) -> bool {
        let Some(MigratedFlow { core, .. }) = self.find(packet.flow) else { return false };
        // Only the NIC can be steered; packets from a ring arrive where the driver reads them.
        if packet.queue != BY_RING {
            self.note_packet(packet.flow);
        }
        let id = context.packets.insert(packet);
        context.send(core, TO_CORE_PS, Payload::Backlog(id));
        true
    }

    /// Requests the NIC to steer flows that have migrated away from the empty receive queue `own`, if their packets
    /// still arrived here.
    pub(in crate::os) fn steer(&mut self, own: Option<u16>, driver: &NicDriver, context: &mut Context) {
        for (MigratedFlow { flow, queue, .. }, met) in &mut self.elsewhere {
            // One request per packet that still arrives: the NIC may have forgotten the rule.
            if std::mem::take(met) && Some(*queue) != own {
                driver.steer(*flow, *queue, context);
            }
        }
    }
}
