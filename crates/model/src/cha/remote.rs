//! What the CHA does for other sockets, at home.
//!
//! Their lines are not kept in the LLC of this socket; what its caches happen to hold of them, such as what a device
//! has written, it hands over.

use super::abroad::NEXT_PS;
use super::Cha;
use crate::line::{Kind, Request, RequestId};
use crate::part::{Context, Payload};

/// From the data of a line at the memory side to the arrival of its directory's write at the channel, in ps.
const DIRECTORY_PS: u64 = 1;

impl Cha {
    /// Lets the caches have a request of another socket; true when it needs nothing of memory. A line that another
    /// socket writes leaves them.
    pub(super) fn serve_remote(&mut self, id: RequestId, context: &mut Context) -> bool {
        if self.crossing.is_some() {
            return self.serve_socket(id, context);
        }
        let Request { kind, line, for_store, owner, .. } = *context.requests.get(id);
        let hit = kind == Kind::CoreRead && context.caches().llc_has(line);
        if for_store || kind == Kind::CoreWrite {
            context.caches().io_invalidate(line);
        }
        if hit {
            context.send(owner, self.upi_ps, Payload::Admitted(id));
            self.note_owner(id, context);
            context.send(owner, self.hit_ps + self.from_cha_ps, Payload::Data(id));
        }
        hit
    }

    /// The same for a socket whose caches are simulated, too.
    fn serve_socket(&mut self, id: RequestId, context: &mut Context) -> bool {
        let Request { kind, line, class, owner, .. } = *context.requests.get(id);
        // The agent asks the LLC: the same way, the other way round.
        let [agent, _] = self.agent_ps();
        match kind {
            Kind::CoreRead | Kind::IoRead => {
                let hit = match kind {
                    // Its own socket has counted it.
                    Kind::IoRead => context.caches().has(line),
                    _ => self.lend(id, context),
                };
                if !hit {
                    return false;
                }
                self.note_owner(id, context);
                self.read_ahead(id, context);
                context.send(owner, self.upi_ps, Payload::Admitted(id));
                context.send(owner, self.hit_ps.max(NEXT_PS) + agent, Payload::Data(id));
                true
            }
            Kind::IoPut => {
                context.send(owner, NEXT_PS, Payload::Admitted(id));
                if let Some(evicted) = context.caches().io_write(line, class).evicted {
                    self.evict(evicted, context);
                }
                context.send(owner, self.put_ps.max(NEXT_PS) + agent, Payload::Acknowledged(id));
                true
            }
            Kind::IoWrite => {
                context.caches().io_invalidate(line);
                false
            }
            // Whatever the caches have by now of a line that another socket writes back is newer.
            _ => false,
        }
    }

    /// A core of another socket gets what the caches have of a line. Memory gets dirty data, unless they are to be
    /// stored to. Returns whether there is anything.
    fn lend(&mut self, id: RequestId, context: &mut Context) -> bool {
        let Request { line, class, for_store, .. } = *context.requests.get(id);
        let caches = context.caches();
        let hit = caches.has(line);
        let dirty = if for_store { caches.give_up(line) } else { caches.lend(line) };
        if dirty.is_some() && !for_store {
            let write = Self::write_by_itself(Kind::Evict, line, class, context);
            context.send(context.id, NEXT_PS, Payload::Arrive(write));
        }
        hit
    }

    /// A device of another socket asks for a line, to write all of it: the caches lose it.
    pub(super) fn on_ownership(&mut self, id: RequestId, context: &mut Context) {
        let Request { line, owner, .. } = *context.requests.get(id);
        if let Some(caches) = context.caches.own() {
            caches.io_invalidate(line);
        }
        self.read_ahead(id, context);
        let [agent, _] = self.agent_ps();
        context.send(owner, self.upi_ps, Payload::Admitted(id));
        context.send(owner, self.hit_ps.max(NEXT_PS) + agent, Payload::Acknowledged(id));
    }

    /// Memory reads a line that the caches or nobody need, because it was asked before that was known. It takes no
    /// entry of the CHA, and nothing waits for it.
    pub(super) fn read_ahead(&self, id: RequestId, context: &mut Context) {
        if !self.crossing.as_ref().is_some_and(|crossing| crossing.abroad.speculative) {
            return;
        }
        let Request { class, line, .. } = *context.requests.get(id);
        let id = Self::write_by_itself(Kind::Speculate, line, class, context);
        self.to_channel(id, self.params.read_to_mc_ps, context);
    }

    /// With a directory in memory, a write of the line notes that another socket owns it. The memory side makes it: it
    /// takes no entry of the CHA, and nothing waits for it.
    pub(super) fn note_owner(&self, id: RequestId, context: &mut Context) {
        let Request { class, line, for_store, .. } = *context.requests.get(id);
        if self.directory && for_store {
            let id = Self::write_by_itself(Kind::Directory, line, class, context);
            self.to_channel(id, DIRECTORY_PS, context);
        }
    }
}
