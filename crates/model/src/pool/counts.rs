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
    /// From the CHA's admission of a read to its line at the CHA, in ps; and of writes.
    pub latency: [Histogram; 2],
    /// Bytes on the wire of what was sent, by [`PoolKind`].
    pub sent_bytes: [u64; 7],
    /// Lines that were read and written here for others.
    pub served: [u64; 2],
}

impl PoolCounts {
    /// Begins anew.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    /// Bytes on the wire of the messages of some kinds.
    #[must_use]
    pub fn bytes_of(&self, kinds: &[PoolKind]) -> u64 {
        kinds.iter().map(|&kind| self.sent_bytes[kind as usize]).sum()
    }
}
