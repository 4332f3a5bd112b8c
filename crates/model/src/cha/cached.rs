//! Lookups and fills of the last-level cache (LLC).
//!
//! A request that the LLC serves alone passes without an entry of the request buffer. A line that displaces a dirty
//! victim waits until the memory controller has accepted the victim: the request carries the victim to memory.

use super::background::evict;
use super::Cha;
use crate::cache::{EvictedLine, Victim};
use crate::line::{Home, Request, RequestId, RequestKind};
use crate::part::{Context, Payload};

impl Cha {
    /// Looks a request up in the LLC. Returns true if the LLC serves it without memory.
    pub(super) fn serve_from_llc(&mut self, id: RequestId, context: &mut Context) -> bool {
        let now = context.now();
        let request = context.requests.get_mut(id);
        request.admitted = now;
        let is_remote = self.is_remote_line(request);
        let Request { kind, class, line, owner, .. } = *request;
        if self.config.wiring.upis.contains(owner) {
            return self.config.serve_remote(self.remote_sockets(), id, context);
        }
        match kind {
            RequestKind::CoreRead => self.serve_core(id, context),
            RequestKind::CoreWrite | RequestKind::CoreClean | RequestKind::CoreDrop => {
                let victim =
                    // A dropped line is not allocated, but the snoop filter must forget the core.
                    Victim { line, class, dirty: kind == RequestKind::CoreWrite, taken: kind != RequestKind::CoreDrop };
                let core = self.config.wiring.cores.number(owner);
                let evicted = context.caches().put(core, victim);
                if self.carry_victim(id, evicted, context) {
                    return false;
                }
                if kind == RequestKind::CoreWrite {
                    context.send(owner, self.config.core_write_ack_ps, Payload::Taken(id));
                } else {
                    context.requests.remove(id);
                }
                true
            }
            RequestKind::Flush | RequestKind::FlushDoorbell | RequestKind::FlushTail => {
                // The write-back leaves a clean copy, as CLWB does.
                let dirty = context.caches().clean(line);
                // A flush that is a doorbell must reach the device even if the line is clean.
                let done = kind == RequestKind::Flush && !dirty;
                if done {
                    context.send(owner, self.config.core_write_ack_ps, Payload::Acknowledged(id));
                }
                done
            }
            // DDIO ends at the socket: a line homed elsewhere goes to its home (docs/models/upi.md).
            RequestKind::IoPut if !is_remote => {
                let evicted = context.caches().io_write(line, class).evicted;
                if self.carry_victim(id, evicted, context) {
                    return false;
                }
                context.send(owner, self.config.put_ps + self.config.io_write_ack_ps, Payload::Acknowledged(id));
                true
            }
            RequestKind::IoRead => {
                let hit = context.caches().io_read(line, class);
                if hit {
                    context.send(owner, self.config.hit_ps + self.config.io_read_return_ps, Payload::Data(id));
                }
                hit
            }
            RequestKind::IoWrite | RequestKind::IoPut => {
                context.caches().io_invalidate(line);
                false
            }
            _ => false,
        }
    }

    fn serve_core(&mut self, id: RequestId, context: &mut Context) -> bool {
        let Request { class, line, owner, .. } = *context.requests.get(id);
        let core = self.config.wiring.cores.number(owner);
        let read = context.caches().read(core, line, class);
        // The read took a snoop filter entry, whose old line may have been dirty in a core.
        if let Some(evicted) = read.evicted {
            evict(evicted, context);
        }
        let Some(dirty) = read.hit else { return false };
        // A reader that takes a dirty line over also takes the duty to write it back.
        context.requests.get_mut(id).for_store |= dirty;
        context.send(owner, self.config.hit_ps + self.config.from_cha_ps, Payload::Data(id));
        true
    }

    /// Fills an inclusive LLC with the line that a core has read, as its data passes.
    pub(super) fn fill_inclusive_llc(&mut self, id: RequestId, context: &mut Context) {
        let Request { kind, class, line, .. } = *context.requests.get(id);
        if kind != RequestKind::CoreRead {
            return;
        }
        if let Some(evicted) = context.caches().fetched(line, class) {
            evict(evicted, context);
        }
    }

    /// Makes a request carry the dirty victim of its line to memory. Returns true if it does. The entry still counts
    /// for the workload of the request. A victim homed on another socket leaves by a separate request.
    fn carry_victim(&mut self, id: RequestId, evicted: Option<EvictedLine>, context: &mut Context) -> bool {
        let Some(evicted) = evicted else { return false };
        let Home { socket, place, .. } = context.homes.of(evicted.line);
        // A request has one destination, so a victim homed on another socket needs its own.
        if socket != self.config.socket {
            evict(evicted, context);
            return false;
        }
        let request = context.requests.get_mut(id);
        // Memory traffic counts for the workload that wrote the victim.
        request.class = evicted.class;
        request.socket = socket;
        request.place = place;
        true
    }
}
