//! What the CHA does for cores of other sockets.
//!
//! Their lines are not kept in the LLC of this socket; what it happens to hold of them, such as what a device has
//! written, it hands over.

use super::Cha;
use crate::line::{Kind, Request, RequestId};
use crate::part::{Context, Payload};

/// From the data of a line at the memory side to the arrival of its directory's write at the channel, in ps.
const DIRECTORY_PS: u64 = 1;

impl Cha {
    /// Lets the LLC have a request of another socket; true when it needs nothing of memory. A line that another socket
    /// writes leaves the LLC.
    pub(super) fn serve_remote(&mut self, id: RequestId, context: &mut Context) -> bool {
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

    /// With a directory in memory, a write of the line notes that another socket owns it. The memory side makes it: it
    /// takes no entry of the CHA, and nothing waits for it.
    pub(super) fn note_owner(&self, id: RequestId, context: &mut Context) {
        let Request { class, line, for_store, .. } = *context.requests.get(id);
        if self.directory && for_store {
            let id = Self::write_by_itself(Kind::Directory, line, class, context);
            let channel = self.wiring.channels.get(u32::from(context.requests.get(id).place.channel));
            context.tell(channel, DIRECTORY_PS, Payload::Arrive(id));
        }
    }
}
