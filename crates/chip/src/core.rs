//! A core: writes entries of its work queue and reads those of its completion queue.

use serde::{Deserialize, Serialize};

/// Number of lines of data from which addresses are drawn.
pub(crate) const REGION_LINES: u64 = 1 << 30;

/// Activity of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum CoreActivity {
    /// The core is idle or waits for its turn.
    Nothing,
    /// The core computes, or writes or reads a queue entry.
    Busy,
    /// The core polls its completion queue.
    Spinning,
}

/// State of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Core {
    pub(crate) doing: CoreActivity,
    /// Entries written to the work queue since the start.
    pub(crate) written: u64,
    /// Entries read from the completion queue since the start.
    pub(crate) read: u64,
    /// True while a load of the completion queue is in flight.
    pub(crate) loading: bool,
    /// True while a poll is scheduled.
    pub(crate) polling: bool,
    /// Entries of the completion queue known to be written.
    pub(crate) seen: u64,
    /// Without queues: loads and stores in flight.
    pub(crate) out: u32,
    /// Without queues: true while the next one is scheduled.
    pub(crate) more: bool,
    /// Operation of each entry of the work queue.
    pub(crate) requests: Vec<u32>,
    /// Operation of each entry of the completion queue.
    pub(crate) completions: Vec<u32>,
    pub(crate) since_poll: u32,
    /// Operation whose entry is being written.
    pub(crate) storing: u32,
}

impl Core {
    pub(crate) fn new(entries: u32) -> Self {
        let ring = vec![0; entries as usize];
        Self {
            doing: CoreActivity::Nothing,
            written: 0,
            read: 0,
            loading: false,
            polling: false,
            seen: 0,
            out: 0,
            more: false,
            requests: ring.clone(),
            completions: ring,
            since_poll: 0,
            storing: 0,
        }
    }
}
