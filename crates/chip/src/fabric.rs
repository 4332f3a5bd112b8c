//! State that all units of a chip share: clock, network and agenda.

use crate::agenda::Action;
use crate::agenda::Agenda;
use crate::floor::{FloorPlan, Unit};
use crate::message::{ChipMessage, MessageBody, Token};
use crate::op::Slab;
use crate::ChipParams;
use hostnet_coherence::{Message, Node, Sends};
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
}
