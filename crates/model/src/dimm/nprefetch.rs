//! The prefetcher of the buffer device (nPrefetcher): the lines after one that the host has read.

use crate::line::RequestId;
use serde::{Deserialize, Serialize};

/// Lines of a page, at whose end it stops.
const PAGE_LINES: u64 = 64;

/// A line on its way from memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Coming {
    line: u64,
    id: RequestId,
    /// A read of the host that waits for it.
    reader: RequestId,
    /// Whether it has been written since: then nobody may have it.
    stale: bool,
}

/// What becomes of a prefetched line that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arrived {
    /// The cache takes it.
    Keep,
    /// A read of the host waits for it.
    Hand(RequestId),
    /// Nobody may have it.
    Drop,
}

/// The prefetcher.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct NPrefetcher {
    depth: u64,
    coming: Vec<Coming>,
}

impl NPrefetcher {
    pub(super) fn new(depth: u32) -> Self {
        Self { depth: depth.into(), coming: Vec::with_capacity(64) }
    }

    /// The lines to read after an access to `line`, of those that `wanted` says.
    pub(super) fn after(&self, line: u64, wanted: impl Fn(u64) -> bool) -> Vec<u64> {
        let within = (PAGE_LINES - 1 - line % PAGE_LINES).min(self.depth);
        let coming = |line: u64| self.coming.iter().any(|coming| coming.line == line && !coming.stale);
        (line + 1..=line + within).filter(|&line| wanted(line) && !coming(line)).collect()
    }

    /// A line is read from memory.
    pub(super) fn begin(&mut self, line: u64, id: RequestId) {
        self.coming.push(Coming { line, id, reader: RequestId::NONE, stale: false });
    }

    /// A read of the host waits for a line that is on its way, if it is.
    pub(super) fn join(&mut self, line: u64, reader: RequestId) -> bool {
        let free = |coming: &&mut Coming| coming.line == line && !coming.stale && coming.reader == RequestId::NONE;
        let found = self.coming.iter_mut().find(free);
        found.map(|coming| coming.reader = reader).is_some()
    }

    /// A line is written to memory.
    pub(super) fn write(&mut self, line: u64) {
        self.coming.iter_mut().filter(|coming| coming.line == line).for_each(|coming| coming.stale = true);
    }

    /// A line has come.
    pub(super) fn end(&mut self, id: RequestId) -> Arrived {
        let at = self.coming.iter().position(|coming| coming.id == id).expect("a prefetch that was begun comes back");
        let Coming { reader, stale, .. } = self.coming.swap_remove(at);
        match (reader, stale) {
            (RequestId::NONE, false) => Arrived::Keep,
            (RequestId::NONE, true) => Arrived::Drop,
            (reader, _) => Arrived::Hand(reader),
        }
    }
}
