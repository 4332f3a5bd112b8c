//! Requests of remote sockets for lines homed here.
//!
//! The LLC does not allocate lines for remote sockets. It serves the copies that it happens to hold, such as lines
//! that a device has written.

use super::background::{create_background_request, evict};
use super::config::{ChaConfig, NEXT_PS};
use super::remote_sockets::RemoteSockets;
use crate::line::{Request, RequestId, RequestKind};
use crate::part::{Context, Payload};

/// Delay from the data of a line at the memory side to the arrival of its directory write at the channel, in ps.
const DIRECTORY_PS: u64 = 1;

impl ChaConfig {
    /// Returns the delays from a slice to the home agent and back, in ps. The agent is as far away as the memory
    /// controller. Both are 0 without home snoop: the CHA itself is the home.
    pub(super) fn agent_ps(&self, remote_sockets: Option<&RemoteSockets>) -> [u64; 2] {
        match remote_sockets {
            Some(sockets) if sockets.broadcast => [self.params.read_to_mc_ps, self.params.from_mc_ps],
            _ => [0, 0],
        }
    }

    /// Looks up a request of a remote socket in the caches. Returns true if they serve it without memory. A line that
    /// the remote socket writes is invalidated.
    pub(super) fn serve_remote(
        &self,
        remote_sockets: Option<&RemoteSockets>,
        id: RequestId,
        context: &mut Context,
    ) -> bool {
        if remote_sockets.is_some() {
            return self.serve_cached_socket(remote_sockets, id, context);
        }
        let Request { kind, line, for_store, owner, .. } = *context.requests.get(id);
        // Looked up before the copy is invalidated, since a hit still serves the read.
        let hit = kind == RequestKind::CoreRead && context.caches().llc_has(line);
        // The remote socket will have a newer line, so the copy here is stale from now on.
        if for_store || kind == RequestKind::CoreWrite {
            context.caches().io_invalidate(line);
        }
        if hit {
            context.send(owner, self.upi_ps, Payload::Admitted(id));
            self.note_owner(id, context);
            context.send(owner, self.hit_ps + self.from_cha_ps, Payload::Data(id));
        }
        hit
    }

    /// Looks up a request of a remote socket that has simulated caches. Returns true if the caches serve it without
    /// memory.
    fn serve_cached_socket(
        &self,
        remote_sockets: Option<&RemoteSockets>,
        id: RequestId,
        context: &mut Context,
    ) -> bool {
        let Request { kind, line, class, owner, .. } = *context.requests.get(id);
        // With home snoop the agent looks up the LLC, over the path from the CHA to the agent in the opposite
        // direction.
        let [agent, _] = self.agent_ps(remote_sockets);
        match kind {
            RequestKind::CoreRead | RequestKind::IoRead => {
                let hit = match kind {
                    // The socket of the device has counted the access.
                    RequestKind::IoRead => context.caches().has(line),
                    _ => lend(id, context),
                };
                if !hit {
                    return false;
                }
                self.note_owner(id, context);
                // Memory has read the line in parallel, which costs bandwidth although a cache serves it.
                self.read_ahead(remote_sockets, id, context);
                context.send(owner, self.upi_ps, Payload::Admitted(id));
                // At least 1 ps: every event lies ahead, even without an LLC latency.
                context.send(owner, self.hit_ps.max(NEXT_PS) + agent, Payload::Data(id));
                true
            }
            RequestKind::IoPut => {
                context.send(owner, NEXT_PS, Payload::Admitted(id));
                if let Some(evicted) = context.caches().io_write(line, class).evicted {
                    evict(evicted, context);
                }
                context.send(owner, self.put_ps.max(NEXT_PS) + agent, Payload::Acknowledged(id));
                true
            }
            RequestKind::IoWrite => {
                context.caches().io_invalidate(line);
                false
            }
            // A copy that the caches hold by now is newer than the line that the remote socket writes back.
            _ => false,
        }
    }

    /// Grants a device of a remote socket ownership of a line that it will overwrite. The caches lose their copy.
    pub(super) fn on_ownership(&self, remote_sockets: Option<&RemoteSockets>, id: RequestId, context: &mut Context) {
        let Request { line, owner, .. } = *context.requests.get(id);
        if let Some(caches) = context.caches.own() {
            caches.io_invalidate(line);
        }
        self.read_ahead(remote_sockets, id, context);
        let [agent, _] = self.agent_ps(remote_sockets);
        // The request takes no entry, so its credit returns at once, one UPI latency later.
        context.send(owner, self.upi_ps, Payload::Admitted(id));
        context.send(owner, self.hit_ps.max(NEXT_PS) + agent, Payload::Acknowledged(id));
    }

    /// Makes memory read a line that no requester needs, as the speculative read of a request that turned out not to
    /// need memory. The read takes no entry of the CHA, and nothing waits for it.
    pub(super) fn read_ahead(&self, remote_sockets: Option<&RemoteSockets>, id: RequestId, context: &mut Context) {
        if !remote_sockets.is_some_and(|sockets| sockets.speculative) {
            return;
        }
        let Request { class, line, .. } = *context.requests.get(id);
        let id = create_background_request(RequestKind::Speculate, line, class, context);
        self.to_channel(id, self.params.read_to_mc_ps, context);
    }

    /// Records in the directory in memory, if there is one, that another socket owns a line: a write of the line that
    /// the memory side makes. The write takes no entry of the CHA, and nothing waits for it.
    pub(super) fn note_owner(&self, id: RequestId, context: &mut Context) {
        let Request { class, line, for_store, .. } = *context.requests.get(id);
        // A read without a store changes no owner, so the directory is not written.
        if self.directory && for_store {
            let id = create_background_request(RequestKind::Directory, line, class, context);
            self.to_channel(id, DIRECTORY_PS, context);
        }
    }
}

/// Gives a core of a remote socket the copy of a line. Returns true if the caches have one. Dirty data also goes
/// to memory, unless a store follows.
fn lend(id: RequestId, context: &mut Context) -> bool {
    let Request { line, class, for_store, .. } = *context.requests.get(id);
    let caches = context.caches();
    let hit = caches.has(line);
    // A store takes the line away; a load leaves a clean copy here.
    let dirty = if for_store { caches.give_up(line) } else { caches.lend(line) };
    // A reader without a store has the line clean, so memory must get the dirty data now.
    if dirty.is_some() && !for_store {
        let write = create_background_request(RequestKind::Evict, line, class, context);
        context.send(context.id, NEXT_PS, Payload::Arrive(write));
    }
    hit
}
