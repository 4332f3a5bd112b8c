//! Accesses to the memory of a server that bypass its CHA, for other servers and for the local cache of the pool.

use super::cache::FrameLine;
use super::PoolWiring;
use crate::line::{PoolKind, PoolMessage, RequestId, RequestKind};
use crate::part::{Context, Payload};
use serde::{Deserialize, Serialize};

/// Purpose of an access beside the CHA.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) enum BesideAccess {
    /// Request of another server.
    Asked(PoolMessage),
    /// Write of an arrived line to its frame in the local cache.
    Kept(FrameLine),
    /// Read of a dirty line for its write-back. Holds the index of the transfer.
    Leaving(u32),
}

/// Accesses beside the CHA that are in flight.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct BesideAccesses {
    /// Purpose of each access, by the id of the request.
    serving: Vec<Option<BesideAccess>>,
}

impl BesideAccesses {
    /// Reads or writes a physical line at its channel, bypassing the CHA. The request reaches the channel after
    /// `delay_ps`.
    pub(super) fn start(
        &mut self,
        wiring: &PoolWiring,
        (line, kind): (u64, RequestKind),
        served: BesideAccess,
        delay_ps: u64,
        context: &mut Context,
    ) {
        let request = context.request(kind, line, wiring.class, 0);
        let id = context.requests.insert(request);
        let index = id.0 as usize;
        // Grows to the largest request number once, and then no longer allocates.
        self.serving.resize(self.serving.len().max(index + 1), None);
        self.serving[index] = Some(served);
        let channel = wiring.channels.get(u32::from(request.place.channel));
        context.notify(channel, delay_ps, Payload::Arrive(id));
    }

    /// Ends an access, and returns its purpose.
    pub(super) fn end(&mut self, id: RequestId, context: &mut Context) -> BesideAccess {
        context.requests.remove(id);
        let served = self.serving.get_mut(id.0 as usize).and_then(Option::take);
        served.expect("it is for somebody or something")
    }
}

/// Returns the kind of request by which a lender reads or writes a line for another server: the CHA passes on the
/// answers to these two kinds without an entry of its request buffer.
pub(super) fn request_kind(kind: PoolKind) -> RequestKind {
    match kind {
        PoolKind::Write | PoolKind::WriteBack | PoolKind::Return => RequestKind::Directory,
        _ => RequestKind::Speculate,
    }
}

/// Returns the kind of the answer to a request of another server.
pub(super) fn answer_kind(kind: PoolKind) -> PoolKind {
    match kind {
        PoolKind::Write => PoolKind::Written,
        PoolKind::Prefetch => PoolKind::Prefetched,
        PoolKind::Fetch => PoolKind::Fetched,
        PoolKind::WriteBack | PoolKind::Return => PoolKind::WrittenBack,
        _ => PoolKind::Data,
    }
}
