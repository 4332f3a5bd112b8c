//! State that all units of a chip share: clock, network and agenda.

use crate::agenda::Action;
use crate::agenda::Agenda;
use crate::floor::{FloorPlan, Unit};
use crate::message::{ChipMessage, MessageBody, Token};
use crate::op::Slab;
use crate::params::QUEUE_LINES;
use crate::{ChipParams, Placement};
use hostnet_coherence::{Agent, Message, Node, Sends};
use hostnet_kernel::Rng;
use hostnet_noc::Network;
use serde::{Deserialize, Serialize};

/// State that all units of a chip share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fabric {
    pub(crate) now: u64,
    pub(crate) network: Network,
    pub(crate) agenda: Agenda,
    pub(crate) messages: Slab<ChipMessage>,
    pub(crate) floor: FloorPlan,
    pub(crate) params: ChipParams,
    pub(crate) rng: Rng,
}

impl Fabric {
    /// Schedules an action in `cycles` cycles, at least 1.
    pub(crate) fn schedule(&mut self, cycles: u32, action: Action) {
        self.agenda.add(self.now, self.now + u64::from(cycles), action);
    }

    /// Sends a message now.
    pub(crate) fn send(&mut self, from: Unit, message: ChipMessage) {
        let (class, flits) = message.shape(self.params.flit_bytes);
        let (source, destination) = (self.floor.terminal(from), self.floor.terminal(message.to));
        let tag = self.messages.put(message);
        self.network.offer(source, destination, class, flits, u64::from(tag));
    }

    /// Sends the messages of a protocol step in `cycles` cycles.
    pub(crate) fn send_step(&mut self, cycles: u32, (unit, from): (Unit, Node), line: u64, out: Sends, token: Token) {
        for sent in out.iter() {
            let message = ChipMessage {
                to: self.unit(sent.to, line),
                line,
                body: MessageBody::Coherent { from, message: sent.message, token },
            };
            self.send_in(cycles, unit, message);
        }
    }

    pub(crate) fn send_in(&mut self, cycles: u32, from: Unit, message: ChipMessage) {
        // The agenda holds later cycles only: what happens now is a function call.
        if cycles == 0 {
            self.send(from, message);
        } else {
            self.schedule(cycles, Action::Send { from, message });
        }
    }

    /// Sends one coherence message about a line now.
    pub(crate) fn send_coherence(
        &mut self,
        (unit, from): (Unit, Node),
        to: Node,
        line: u64,
        message: Message,
        token: Token,
    ) {
        let message =
            ChipMessage { to: self.unit(to, line), line, body: MessageBody::Coherent { from, message, token } };
        self.send(unit, message);
    }

    fn unit(&self, node: Node, line: u64) -> Unit {
        let tiles = self.params.tiles();
        match node {
            Node::Home => Unit::Slice(self.floor.home(line)),
            Node::Memory => Unit::Memory(self.floor.memory(line)),
            // The inverse of `Chip::node`.
            Node::Agent(agent) if u16::from(agent.index()) < tiles => Unit::Core(u16::from(agent.index())),
            Node::Agent(agent) => Unit::Edge(u16::from(agent.index()) - tiles),
        }
    }

    /// Returns the agent as which the directory knows a unit.
    pub(crate) fn node(&self, at: Unit) -> Node {
        let index = match at {
            // Agents are numbered: tiles first, then the edge parts.
            Unit::Edge(row) => self.params.tiles() + row,
            Unit::Core(core) | Unit::Slice(core) | Unit::Memory(core) => core,
        };
        Node::Agent(Agent::new(index as u8).expect("a chip has fewer agents than a directory has bits"))
    }

    /// Returns the place of the frontend of a core.
    pub(crate) fn frontend_at(&self, core: u16) -> Unit {
        match self.params.ni.placement {
            Placement::Edge => Unit::Edge(self.floor.edge_of(core)),
            _ => Unit::Core(core),
        }
    }

    /// Returns the place of the backend of a core.
    pub(crate) fn backend_at(&self, core: u16) -> Unit {
        match self.params.ni.placement {
            // A split NI has only its queues in the tile: data stays at the edge, which saves crossing the chip twice.
            Placement::Edge | Placement::Split => Unit::Edge(self.floor.edge_of(core)),
            Placement::PerTile | Placement::Numa => Unit::Core(core),
        }
    }

    /// Returns the line that holds an entry of a work queue.
    pub(crate) fn wq_line(&self, core: u16, entry: u64) -> u64 {
        let ni = &self.params.ni;
        let (entries, per_line) = (u64::from(ni.entries), u64::from(ni.wq_entries_per_line));
        u64::from(core) * QUEUE_LINES + entry % entries / per_line
    }

    /// Returns the line that holds an entry of a completion queue.
    pub(crate) fn cq_line(&self, core: u16, entry: u64) -> u64 {
        let ni = &self.params.ni;
        let (entries, per_line) = (u64::from(ni.entries), u64::from(ni.cq_entries_per_line));
        // The lower half of a core's page holds the work queue, the upper half the completion queue.
        u64::from(core) * QUEUE_LINES + QUEUE_LINES / 2 + entry % entries / per_line
    }
}
