//! A chip: its units, and the work of a cycle.

mod backend;
mod build;
mod core;
mod frontend;
mod queues;
mod remote;

use crate::agenda::Action;
use crate::books::ChipStats;
use crate::caches::{Access, Caches};
use crate::core::Core;
use crate::fabric::Fabric;
use crate::floor::Unit;
use crate::message::{ChipMessage, MessageBody, Purpose, Token};
use crate::ni::{Backend, Frontend, LineInFlight, RemoteRequest, Requester, Rrpp};
use crate::op::{RemoteOp, Slab};
use crate::rack_message::Outbound;
use crate::slice::Slice;
use crate::torus::Place;
use hostnet_coherence::tile::TileHalf;
use hostnet_coherence::{Message, Node};
use hostnet_noc::{Delivery, Layout, Network};
use serde::{Deserialize, Serialize};

/// A tile without its slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tile {
    pub(crate) core: Core,
    pub(crate) caches: Caches,
    pub(crate) front: Frontend,
    pub(crate) backend: Backend,
}

/// Units at the edge of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) caches: Caches,
    pub(crate) backend: Backend,
    pub(crate) rrpp: Rrpp,
}

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
    pub(crate) tiles: Vec<Tile>,
    pub(crate) edges: Vec<Edge>,
    slices: Vec<Slice>,
    pub(crate) ops: Slab<RemoteOp>,
    pub(crate) flights: Slab<LineInFlight>,
    pub(crate) remotes: Slab<RemoteRequest>,
    /// Place of the chip in its rack; `None` for a single chip, which has a mirror.
    pub(crate) place: Option<Place>,
    /// Chips that hold the remote memory; empty for a single chip.
    pub(crate) targets: Vec<u16>,
    pub(crate) outbound: Vec<Outbound>,
    pub(crate) books: ChipStats,
    /// Lines that have arrived and are being written to their cache.
    pub(crate) filling: Vec<(Unit, u64)>,
    /// Accesses that wait for such a line, or for an access of the other half of the tile.
    pub(crate) stalled: Vec<(Unit, TileHalf, u64, Access)>,
    pub(crate) stopping: bool,
}

impl Chip {
    /// Returns the statistics.
    #[must_use]
    pub fn books(&self) -> ChipStats {
        let flits = self.fabric.network.injected() - self.books.flits;
        ChipStats { flits, ..self.books.clone() }
    }

    /// Resets the statistics.
    pub fn clear(&mut self) {
        self.books.clear(self.fabric.now, self.fabric.network.injected());
    }

    /// Returns the layout of the network, and the network with the flits that each output has carried.
    #[must_use]
    pub fn network(&self) -> (&Layout, &Network) {
        (&self.layout, &self.fabric.network)
    }

    /// Returns the progress of the chip.
    #[must_use]
    pub fn status(&self) -> ChipStatus {
        ChipStatus { cycle: self.fabric.now, operations: self.books.breakdown.count }
    }

    /// Returns the numbers of operations, requests and packets in flight.
    #[must_use]
    pub fn in_flight(&self) -> InFlight {
        InFlight {
            operations: self.ops.len(),
            lines: self.flights.len(),
            remote: self.remotes.len(),
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
                Purpose::Served => self.line_served(token.id),
                Purpose::Outgoing => self.outgoing_line_read(to, token.id),
                Purpose::Incoming => self.line_stored(token.id),
                Purpose::Queue => {}
            },
            _ => self.cache_message(to, line, from, message),
        }
    }
}
