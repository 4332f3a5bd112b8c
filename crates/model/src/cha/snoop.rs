//! What the caches of other sockets have of lines that are at home here.
//!
//! The home knows who has a line, as a directory does that is never out of date, and asks only then: of a dirty copy
//! before it lets a line be read, of any copy before it lets one be written. Without a directory it asks all others
//! while memory reads (home snoop), and what they have is known all the same: only the time differs. Who asks then is
//! a home agent beside the memory controller, so that snoops and answers have the way from there to the CHA, too.

use super::abroad::NEXT_PS;
use super::Cha;
use crate::cache::Caches;
use crate::line::{Kind, Request, RequestId};
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};

/// Reads that memory answers and that wait for snoops: how many of these are out, and whether the data is there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Asked(Vec<(u8, bool)>);

impl Asked {
    fn ask(&mut self, id: RequestId, snoops: u8) {
        let at = id.0 as usize;
        if self.0.len() <= at {
            self.0.resize(at + 1, (0, false));
        }
        self.0[at] = (snoops, false);
    }

    fn waits(&self, id: RequestId) -> bool {
        self.0.get(id.0 as usize).is_some_and(|&(out, _)| out > 0)
    }

    /// Memory has read the line: whether it waits for snoops.
    pub(super) fn data(&mut self, id: RequestId) -> bool {
        let waits = self.waits(id);
        if waits {
            self.0[id.0 as usize].1 = true;
        }
        waits
    }

    /// A snoop is answered: whether it was the last and the data is there.
    fn answer(&mut self, id: RequestId) -> bool {
        let (out, data) = &mut self.0[id.0 as usize];
        *out -= 1;
        *out == 0 && *data
    }
}

impl Cha {
    /// Asks all other sockets about a line that memory is about to read for this one, if there is no directory.
    pub(super) fn ask_all(&mut self, id: RequestId, context: &mut Context) {
        let request = *context.requests.get(id);
        let reads = matches!(request.kind, Kind::CoreRead | Kind::IoRead);
        if !reads || !self.crossing().abroad.broadcast {
            return;
        }
        let from = self.comes_from(&request);
        let others: Vec<u8> = self.crossing().abroad.others().filter(|&socket| Some(socket) != from).collect();
        let home = context.homes.of(request.line);
        self.crossing().asked.ask(id, others.len() as u8);
        for socket in others {
            let snoop = self.send_to(socket, Kind::Snoop, home, id, context);
            context.requests.get_mut(snoop).for_store = false;
        }
    }

    /// Asks another socket for its copy of a line, if a request needs that; then the request waits.
    pub(super) fn snoops(&mut self, id: RequestId, context: &mut Context) -> bool {
        let request = *context.requests.get(id);
        let writes = match request.kind {
            Kind::CoreRead | Kind::IoRead => request.for_store,
            Kind::IoWrite | Kind::IoPut | Kind::IoOwn => true,
            _ => return false,
        };
        let from = self.comes_from(&request);
        let Some(peer) = context.caches.peer_with(request.line, from, !writes) else { return false };
        let home = context.homes.of(request.line);
        let snoop = self.send_to(peer, Kind::Snoop, home, id, context);
        context.requests.get_mut(snoop).for_store = writes;
        true
    }

    /// A socket where a line is at home asks for the copy of this one.
    pub(super) fn on_snoop(&mut self, id: RequestId, context: &mut Context) {
        let Request { line, for_store, owner, .. } = *context.requests.get(id);
        let taken = |caches: &mut Caches| if for_store { caches.give_up(line) } else { caches.lend(line) };
        let dirty = context.caches.own().and_then(taken);
        context.send(owner, self.upi_ps, Payload::Admitted(id));
        // The home agent passes the answer on: its way to the CHA there counts here, where it is as long. A lookup that
        // finds no data takes no time of its own, as at home.
        let [_, from_agent] = self.agent_ps();
        let (lookup, answer) = match dirty {
            Some(_) => (self.hit_ps, Payload::Data(id)),
            None => (0, Payload::Acknowledged(id)),
        };
        let delay = lookup.max(NEXT_PS) + from_agent;
        context.send(owner, delay, answer);
    }

    /// Another socket has answered for its copy; `dirty` if with the data. A read has them then, and memory gets them
    /// unless a store follows. Everything else goes on as it would have without the copy.
    pub(super) fn on_snooped(&mut self, id: RequestId, dirty: bool, context: &mut Context) {
        let Request { kind, line, class, for_store, owner, .. } = *context.requests.get(id);
        if self.crossing().asked.waits(id) {
            if dirty {
                let write = Self::write_by_itself(Kind::Evict, line, class, context);
                context.send(context.id, NEXT_PS, Payload::Arrive(write));
            }
            if self.crossing().asked.answer(id) {
                self.on_read(id, context);
            }
            return;
        }
        if !(dirty && kind.is_read()) {
            return self.arrive_from_sockets(id, context);
        }
        if !for_store {
            let write = Self::write_by_itself(Kind::Evict, line, class, context);
            context.send(context.id, NEXT_PS, Payload::Arrive(write));
        }
        if self.comes_from(context.requests.get(id)).is_some() {
            self.note_owner(id, context);
            self.read_ahead(id, context);
            context.send(owner, self.upi_ps, Payload::Admitted(id));
            context.send(owner, NEXT_PS, Payload::Data(id));
        } else if kind == Kind::CoreRead {
            self.take_in(id, context);
            context.send(owner, self.from_cha_ps, Payload::Data(id));
        } else {
            context.send(owner, self.io_read_return_ps, Payload::Data(id));
        }
    }

    /// The caches note a line that one of their cores reads and another socket had.
    fn take_in(&mut self, id: RequestId, context: &mut Context) {
        let Request { class, line, owner, .. } = *context.requests.get(id);
        let core = self.wiring.cores.number(owner);
        if let Some(evicted) = context.caches().read(core, line, class).evicted {
            self.evict(evicted, context);
        }
        self.keep_in_llc(id, context);
    }
}
