//! What a server did in a pool of memory since the last reset.

use crate::line::PoolKind;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// What a server did in a pool of memory since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PoolCounts {
    /// Reads and writes that have ended.
    pub reads: u64,
    /// See `reads`.
    pub writes: u64,
    /// Reads that found their line there already, read ahead.
    pub prefetch_hits: u64,
    /// Reads whose line was on its way, read ahead; they went out themselves.
    pub prefetch_late: u64,
    /// Prefetches that were sent.
    pub prefetches: u64,
    /// Prefetches that were not sent because all places of the queue had some on their way.
    pub prefetch_full: u64,
    /// NACKs that came.
    pub nacks: u64,
    /// Attempts beyond the first.
    pub retries: u64,
    /// Answers to requests that have ended: what comes twice, or was read ahead for nothing.
    pub stale: u64,
    /// Reads and writes that went to local memory, as a cache of the pool.
    pub cache_reads: u64,
    /// See `cache_reads`.
    pub cache_writes: u64,
    /// Of those writes: what was dirty there already.
    pub overwritten: u64,
    /// Reads that went out although their line was on its way to the cache.
    pub cache_late: u64,
    /// Reads whose page got no frame, as all that were looked at had dirty lines.
    pub cache_full: u64,
    /// Pages that got a frame, and that lost it.
    pub pages_in: u64,
    /// See `pages_in`.
    pub pages_out: u64,
    /// Lines of pages that were asked for beside demand, and that did not come.
    pub fetches: u64,
    /// See `fetches`.
    pub fetches_lost: u64,
    /// Lines that came and were written to the cache, and dirty ones that were written back.
    pub lines_in: u64,
    /// See `lines_in`.
    pub lines_out: u64,
    /// Requests for shared pages that were granted: to read them, and to write them.
    pub granted: [u64; 2],
    /// From such a request to its grant, in ps.
    pub grant_latency: Histogram,
    /// Times that it was told to give a page away, or to write it no more.
    pub taken: u64,
    /// From the CHA's admission of a read to its line at the CHA, in ps; and of writes.
    pub latency: [Histogram; 2],
    /// Bytes on the wire of what was sent, by [`PoolKind`].
    pub sent_bytes: [u64; PoolKind::COUNT],
    /// Lines that were read and written here for others.
    pub served: [u64; 2],
}

impl PoolCounts {
    /// Begins anew.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Bytes on the wire of messages about who may read and write shared pages.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        use PoolKind::{Demote, Granted, Left, Own, Revoke, Share};
        self.bytes_of(&[Share, Own, Granted, Revoke, Demote, Left])
    }

    /// Bytes on the wire of the messages of some kinds.
    #[must_use]
    pub fn bytes_of(&self, kinds: &[PoolKind]) -> u64 {
        kinds.iter().map(|&kind| self.sent_bytes[kind as usize]).sum()
    }
}
