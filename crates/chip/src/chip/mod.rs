//! A chip: its units, and the work of a cycle.

mod backend;
mod build;
mod core;
mod frontend;
mod queues;
mod remote;
mod units;

use crate::agenda::Action;
use crate::caches::Access;
use crate::fabric::Fabric;
use crate::floor::Unit;
use crate::message::{ChipMessage, MessageBody, Purpose, Token};
use crate::ni::{LineInFlight, Requester};
use crate::op::{RemoteOp, Slab};
use crate::rack_message::{Outbound, RackMessage};
use crate::slice::Slice;
use crate::stats::ChipStats;
use crate::torus::Place;
use crate::{ChipError, ChipParams, OpKind};
use build::build_chip;
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::TileHalf;
use hostnet_coherence::{Message, Node};
use hostnet_noc::{Delivery, Layout, Network};
use queues::QueueAccesses;
use remote::{line_served, RemoteAccesses};
use serde::{Deserialize, Serialize};
use units::Units;

/// Progress of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipStatus {
    /// Number of cycles simulated.
    pub cycle: u64,
    /// Operations completed since counting began.
    pub operations: u64,
}

/// Operations, requests and packets in flight on a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Operations that cores have begun and not completed.
    pub operations: usize,
    /// Lines of these operations whose requests were generated.
    pub lines: usize,
    /// Requests of other chips that are being served.
    pub remote: usize,
    /// Lines that a directory is waiting for.
    pub directory: usize,
    /// Packets in the network.
    pub packets: usize,
}

/// A chip with everything in flight on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chip {
    pub(crate) fabric: Fabric,
    pub(crate) layout: Layout,
    pub(crate) units: Units,
    slices: Vec<Slice>,
    pub(crate) ops: Slab<RemoteOp>,
    pub(crate) flights: Slab<LineInFlight>,
    remote: RemoteAccesses,
    pub(crate) stats: ChipStats,
    queues: QueueAccesses,
    pub(crate) stopping: bool,
}

impl Chip {
    /// Creates a chip whose cores begin in the first cycle.
    ///
    /// # Errors
    /// Fails if a parameter is out of range or if the routes could deadlock.
    pub fn new(params: ChipParams) -> Result<Self, ChipError> {
        build_chip(params, None, Vec::new())
    }

    /// Creates a chip of a rack, whose remote memory is on the chips `targets`. Messages to other chips wait for
    /// [`Chip::take_outbound`].
    pub(crate) fn in_rack(params: ChipParams, place: Place, targets: Vec<u16>) -> Result<Self, ChipError> {
        build_chip(params, Some(place), targets)
    }

    /// Returns the statistics.
    #[must_use]
    pub fn stats(&self) -> ChipStats {
        let flits = self.fabric.network.injected() - self.stats.flits;
        ChipStats { flits, ..self.stats.clone() }
    }

    /// Resets the statistics.
    pub fn clear(&mut self) {
        self.stats.clear(self.fabric.now, self.fabric.network.injected());
    }

    /// Returns the layout of the network, and the network with the flits that each output has carried.
    #[must_use]
    pub fn network(&self) -> (&Layout, &Network) {
        (&self.layout, &self.fabric.network)
    }

    /// Returns the progress of the chip.
    #[must_use]
    pub fn status(&self) -> ChipStatus {
        ChipStatus { cycle: self.fabric.now, operations: self.stats.breakdown.count }
    }

    /// Returns the numbers of operations, requests and packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> InFlight {
        InFlight {
            operations: self.ops.len(),
            lines: self.flights.len(),
            remote: self.remote.in_flight(),
            directory: self.slices.iter().map(Slice::waiting).sum(),
            packets: self.fabric.network.in_flight(),
        }
    }

    /// Stops cores from beginning further operations.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Returns the accesses to the LLC banks and the lines written back to memory, both since the start.
    #[must_use]
    pub fn llc(&self) -> (u64, u64) {
        (self.slices.iter().map(|slice| slice.accesses).sum(), self.slices.iter().map(|slice| slice.writebacks).sum())
    }

    /// Runs until a cycle. Returns false if nothing is left to do.
    pub fn run_until(&mut self, cycle: u64) -> bool {
        let mut delivered = Vec::new();
        while self.fabric.now < cycle {
            // Nothing moves on the network: the clock skips to the next action.
            if self.fabric.network.is_idle() {
                let next = self.fabric.agenda.next(self.fabric.now);
                self.fabric.now = next.map_or(cycle, |next| next.min(cycle));
                self.fabric.network.skip_to(self.fabric.now);
                match next {
                    Some(next) if next < cycle => {}
                    Some(_) => break,
                    None => return false,
                }
            }
            self.cycle(&mut delivered);
        }
        true
    }

    /// Returns the next cycle in which something happens if nothing arrives from outside.
    pub(crate) fn next_cycle(&self) -> Option<u64> {
        if self.fabric.network.is_idle() {
            self.fabric.agenda.next(self.fabric.now)
        } else {
            Some(self.fabric.now)
        }
    }

    fn cycle(&mut self, delivered: &mut Vec<Delivery>) {
        let now = self.fabric.now;
        let due = self.fabric.agenda.take(now);
        // Actions first: what they send is offered to the network in the same cycle.
        for &action in &due {
            self.act(action);
        }
        self.fabric.agenda.give_back(now, due);
        self.fabric.network.step(delivered);
        for delivery in delivered.drain(..) {
            let message = self.fabric.messages.take(delivery.packet.tag as u32);
            self.deliver(message);
        }
        self.fabric.now = now + 1;
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send { from, message } => self.fabric.send(from, message),
            Action::Slice(slice) => self.slices[usize::from(slice)].act(&mut self.fabric),
            Action::MemoryData { memory, line, token } => {
                let from = (Unit::Memory(memory), Node::Memory);
                self.fabric.send_coherence(from, Node::Home, line, Message::MemoryData(0), token);
            }
            Action::Cached { at, half, line, completion } => self.cached(at, half, line, completion),
            Action::Begin(core) => self.begin(core),
            Action::StoreWq { core, op } => self.store_wq(core, op),
            Action::Poll(core) => self.poll_again(core),
            Action::CqRead { core, seen } => self.cq_read(core, seen),
            Action::Visit(core) => self.visit(core),
            Action::Handed { op } => self.handed(op),
            Action::Generate { op } => self.generate(op),
            Action::Unroll(unit) => self.unroll(unit),
            Action::Complete(unit) => self.complete(unit),
            Action::LineDone { flight } => self.line_done(flight),
            Action::Post { op } => self.post(op),
            Action::Arrive { flight, kind, line } => self.arrive(kind, line, Requester::Mirror(flight)),
            Action::Serve { remote } => self.serve(remote),
            Action::Answer { remote } => self.answer(remote),
            Action::Back { flight } => self.back(flight),
        }
    }

    fn deliver(&mut self, message: ChipMessage) {
        let ChipMessage { to, line, body } = message;
        match body {
            MessageBody::Coherent { from, message, token } => self.coherent(to, line, from, message, token),
            MessageBody::WqEntry { op } => self.at_backend(op, self.fabric.params.ni.rgp_backend_cycles),
            MessageBody::CqEntry { op } => {
                self.ops.get(op).at_frontend = self.fabric.now;
                self.fabric.schedule(self.fabric.params.ni.rcp_frontend_cycles, Action::Post { op });
            }
            MessageBody::Request { flight, .. } => self.leave(flight),
            MessageBody::Reply { flight, .. } => self.replied(to, flight),
        }
    }

    fn coherent(&mut self, to: Unit, line: u64, from: Node, message: Message, token: Token) {
        match (to, message) {
            (Unit::Slice(slice), _) => {
                self.slices[usize::from(slice)].receive(line, from, message, token, &mut self.fabric);
            }
            (Unit::Memory(memory), Message::FetchMemory) => {
                let cycles = self.fabric.params.memory_cycles;
                self.fabric.schedule(cycles, Action::MemoryData { memory, line, token });
            }
            // Nobody waits for a write-back.
            (Unit::Memory(_), _) => {}
            (_, Message::DataOnce(_) | Message::WriteAck) => match token.what {
                Purpose::Served => line_served(token.id, &mut self.fabric),
                Purpose::Outgoing => self.outgoing_line_read(to, token.id),
                Purpose::Incoming => self.line_stored(token.id),
                Purpose::Queue => {}
            },
            _ => self.queues.receive((to, line), from, message, &mut self.units, &mut self.fabric),
        }
    }

    /// Reads or writes a line of a queue; see [`QueueAccesses::access`].
    fn access(&mut self, at: Unit, half: TileHalf, line: u64, access: Access) -> Option<(Completion, bool)> {
        self.queues.access((at, half, line, access), &mut self.units, &mut self.fabric)
    }

    /// Takes the messages to other chips since the last call.
    pub(crate) fn take_outbound(&mut self) -> Vec<Outbound> {
        self.remote.take_outbound()
    }

    /// Returns the number of cycles of a hop between chips.
    pub(crate) fn hop_cycles(&self) -> u64 {
        u64::from(self.fabric.params.rack.hop_cycles)
    }

    /// Handles a message from another chip.
    pub(crate) fn receive_message(&mut self, from: u16, word: RackMessage) {
        match word {
            RackMessage::Request { flight, kind, line } => self.arrive(kind, line, Requester::Chip(from, flight)),
            RackMessage::Answer { flight, cycles } => {
                self.served_in(flight, cycles);
                self.back(flight);
            }
        }
    }

    fn arrive(&mut self, kind: OpKind, line: u64, requester: Requester) {
        self.remote.arrive(kind, line, requester, &mut self.units, &mut self.fabric);
    }

    fn serve(&mut self, remote: u32) {
        let row = self.remote.serve(remote, &mut self.units);
        self.pump(Unit::Edge(row));
    }

    fn answer(&mut self, remote: u32) {
        let Self { stats, units, fabric, .. } = self;
        if let Some((flight, cycles)) = self.remote.answer(remote, stats, units, fabric) {
            self.served_in(flight, cycles);
        }
    }
}
