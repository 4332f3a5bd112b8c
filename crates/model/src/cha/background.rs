//! Requests of a CHA that no part waits for.

use crate::cache::EvictedLine;
use crate::line::{RequestId, RequestKind};
use crate::part::{Context, Payload};

/// Delay from the decision to write a line to memory until the request arrives at its slice or channel, in ps.
pub(super) const EVICT_PS: u64 = 1;

/// Writes a dirty line to memory. Nothing waits for that write.
pub(super) fn evict(evicted: EvictedLine, context: &mut Context) {
    let id = create_background_request(RequestKind::Evict, evicted.line, evicted.class, context);
    context.send(context.id, EVICT_PS, Payload::Arrive(id));
}

/// Creates a request of this CHA that no part waits for: a write, or a speculative read.
pub(super) fn create_background_request(kind: RequestKind, line: u64, class: u8, context: &mut Context) -> RequestId {
    let request = context.request(kind, line, class, 0);
    context.requests.insert(request)
}
