//! The work of backends: requests are generated from operations, and responses complete them.

use super::Chip;
use crate::agenda::Action;
use crate::floor::Unit;
use crate::message::{ChipMessage, MessageBody, Purpose, Token};
use crate::ni::backend::{LineInFlight, QUEUED};
use crate::op::{LineTimes, RemoteOp};
use crate::params::class;
use crate::{Completion, OpKind, Placement};
use hostnet_coherence::{Message, Node};
use hostnet_kernel::mix;

impl Chip {
    /// Hands an operation to its backend, whose pipeline takes `cycles` cycles.
    pub(crate) fn at_backend(&mut self, op: u32, cycles: u32) {
        self.ops.get(op).at_backend = self.fabric.now;
        self.fabric.schedule(cycles, Action::Generate { op });
    }

    pub(crate) fn generate(&mut self, op: u32) {
        let core = self.ops.get(op).core;
        let at = self.fabric.backend_at(core);
        let backend = self.units.backend(at);
        backend.unrolling.push_back(op);
        if !backend.awake {
            self.unroll(at);
        }
    }

    /// Generates the request of one line per cycle, as long as there is room.
    pub(crate) fn unroll(&mut self, at: Unit) {
        let terminal = self.fabric.floor.terminal(at);
        let room = |class| self.fabric.network.queued(terminal, class) < QUEUED;
        // At the edge a request leaves the chip without a packet on its network.
        let to_the_edge = matches!(at, Unit::Edge(_)) || room(class::NETWORK);
        let to_homes = room(class::REQUEST);
        let most = match self.fabric.params.ni.placement {
            // Loads of a core hold its MSHRs, requests of an NI its entries.
            Placement::Numa => self.fabric.params.software.mshrs,
            _ => self.fabric.params.ni.in_flight,
        };
        let backend = self.units.backend(at);
        backend.awake = false;
        let Some(&op) = backend.unrolling.front() else { return };
        // `line_complete` wakes the pipeline when a line has come back.
        if backend.in_flight >= most {
            return;
        }
        backend.awake = true;
        let one = self.ops.get(op);
        // A write sends a request to its line's home first, a read only to the edge.
        if to_the_edge && (one.kind == OpKind::Read || to_homes) {
            let index = one.unrolled;
            one.unrolled += 1;
            if one.unrolled == one.lines {
                self.units.backend(at).unrolling.pop_front();
            }
            self.units.backend(at).in_flight += 1;
            let times = LineTimes { made: self.fabric.now, ..LineTimes::default() };
            let flight = self.flights.put(LineInFlight { op, index, times });
            self.request(at, flight);
        }
        // A line per cycle (docs/models/chip.md, A read); without room the pipeline tries again in the next one.
        self.fabric.schedule(1, Action::Unroll(at));
    }

    /// Starts a request. A write reads its line from the chip first.
    fn request(&mut self, at: Unit, flight: u32) {
        let LineInFlight { op, index, .. } = *self.flights.get(flight);
        let op = self.ops.get(op);
        if op.kind == OpKind::Read {
            self.send_to_edge(at, flight);
            return;
        }
        let line = op.local + u64::from(index);
        let token = Token { what: Purpose::Outgoing, id: flight, index };
        let from = (at, self.fabric.node(at));
        self.fabric.send_coherence(from, Node::Home, line, Message::ReadOnce, token);
    }

    pub(crate) fn outgoing_line_read(&mut self, at: Unit, flight: u32) {
        self.send_to_edge(at, flight);
    }

    /// Sends a request to the edge, unless its backend is there.
    fn send_to_edge(&mut self, at: Unit, flight: u32) {
        match at {
            Unit::Edge(_) => self.leave(flight),
            _ => {
                let to = Unit::Edge(self.port_of(flight));
                let carries_line = self.kind_of(flight) == OpKind::Write;
                self.fabric.send(at, ChipMessage { to, line: 0, body: MessageBody::Request { flight, carries_line } });
            }
        }
    }

    /// Returns the port of the off-chip network for a line whose backend is not at a port.
    fn port_of(&mut self, flight: u32) -> u16 {
        let LineInFlight { op, index, .. } = *self.flights.get(flight);
        let line = self.ops.get(op).remote + u64::from(index);
        // The hash spreads lines over the ports, and sends the response back through the port of its request.
        (mix(line) % u64::from(self.fabric.floor.edges())) as u16
    }

    /// Sends a request off the chip.
    pub(crate) fn leave(&mut self, flight: u32) {
        let now = self.fabric.now;
        let one = self.flights.get(flight);
        one.times.left = now;
        let (op, index) = (one.op, one.index);
        let op = self.ops.get(op);
        let (target, kind, line) = (op.target, op.kind, op.remote + u64::from(index));
        self.remote.send_off_chip(flight, target, (kind, line), &mut self.fabric);
    }

    /// Returns the kind of operation that a line belongs to.
    fn kind_of(&mut self, flight: u32) -> OpKind {
        let op = self.flights.get(flight).op;
        self.ops.get(op).kind
    }

    pub(crate) fn served_in(&mut self, flight: u32, cycles: u64) {
        self.flights.get(flight).times.served = cycles;
    }

    /// Handles the arrival of a response at the chip.
    pub(crate) fn back(&mut self, flight: u32) {
        let now = self.fabric.now;
        self.flights.get(flight).times.back = now;
        let core = {
            let op = self.flights.get(flight).op;
            self.ops.get(op).core
        };
        match self.fabric.backend_at(core) {
            at @ Unit::Edge(_) => self.replied(at, flight),
            to => {
                let from = Unit::Edge(self.port_of(flight));
                let carries_line = self.kind_of(flight) == OpKind::Read;
                self.fabric.send(from, ChipMessage { to, line: 0, body: MessageBody::Reply { flight, carries_line } });
            }
        }
    }

    /// Hands a response to its completion pipeline.
    pub(crate) fn replied(&mut self, at: Unit, flight: u32) {
        let now = self.fabric.now;
        self.flights.get(flight).times.at_rcp = now;
        // Without an NI there is no completion pipeline: the line goes to the core.
        if self.fabric.params.ni.placement == Placement::Numa {
            self.line_complete(flight);
            return;
        }
        self.units.backend(at).responses.push_back(flight);
        self.pump(at);
    }

    /// Starts the pipelines of a place in this cycle, unless they are running.
    pub(crate) fn pump(&mut self, at: Unit) {
        let backend = self.units.backend(at);
        if !backend.pumping {
            backend.pumping = true;
            self.complete(at);
        }
    }

    /// Sends one line per cycle to its home, as long as there is room: for a response in the completion pipeline, or
    /// at the edge alternately for a remote request.
    pub(crate) fn complete(&mut self, at: Unit) {
        let terminal = self.fabric.floor.terminal(at);
        let mut went = false;
        if self.fabric.network.queued(terminal, class::REQUEST) < QUEUED {
            let remote = self.next_remote(at);
            if let Some(remote) = remote {
                self.remote.access_home(remote, &mut self.fabric);
                went = true;
            } else if let Some(flight) = self.units.backend(at).responses.pop_front() {
                self.fabric.schedule(self.fabric.params.ni.rcp_backend_cycles, Action::LineDone { flight });
                went = true;
            }
            // Remote requests and responses alternate, so that neither side of a busy edge starves.
            self.units.backend(at).remote_before = remote.is_some();
        }
        // A request that waits its turn, or for room, is tried again in the next cycle.
        let remotes = matches!(at, Unit::Edge(row) if !self.units.edges[usize::from(row)].rrpp.ready.is_empty());
        let backend = self.units.backend(at);
        backend.pumping = went || remotes || !backend.responses.is_empty();
        let (pumping, full) = (backend.pumping, backend.responses.len() >= QUEUED);
        let was_closed = std::mem::replace(&mut backend.closed, full);
        // Only replies to a tile cross the chip: the off-chip network, not limited, cannot be held back.
        if full != was_closed && matches!(at, Unit::Core(_)) {
            self.fabric.network.set_open(terminal, class::NETWORK, !full);
        }
        if pumping {
            self.fabric.schedule(1, Action::Complete(at));
        }
    }

    /// Returns the next remote request, unless it is the turn of a response.
    fn next_remote(&mut self, at: Unit) -> Option<u32> {
        let Unit::Edge(row) = at else { return None };
        let edge = &mut self.units.edges[usize::from(row)];
        if edge.backend.remote_before && !edge.backend.responses.is_empty() {
            return None;
        }
        edge.rrpp.ready.pop_front()
    }

    /// Handles a response that has passed the backend: a read sends its line to its home.
    pub(crate) fn line_done(&mut self, flight: u32) {
        let LineInFlight { op, index, .. } = *self.flights.get(flight);
        let RemoteOp { kind, core, local, .. } = *self.ops.get(op);
        // The response to a write is an acknowledgement without data to store.
        if kind == OpKind::Write {
            self.line_complete(flight);
            return;
        }
        let at = self.fabric.backend_at(core);
        let from = (at, self.fabric.node(at));
        let acked = self.fabric.params.ni.completion == Completion::Acked;
        // Posted: nobody waits for the WriteAck of the home, so the line is complete when it is sent.
        let what = if acked { Purpose::Incoming } else { Purpose::Queue };
        let token = Token { what, id: flight, index };
        self.fabric.send_coherence(from, Node::Home, local + u64::from(index), Message::WriteLine(0), token);
        if !acked {
            self.line_complete(flight);
        }
    }

    pub(crate) fn line_stored(&mut self, flight: u32) {
        self.line_complete(flight);
    }

    /// Completes a line, and with its last line the operation.
    fn line_complete(&mut self, flight: u32) {
        let LineInFlight { op, times, .. } = self.flights.take(flight);
        let now = self.fabric.now;
        let one = self.ops.get(op);
        self.stats.own(one.kind);
        one.complete += 1;
        // Lines complete in any order; the last one determines the latency of the operation.
        one.last = times;
        let (core, whole) = (one.core, one.complete == one.lines);
        let at = self.fabric.backend_at(core);
        let backend = self.units.backend(at);
        backend.in_flight -= 1;
        if !backend.awake && !backend.unrolling.is_empty() {
            backend.awake = true;
            self.fabric.schedule(1, Action::Unroll(at));
        }
        if whole {
            self.ops.get(op).completed = now;
            self.notify_frontend(op, core, at);
        }
    }

    /// Notifies the frontend that an operation is complete.
    fn notify_frontend(&mut self, op: u32, core: u16, at: Unit) {
        let ni = self.fabric.params.ni;
        match ni.placement {
            Placement::Numa => self.loaded(op),
            Placement::Split => {
                self.fabric.send(at, ChipMessage { to: Unit::Core(core), line: 0, body: MessageBody::CqEntry { op } });
            }
            Placement::Edge | Placement::PerTile => {
                self.ops.get(op).at_frontend = self.fabric.now;
                // Backend and frontend in one place share a latch. max(1): an action lies at least one cycle ahead.
                let cycles = ni.rcp_frontend_cycles.saturating_sub(ni.latch_saves_cycles).max(1);
                self.fabric.schedule(cycles, Action::Post { op });
            }
        }
    }
}
