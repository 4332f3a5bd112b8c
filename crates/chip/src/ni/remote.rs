//! Remote requests: the pipelines that serve them, and the mirror that makes them.

use crate::chip::{Action, Chip};
use crate::floor::Unit;
use crate::message::{Purpose, Token};
use crate::OpKind;
use hostnet_coherence::{Message, Node};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Services over which the mean is taken with which the mirror answers.
const WINDOW: usize = 1024;

/// A pipeline that serves remote requests, in a row of the edge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rrpp {
    waiting: VecDeque<u32>,
    in_flight: u32,
}

/// A remote request that is served here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Remote {
    line: u64,
    row: u16,
    arrived: u64,
}

/// The other chips: for each request that leaves one comes in, and its answer takes as long as answers take here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mirror {
    services: VecDeque<u64>,
    sum: u64,
    /// Requests for whose answers no service has shown how long they take.
    unknown: VecDeque<(u32, u64)>,
}

impl Mirror {
    fn note(&mut self, cycles: u64) {
        self.sum += cycles;
        self.services.push_back(cycles);
        if self.services.len() > WINDOW {
            self.sum -= self.services.pop_front().unwrap_or(0);
        }
    }

    /// Mean cycles of a service, to the nearest.
    fn mean(&self) -> Option<u64> {
        let count = self.services.len() as u64;
        (count > 0).then(|| (self.sum + count / 2) / count)
    }
}

impl Chip {
    /// A request has left: one comes in, and an answer will.
    pub(crate) fn reflect(&mut self, flight: u32, line: u64) {
        let rack = self.fabric.params.rack;
        self.fabric.later(rack.hops * rack.hop_cycles, Action::Arrive { line });
        let now = self.fabric.now;
        match self.mirror.mean() {
            Some(mean) => self.answer_later(flight, now, mean),
            None => self.mirror.unknown.push_back((flight, now)),
        }
    }

    fn answer_later(&mut self, flight: u32, left: u64, mean: u64) {
        let rack = self.fabric.params.rack;
        let far = u64::from(2 * rack.hops * rack.hop_cycles);
        // The first answer of all may show only when another should have been here already.
        let due = (left + far + mean).max(self.fabric.now + 1);
        self.served_in(flight, due - left - far);
        self.fabric.agenda.add(self.fabric.now, due, Action::Back { flight });
    }

    /// A remote request comes, to the row of its line's home.
    pub(crate) fn arrive(&mut self, line: u64) {
        let row = self.fabric.floor.rrpp(line);
        let remote = self.remotes.put(Remote { line, row, arrived: self.fabric.now });
        self.edges[usize::from(row)].rrpp.waiting.push_back(remote);
        self.start_service(row);
    }

    fn start_service(&mut self, row: u16) {
        let most = self.fabric.params.ni.rrpp_in_flight;
        let rrpp = &mut self.edges[usize::from(row)].rrpp;
        while rrpp.in_flight < most {
            let Some(remote) = rrpp.waiting.pop_front() else { return };
            rrpp.in_flight += 1;
            let cycles = self.fabric.params.ni.rrpp_cycles / 2;
            self.fabric.later(cycles.max(1), Action::Serve { remote });
        }
    }

    /// A remote request is through the first half of the pipeline: its line is read or written.
    pub(crate) fn serve(&mut self, remote: u32) {
        let Remote { line, row, .. } = *self.remotes.get(remote);
        let message = match self.fabric.params.workload.kind {
            OpKind::Read => Message::ReadOnce,
            OpKind::Write => Message::WriteLine(0),
        };
        let token = Token { what: Purpose::Served, id: remote, index: 0 };
        let at = Unit::Edge(row);
        let from = (at, self.node(at));
        self.fabric.say(from, Node::Home, line, message, token);
    }

    /// The line is here, or written.
    pub(crate) fn have_served(&mut self, remote: u32) {
        let pipeline = self.fabric.params.ni.rrpp_cycles;
        self.fabric.later((pipeline - pipeline / 2).max(1), Action::Answer { remote });
    }

    /// A remote request is answered.
    pub(crate) fn answer(&mut self, remote: u32) {
        let Remote { row, arrived, .. } = self.remotes.take(remote);
        let cycles = self.fabric.now - arrived;
        self.books.lines_served += 1;
        self.books.served.record(cycles);
        self.mirror.note(cycles);
        self.edges[usize::from(row)].rrpp.in_flight -= 1;
        self.start_service(row);
        while let Some((flight, left)) = self.mirror.unknown.pop_front() {
            self.answer_later(flight, left, cycles);
        }
    }
}
