//! Snoops of the caches of remote sockets for lines homed here.
//!
//! The home knows which sockets hold a line, as a directory that is never out of date, and snoops only if needed: for
//! a dirty copy before a read, for any copy before a write. Without a directory (home snoop) it snoops all remote
//! sockets while memory reads. Their copies are known all the same, so that only the latency differs. Home snoops are
//! sent by a home agent beside the memory controller, so that snoops and answers also take the path between the agent
//! and the CHA.

use super::background::{create_background_request, evict};
use super::config::NEXT_PS;
use super::Cha;
use crate::cache::Caches;
use crate::line::{Request, RequestId, RequestKind};
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};

/// Reads that memory serves and that wait for snoops: by request, the snoops outstanding and true once the data has
/// arrived.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct SnoopTracker(Vec<(u8, bool)>);

impl SnoopTracker {
    /// Starts to wait for `snoops` answers.
    fn expect_answers(&mut self, id: RequestId, snoops: u8) {
        let at = id.0 as usize;
        // Grows to the largest request number once, and then no longer allocates.
        if self.0.len() <= at {
            self.0.resize(at + 1, (0, false));
        }
        self.0[at] = (snoops, false);
    }

    /// Returns true if a read has snoops outstanding.
    fn waits(&self, id: RequestId) -> bool {
        self.0.get(id.0 as usize).is_some_and(|&(out, _)| out > 0)
    }

    /// Records that memory has read the line. Returns true if the read still waits for snoops.
    pub(super) fn data(&mut self, id: RequestId) -> bool {
        let waits = self.waits(id);
        if waits {
            self.0[id.0 as usize].1 = true;
        }
        waits
    }

    /// Records the answer to a snoop. Returns true if it was the last one and the data has arrived.
    fn answer(&mut self, id: RequestId) -> bool {
        let (out, data) = &mut self.0[id.0 as usize];
        *out -= 1;
        *out == 0 && *data
    }
}

impl Cha {
    /// Snoops all remote sockets for a line that memory is about to read, if the server uses home snoop.
    pub(super) fn snoop_all(&mut self, id: RequestId, context: &mut Context) {
        let request = *context.requests.get(id);
        let reads = matches!(request.kind, RequestKind::CoreRead | RequestKind::IoRead);
        if !reads || !self.upi_transfer().remote_sockets.broadcast {
            return;
        }
        let from = self.requesting_socket(&request);
        let others: Vec<u8> =
            self.upi_transfer().remote_sockets.others().filter(|&socket| Some(socket) != from).collect();
        let home = context.homes.of(request.line);
        self.upi_transfer().snoop_tracker.expect_answers(id, others.len() as u8);
        for socket in others {
            let snoop = self.send_to(socket, RequestKind::Snoop, home, id, context);
            context.requests.get_mut(snoop).for_store = false;
        }
    }

    /// Snoops a remote socket for its copy of a line, if the request needs that. Returns true if so; the request then
    /// waits.
    pub(super) fn snoops(&mut self, id: RequestId, context: &mut Context) -> bool {
        let request = *context.requests.get(id);
        let writes = match request.kind {
            // A load needs only a dirty copy; a store and a device write end every other copy.
            RequestKind::CoreRead | RequestKind::IoRead => request.for_store,
            RequestKind::IoWrite | RequestKind::IoPut | RequestKind::IoOwn => true,
            _ => return false,
        };
        let from = self.requesting_socket(&request);
        let Some(peer) = context.caches.peer_with(request.line, from, !writes) else { return false };
        let home = context.homes.of(request.line);
        let snoop = self.send_to(peer, RequestKind::Snoop, home, id, context);
        // The snoop takes the copy away if the request writes.
        context.requests.get_mut(snoop).for_store = writes;
        true
    }

    /// Answers a snoop of the home socket for the copy of this one.
    pub(super) fn on_snoop(&mut self, id: RequestId, context: &mut Context) {
        let Request { line, for_store, owner, .. } = *context.requests.get(id);
        let taken = |caches: &mut Caches| if for_store { caches.give_up(line) } else { caches.lend(line) };
        let dirty = context.caches.own().and_then(taken);
        // The credit of the snoop is back with this message, one UPI latency later.
        context.send(owner, self.config.upi_ps, Payload::Admitted(id));
        // The home agent forwards the answer to its CHA. That delay is added here, where it is as long. A lookup that
        // finds no data takes no time, as on the home socket.
        let [_, from_agent] = self.config.agent_ps(self.remote_sockets());
        let (lookup, answer) = match dirty {
            Some(_) => (self.config.hit_ps, Payload::Data(id)),
            None => (0, Payload::Acknowledged(id)),
        };
        let delay = lookup.max(NEXT_PS) + from_agent;
        context.send(owner, delay, answer);
    }

    /// Handles the answer of a remote socket to a snoop, with the data if `dirty`. The data serves a read, and memory
    /// gets it too unless a store follows. Any other request proceeds as it would without the copy.
    pub(super) fn on_snoop_answer(&mut self, id: RequestId, dirty: bool, context: &mut Context) {
        let Request { kind, line, class, for_store, owner, .. } = *context.requests.get(id);
        // A home snoop runs beside the read of memory, so its answer only releases that read.
        if self.upi_transfer().snoop_tracker.waits(id) {
            if dirty {
                let write = create_background_request(RequestKind::Evict, line, class, context);
                context.send(context.id, NEXT_PS, Payload::Arrive(write));
            }
            if self.upi_transfer().snoop_tracker.answer(id) {
                self.on_read(id, context);
            }
            return;
        }
        // Without data the request starts again; the copy is gone, so it is not snooped twice.
        if !(dirty && kind.is_read()) {
            return self.arrive_multisocket(id, context);
        }
        // A load leaves the line clean in all caches, so memory must get the data.
        if !for_store {
            let write = create_background_request(RequestKind::Evict, line, class, context);
            context.send(context.id, NEXT_PS, Payload::Arrive(write));
        }
        if self.requesting_socket(context.requests.get(id)).is_some() {
            self.config.note_owner(id, context);
            self.config.read_ahead(self.remote_sockets(), id, context);
            context.send(owner, self.config.upi_ps, Payload::Admitted(id));
            context.send(owner, NEXT_PS, Payload::Data(id));
        } else if kind == RequestKind::CoreRead {
            self.record_remote_read(id, context);
            context.send(owner, self.config.from_cha_ps, Payload::Data(id));
        } else {
            context.send(owner, self.config.io_read_return_ps, Payload::Data(id));
        }
    }

    /// Records in the caches a line that a local core reads and a remote socket had.
    fn record_remote_read(&mut self, id: RequestId, context: &mut Context) {
        let Request { class, line, owner, .. } = *context.requests.get(id);
        let core = self.config.wiring.cores.number(owner);
        if let Some(evicted) = context.caches().read(core, line, class).evicted {
            evict(evicted, context);
        }
        self.fill_inclusive_llc(id, context);
    }
}
