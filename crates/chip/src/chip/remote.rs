//! The work of remote request pipelines: lines that other chips read and write.

use super::Chip;
use crate::agenda::Action;
use crate::floor::Unit;
use crate::message::{Purpose, Token};
use crate::ni::remote::{RemoteRequest, Requester};
use crate::rack_message::{Outbound, RackMessage};
use crate::OpKind;
use hostnet_coherence::{Message, Node};

impl Chip {
    /// Draws the chip that holds the remote memory of an operation, and returns it with the cycles to it.
    pub(crate) fn target(&mut self) -> (u16, u32) {
        let rack = self.fabric.params.rack;
        // A single chip has a mirror, so the target has no meaning.
        let Some(place) = self.place else { return (0, rack.hops * rack.hop_cycles) };
        let other = self.targets[self.fabric.rng.below(self.targets.len() as u64) as usize];
        (other, place.hops(other) * rack.hop_cycles)
    }

    /// Sends a request to another chip or to the mirror.
    pub(crate) fn send_off_chip(&mut self, flight: u32, to: u16, (kind, line): (OpKind, u64)) {
        if self.place.is_some() {
            self.outbound.push(Outbound { to, word: RackMessage::Request { flight, kind, line } });
        } else {
            self.reflect(flight, kind, line);
        }
    }

    /// Takes the messages to other chips since the last call.
    pub(crate) fn take_outbound(&mut self) -> Vec<Outbound> {
        std::mem::take(&mut self.outbound)
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

    /// Reflects a request: an equal one arrives here, and the original counts as served when that one has been
    /// served.
    fn reflect(&mut self, flight: u32, kind: OpKind, line: u64) {
        self.fabric.schedule(self.mirror_cycles(), Action::Arrive { flight, kind, line });
    }

    fn mirror_cycles(&self) -> u32 {
        let rack = self.fabric.params.rack;
        rack.hops * rack.hop_cycles
    }

    /// Handles the arrival of a remote request at the row of its line's home.
    pub(crate) fn arrive(&mut self, kind: OpKind, line: u64, requester: Requester) {
        let row = self.fabric.floor.rrpp(line);
        let remote = self.remotes.put(RemoteRequest { kind, line, row, arrived: self.fabric.now, requester });
        self.edges[usize::from(row)].rrpp.waiting.push_back(remote);
        self.start_service(row);
    }

    fn start_service(&mut self, row: u16) {
        let most = self.fabric.params.ni.rrpp_in_flight;
        let rrpp = &mut self.edges[usize::from(row)].rrpp;
        while rrpp.in_flight < most {
            let Some(remote) = rrpp.waiting.pop_front() else { return };
            rrpp.in_flight += 1;
            // The other half of the pipeline follows the access, see `line_served`.
            let cycles = self.fabric.params.ni.rrpp_cycles / 2;
            self.fabric.schedule(cycles.max(1), Action::Serve { remote });
        }
    }

    /// Handles a request that has passed the first half of the pipeline: its line is read or written.
    pub(crate) fn serve(&mut self, remote: u32) {
        let row = self.remotes.get(remote).row;
        self.edges[usize::from(row)].rrpp.ready.push_back(remote);
        self.pump(Unit::Edge(row));
    }

    /// Sends the access of a remote request to the home of its line.
    pub(crate) fn access_home(&mut self, remote: u32) {
        let RemoteRequest { kind, line, row, .. } = *self.remotes.get(remote);
        let message = match kind {
            OpKind::Read => Message::ReadOnce,
            OpKind::Write => Message::WriteLine(0),
        };
        let token = Token { what: Purpose::Served, id: remote, index: 0 };
        let at = Unit::Edge(row);
        let from = (at, self.node(at));
        self.fabric.send_coherence(from, Node::Home, line, message, token);
    }

    /// Continues a remote request whose line has been read or written.
    pub(crate) fn line_served(&mut self, remote: u32) {
        let pipeline = self.fabric.params.ni.rrpp_cycles;
        // Of an odd number the second half gets the cycle more.
        self.fabric.schedule((pipeline - pipeline / 2).max(1), Action::Answer { remote });
    }

    /// Answers a remote request.
    pub(crate) fn answer(&mut self, remote: u32) {
        let RemoteRequest { kind, row, arrived, requester, .. } = self.remotes.take(remote);
        let cycles = self.fabric.now - arrived;
        self.books.serve(kind, cycles);
        match requester {
            Requester::Chip(to, flight) => {
                self.outbound.push(Outbound { to, word: RackMessage::Answer { flight, cycles } })
            }
            Requester::Mirror(flight) => {
                self.served_in(flight, cycles);
                self.fabric.schedule(self.mirror_cycles(), Action::Back { flight });
            }
        }
        // A request holds its place in the pipeline until it is answered.
        self.edges[usize::from(row)].rrpp.in_flight -= 1;
        self.start_service(row);
    }
}
