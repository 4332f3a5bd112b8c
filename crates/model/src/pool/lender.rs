//! Accesses to the lender's memory for other servers.

use super::cache::FrameLine;
use super::PoolPort;
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

impl PoolPort {
    /// Reads or writes a line for another server at its channel, bypassing the CHA.
    pub(super) fn serve(&mut self, message: PoolMessage, context: &mut Context) {
        let line = self.pages.physical(self.wiring.lent + message.line * 64) / 64;
        let writes = matches!(message.kind, PoolKind::Write | PoolKind::WriteBack | PoolKind::Return);
        // The CHA passes on the answers to these two kinds without an entry of its request buffer.
        let kind = if writes { RequestKind::Directory } else { RequestKind::Speculate };
        let delay_ps = self.params.latency_ps + self.wiring.to_channel_ps;
        self.access_beside_cha(line, kind, BesideAccess::Asked(message), delay_ps, context);
    }

    /// Reads or writes a physical line at its channel, bypassing the CHA. The request reaches the channel after
    /// `delay_ps`.
    pub(super) fn access_beside_cha(
        &mut self,
        line: u64,
        kind: RequestKind,
        served: BesideAccess,
        delay_ps: u64,
        context: &mut Context,
    ) {
        let request = context.request(kind, line, self.wiring.class, 0);
        let id = context.requests.insert(request);
        let index = id.0 as usize;
        // Grows to the largest request number once, and then no longer allocates.
        self.serving.resize(self.serving.len().max(index + 1), None);
        self.serving[index] = Some(served);
        let channel = self.wiring.channels.get(u32::from(request.place.channel));
        context.notify(channel, delay_ps, Payload::Arrive(id));
    }

    /// Continues after an access that bypassed the CHA.
    pub(super) fn served(&mut self, id: RequestId, context: &mut Context) {
        context.requests.remove(id);
        let served = self.serving.get_mut(id.0 as usize).and_then(Option::take);
        match served.expect("it is for somebody or something") {
            BesideAccess::Asked(message) => self.answer(message, context),
            BesideAccess::Kept(spot) => self.kept(spot),
            BesideAccess::Leaving(place) => self.send_transfer(place, context),
        }
    }

    /// Answers another server.
    fn answer(&mut self, message: PoolMessage, context: &mut Context) {
        let kind = match message.kind {
            PoolKind::Write => PoolKind::Written,
            PoolKind::Prefetch => PoolKind::Prefetched,
            PoolKind::Fetch => PoolKind::Fetched,
            PoolKind::WriteBack | PoolKind::Return => PoolKind::WrittenBack,
            _ => PoolKind::Data,
        };
        let written = matches!(kind, PoolKind::Written | PoolKind::WrittenBack);
        self.counts.served[usize::from(written)] += 1;
        self.send(PoolMessage { kind, ..message }, message.requester, 0, context);
    }
}
