//! Messages off the chip, and the remote request pipelines: lines that other chips read and write.

use super::units::Units;
use crate::agenda::Action;
use crate::fabric::Fabric;
use crate::floor::Unit;
use crate::message::{Purpose, Token};
use crate::ni::remote::{RemoteRequest, Requester};
use crate::op::Slab;
use crate::rack_message::{Outbound, RackMessage};
use crate::stats::ChipStats;
use crate::torus::Place;
use crate::OpKind;
use hostnet_coherence::{Message, Node};
use serde::{Deserialize, Serialize};

/// Remote requests that a chip serves, and its messages to other chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RemoteAccesses {
    remotes: Slab<RemoteRequest>,
    /// Place of the chip in its rack; `None` for a single chip, which has a mirror.
    place: Option<Place>,
    /// Chips that hold the remote memory; empty for a single chip.
    targets: Vec<u16>,
    outbound: Vec<Outbound>,
}

/// Returns the cycles from a single chip to its mirror.
fn mirror_cycles(fabric: &Fabric) -> u32 {
    let rack = fabric.params.rack;
    rack.hops * rack.hop_cycles
}

impl RemoteAccesses {
    pub(super) fn new(place: Option<Place>, targets: Vec<u16>) -> Self {
        Self { remotes: Slab::new(), place, targets, outbound: Vec::new() }
    }

    /// Returns the number of remote requests that are being served.
    pub(super) fn in_flight(&self) -> usize {
        self.remotes.len()
    }

    /// Draws the chip that holds the remote memory of an operation, and returns it with the cycles to it.
    pub(super) fn target(&self, fabric: &mut Fabric) -> (u16, u32) {
        // A single chip has a mirror, so the target has no meaning.
        let Some(place) = self.place else { return (0, mirror_cycles(fabric)) };
        let other = self.targets[fabric.rng.below(self.targets.len() as u64) as usize];
        (other, place.hops(other) * fabric.params.rack.hop_cycles)
    }

    /// Sends a request to another chip or to the mirror.
    pub(super) fn send_off_chip(&mut self, flight: u32, to: u16, (kind, line): (OpKind, u64), fabric: &mut Fabric) {
        if self.place.is_some() {
            self.outbound.push(Outbound { to, word: RackMessage::Request { flight, kind, line } });
        } else {
            // The mirror reflects a request: an equal one arrives here, and the original counts as served when that
            // one has been served.
            fabric.schedule(mirror_cycles(fabric), Action::Arrive { flight, kind, line });
        }
    }

    /// Takes the messages to other chips since the last call.
    pub(super) fn take_outbound(&mut self) -> Vec<Outbound> {
        std::mem::take(&mut self.outbound)
    }

    /// Handles the arrival of a remote request at the row of its line's home.
    pub(super) fn arrive(
        &mut self,
        kind: OpKind,
        line: u64,
        requester: Requester,
        units: &mut Units,
        fabric: &mut Fabric,
    ) {
        let row = fabric.floor.rrpp(line);
        let remote = self.remotes.put(RemoteRequest { kind, line, row, arrived: fabric.now, requester });
        units.edges[usize::from(row)].rrpp.waiting.push_back(remote);
        start_service(row, units, fabric);
    }

    /// Handles a request that has passed the first half of the pipeline: its line may be read or written. Returns the
    /// row of its line's home.
    pub(super) fn serve(&mut self, remote: u32, units: &mut Units) -> u16 {
        let row = self.remotes.get(remote).row;
        units.edges[usize::from(row)].rrpp.ready.push_back(remote);
        row
    }

    /// Sends the access of a remote request to the home of its line.
    pub(super) fn access_home(&mut self, remote: u32, fabric: &mut Fabric) {
        let RemoteRequest { kind, line, row, .. } = *self.remotes.get(remote);
        let message = match kind {
            OpKind::Read => Message::ReadOnce,
            OpKind::Write => Message::WriteLine(0),
        };
        let token = Token { what: Purpose::Served, id: remote, index: 0 };
        let at = Unit::Edge(row);
        let from = (at, fabric.node(at));
        fabric.send_coherence(from, Node::Home, line, message, token);
    }

    /// Answers a remote request. A request of the mirror is returned: the line in flight that it stands for, and the
    /// cycles of its service.
    pub(super) fn answer(
        &mut self,
        remote: u32,
        stats: &mut ChipStats,
        units: &mut Units,
        fabric: &mut Fabric,
    ) -> Option<(u32, u64)> {
        let RemoteRequest { kind, row, arrived, requester, .. } = self.remotes.take(remote);
        let cycles = fabric.now - arrived;
        stats.serve(kind, cycles);
        let mirrored = match requester {
            Requester::Chip(to, flight) => {
                self.outbound.push(Outbound { to, word: RackMessage::Answer { flight, cycles } });
                None
            }
            Requester::Mirror(flight) => {
                fabric.schedule(mirror_cycles(fabric), Action::Back { flight });
                Some((flight, cycles))
            }
        };
        // A request holds its place in the pipeline until it is answered.
        units.edges[usize::from(row)].rrpp.in_flight -= 1;
        start_service(row, units, fabric);
        mirrored
    }
}

/// Continues a remote request whose line has been read or written.
pub(super) fn line_served(remote: u32, fabric: &mut Fabric) {
    let pipeline = fabric.params.ni.rrpp_cycles;
    // Of an odd number the second half gets the cycle more.
    fabric.schedule((pipeline - pipeline / 2).max(1), Action::Answer { remote });
}

fn start_service(row: u16, units: &mut Units, fabric: &mut Fabric) {
    let most = fabric.params.ni.rrpp_in_flight;
    let rrpp = &mut units.edges[usize::from(row)].rrpp;
    while rrpp.in_flight < most {
        let Some(remote) = rrpp.waiting.pop_front() else { return };
        rrpp.in_flight += 1;
        // The other half of the pipeline follows the access, see `line_served`.
        let cycles = fabric.params.ni.rrpp_cycles / 2;
        fabric.schedule(cycles.max(1), Action::Serve { remote });
    }
}
