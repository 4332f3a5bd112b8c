//! Counters of a server in a memory pool.

use crate::line::PoolKind;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Counters of a server in a memory pool since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PoolCounts {
    /// Reads that have ended.
    pub reads: u64,
    /// Writes that have ended.
    pub writes: u64,
    /// Reads that hit a prefetched line.
    pub prefetch_hits: u64,
    /// Reads whose prefetch was still in flight, so that the read was sent to the lender, too.
    pub prefetch_late: u64,
    /// Prefetches sent.
    pub prefetches: u64,
    /// Prefetches not sent because the whole queue was in flight.
    pub prefetch_full: u64,
    /// NACKs received.
    pub nacks: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Answers to requests that have ended already: duplicates, and unused prefetches.
    pub stale: u64,
    /// Reads served by local memory as a cache of the pool.
    pub cache_reads: u64,
    /// Writes served by local memory as a cache of the pool.
    pub cache_writes: u64,
    /// Cache writes to a line that was already dirty.
    pub overwritten: u64,
    /// Reads sent to the lender although their line was in flight to the cache.
    pub cache_late: u64,
    /// Reads whose page got no frame, because all frames examined had dirty lines.
    pub cache_full: u64,
    /// Pages that got a frame.
    pub pages_in: u64,
    /// Pages that lost their frame.
    pub pages_out: u64,
    /// Lines of pages that were fetched without demand.
    pub fetches: u64,
    /// Fetches that timed out.
    pub fetches_lost: u64,
    /// Lines that arrived and were written to the cache.
    pub lines_in: u64,
    /// Dirty lines that were written back.
    pub lines_out: u64,
    /// Requests for shared pages that were granted: for reading, and for writing.
    pub granted: [u64; 2],
    /// Time from such a request to its grant, in ps.
    pub grant_latency: Histogram,
    /// Orders to give a page away, or to stop writing it.
    pub taken: u64,
    /// Time from the CHA's admission to completion at the CHA, in ps: of reads, and of writes.
    pub latency: [Histogram; 2],
    /// Bytes sent on the wire, by [`PoolKind`].
    pub sent_bytes: [u64; PoolKind::COUNT],
    /// Lines read and written here for other servers.
    pub served: [u64; 2],
}

impl PoolCounts {
    /// Resets all counters.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Returns the bytes on the wire of messages about rights to shared pages.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        use PoolKind::{Demote, Granted, Left, Own, Revoke, Share};
        self.bytes_of(&[Share, Own, Granted, Revoke, Demote, Left])
    }

    /// Returns the bytes on the wire of messages of the given kinds.
    #[must_use]
    pub fn bytes_of(&self, kinds: &[PoolKind]) -> u64 {
        kinds.iter().map(|&kind| self.sent_bytes[kind as usize]).sum()
    }
}
