//! Prefetcher of the buffer device (nPrefetcher): reads the lines after one that the host has read.

use crate::line::RequestId;
use serde::{Deserialize, Serialize};

/// Lines of a page, at the end of which the prefetcher stops.
const PAGE_LINES: u64 = 64;

/// Line in flight from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PrefetchInFlight {
    line: u64,
    id: RequestId,
    /// Read of the host that waits for the line.
    reader: RequestId,
    /// True if the line has been written since the prefetch began: no further read may have it.
    stale: bool,
}

/// Use of a prefetched line that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrefetchOutcome {
    /// The cache takes the line.
    Keep,
    /// A read of the host waits for the line.
    Hand(RequestId),
    /// The line is stale and dropped.
    Drop,
}

/// Prefetcher of the buffer device.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct NPrefetcher {
    depth: u64,
    coming: Vec<PrefetchInFlight>,
}

impl NPrefetcher {
    pub(super) fn new(depth: u32) -> Self {
        Self { depth: depth.into(), coming: Vec::with_capacity(64) }
    }

    /// Returns the lines to read after an access to `line`, of those that `wanted` accepts.
    pub(super) fn after(&self, line: u64, wanted: impl Fn(u64) -> bool) -> Vec<u64> {
        // Lines of another page need not follow in physical memory.
        let within = (PAGE_LINES - 1 - line % PAGE_LINES).min(self.depth);
        let coming = |line: u64| self.coming.iter().any(|coming| coming.line == line && !coming.stale);
        (line + 1..=line + within).filter(|&line| wanted(line) && !coming(line)).collect()
    }

    /// Records a line that is read from memory.
    pub(super) fn begin(&mut self, line: u64, id: RequestId) {
        self.coming.push(PrefetchInFlight { line, id, reader: RequestId::NONE, stale: false });
    }

    /// Makes a read of the host wait for a line in flight. Returns false if there is no such line, or another read
    /// waits.
    pub(super) fn join(&mut self, line: u64, reader: RequestId) -> bool {
        let free =
            |coming: &&mut PrefetchInFlight| coming.line == line && !coming.stale && coming.reader == RequestId::NONE;
        let found = self.coming.iter_mut().find(free);
        found.map(|coming| coming.reader = reader).is_some()
    }

    /// Records that a line is written to memory.
    pub(super) fn write(&mut self, line: u64) {
        self.coming.iter_mut().filter(|coming| coming.line == line).for_each(|coming| coming.stale = true);
    }

    /// Handles a line that has arrived. Returns its use.
    pub(super) fn end(&mut self, id: RequestId) -> PrefetchOutcome {
        let at = self.coming.iter().position(|coming| coming.id == id).expect("a prefetch that was begun comes back");
        let PrefetchInFlight { reader, stale, .. } = self.coming.swap_remove(at);
        match (reader, stale) {
            (RequestId::NONE, false) => PrefetchOutcome::Keep,
            (RequestId::NONE, true) => PrefetchOutcome::Drop,
            // A reader that joined before the write may still have the older value.
            (reader, _) => PrefetchOutcome::Hand(reader),
        }
    }
}
