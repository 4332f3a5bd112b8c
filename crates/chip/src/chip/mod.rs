//! A chip: its units, and a cycle of it.

mod build;
mod queues;

use crate::books::Books;
use crate::caches::{Access, Caches};
use crate::core::Core;
use crate::fabric::Fabric;
use crate::floor::Unit;
use crate::message::{Body, Letter, Purpose, Token};
use crate::ni::{Asker, Backend, Flight, Frontend, Remote, Rrpp};
use crate::op::{Op, Store};
use crate::rack::{Outbound, Place};
use crate::slice::Slice;
use crate::OpKind;
use hostnet_coherence::cache::Completion;
use hostnet_coherence::tile::Half;
use hostnet_coherence::{Message, Node};
use hostnet_noc::{Delivery, Layout, Network};
use serde::{Deserialize, Serialize};

/// Something that is due in a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Action {
    /// A letter sets out.
    Send {
        from: Unit,
        letter: Letter,
    },
    /// A bank may go on.
    Slice(u16),
    /// Memory has a line.
    MemoryData {
        memory: u16,
        line: u64,
        token: Token,
    },
    /// A cache has served an access that had to wait.
    Cached {
        at: Unit,
        half: Half,
        line: u64,
        completion: Completion,
    },
    /// A core begins an operation, has computed a queue entry, looks at its completion queue, has read an entry.
    Begin(u16),
    StoreWq {
        core: u16,
        op: u32,
    },
    Poll(u16),
    CqRead {
        core: u16,
        seen: u64,
    },
    /// An NI looks at a work queue; an entry has gone through a frontend; an operation is at its backend.
    Visit(u16),
    Handed {
        op: u32,
    },
    Generate {
        op: u32,
    },
    Unroll(Unit),
    /// A response is in a completion pipeline, and through it; a completion is to be written.
    Complete(Unit),
    LineDone {
        flight: u32,
    },
    Post {
        op: u32,
    },
    /// A remote request comes, is through the first half of the pipeline, and through the second.
    Arrive {
        flight: u32,
        kind: OpKind,
        line: u64,
    },
    Serve {
        remote: u32,
    },
    Answer {
        remote: u32,
    },
    /// A response comes.
    Back {
        flight: u32,
    },
}

/// A tile: what is there besides the slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tile {
    pub(crate) core: Core,
    pub(crate) caches: Caches,
    pub(crate) front: Frontend,
    pub(crate) backend: Backend,
}

/// A row of the edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Edge {
    pub(crate) caches: Caches,
    pub(crate) backend: Backend,
    pub(crate) rrpp: Rrpp,
}

/// How a chip stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipStatus {
    /// Cycles so far.
    pub cycle: u64,
    /// Operations completed since counting began.
    pub operations: u64,
}

/// What is on its way in a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InFlight {
    /// Operations that cores have begun.
    pub operations: usize,
    /// Lines of them that have been made into requests.
    pub lines: usize,
    /// Requests of other chips.
    pub remote: usize,
    /// Lines for which a directory waits.
    pub directory: usize,
    /// Packets in the network.
    pub packets: usize,
}

/// A chip and what happens on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chip {
    pub(crate) fabric: Fabric,
    pub(crate) layout: Layout,
    pub(crate) tiles: Vec<Tile>,
    pub(crate) edges: Vec<Edge>,
    slices: Vec<Slice>,
    pub(crate) ops: Store<Op>,
    pub(crate) flights: Store<Flight>,
    pub(crate) remotes: Store<Remote>,
    /// Where the chip is in its rack; alone it has a mirror.
    pub(crate) place: Option<Place>,
    /// The chips on which remote memory lies; alone none.
    pub(crate) targets: Vec<u16>,
    pub(crate) outbound: Vec<Outbound>,
    pub(crate) books: Books,
    /// Lines that have come and are being put into their cache.
    pub(crate) filling: Vec<(Unit, u64)>,
    /// Accesses that wait for such a line, or for that of the other half of a tile.
    pub(crate) stalled: Vec<(Unit, Half, u64, Access)>,
    pub(crate) stopping: bool,
}

impl Chip {
    /// What was counted.
    #[must_use]
    pub fn books(&self) -> Books {
        let flits = self.fabric.network.injected() - self.books.flits;
        Books { flits, ..self.books.clone() }
    }

    /// Begins to count anew.
    pub fn clear(&mut self) {
        self.books.clear(self.fabric.now, self.fabric.network.injected());
    }

    /// Where the network's channels lie, and how many flits each output has carried.
    #[must_use]
    pub fn network(&self) -> (&Layout, &Network) {
        (&self.layout, &self.fabric.network)
    }

    /// How the chip stands.
    #[must_use]
    pub fn status(&self) -> ChipStatus {
        ChipStatus { cycle: self.fabric.now, operations: self.books.breakdown.count }
    }

    /// What is on its way.
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

    /// Lets cores begin no more operations.
    pub fn stop(&mut self) {
        self.stopping = true;
    }

    /// Accesses to the banks of the LLC and lines that it has written to memory, since the start.
    #[must_use]
    pub fn llc(&self) -> (u64, u64) {
        (self.slices.iter().map(|slice| slice.accesses).sum(), self.slices.iter().map(|slice| slice.writebacks).sum())
    }

    /// Goes on until a cycle. Returns false when nothing is left to do.
    pub fn run_until(&mut self, cycle: u64) -> bool {
        let mut delivered = Vec::new();
        while self.fabric.now < cycle {
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

    /// The next cycle in which something happens, if nothing comes from outside.
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
        for &action in &due {
            self.act(action);
        }
        self.fabric.agenda.give_back(now, due);
        self.fabric.network.step(delivered);
        for delivery in delivered.drain(..) {
            let letter = self.fabric.letters.take(delivery.packet.tag as u32);
            self.deliver(letter);
        }
        self.fabric.now = now + 1;
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Send { from, letter } => self.fabric.send(from, letter),
            Action::Slice(slice) => self.slices[usize::from(slice)].act(&mut self.fabric),
            Action::MemoryData { memory, line, token } => {
                let from = (Unit::Memory(memory), Node::Memory);
                self.fabric.say(from, Node::Home, line, Message::MemoryData(0), token);
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
            Action::Arrive { flight, kind, line } => self.arrive(kind, line, Asker::Mirror(flight)),
            Action::Serve { remote } => self.serve(remote),
            Action::Answer { remote } => self.answer(remote),
            Action::Back { flight } => self.back(flight),
        }
    }

    fn deliver(&mut self, letter: Letter) {
        let Letter { to, line, body } = letter;
        match body {
            Body::Coherent { from, message, token } => self.coherent(to, line, from, message, token),
            Body::WqEntry { op } => self.at_backend(op, self.fabric.params.ni.rgp_backend_cycles),
            Body::CqEntry { op } => {
                self.ops.get(op).at_frontend = self.fabric.now;
                self.fabric.later(self.fabric.params.ni.rcp_frontend_cycles, Action::Post { op });
            }
            Body::Request { flight, .. } => self.leave(flight),
            Body::Reply { flight, .. } => self.replied(to, flight),
        }
    }

    fn coherent(&mut self, to: Unit, line: u64, from: Node, message: Message, token: Token) {
        match (to, message) {
            (Unit::Slice(slice), _) => {
                self.slices[usize::from(slice)].receive(line, from, message, token, &mut self.fabric);
            }
            (Unit::Memory(memory), Message::FetchMemory) => {
                let cycles = self.fabric.params.memory_cycles;
                self.fabric.later(cycles, Action::MemoryData { memory, line, token });
            }
            (Unit::Memory(_), _) => {}
            (_, Message::DataOnce(_) | Message::WriteAck) => match token.what {
                Purpose::Served => self.have_served(token.id),
                Purpose::Outgoing => self.have_outgoing(to, token.id),
                Purpose::Incoming => self.have_stored(token.id),
                Purpose::Queue => {}
            },
            _ => self.cache_message(to, line, from, message),
        }
    }
}
