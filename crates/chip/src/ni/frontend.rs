//! Frontends: read work queues and write completion queues.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// State of the frontend of one queue pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Frontend {
    /// Entries taken from the work queue since the start.
    pub(crate) taken: u64,
    /// True while a poll of the work queue is scheduled.
    pub(crate) visiting: bool,
    /// True while the line of the work queue is being fetched.
    pub(crate) loading: bool,
    /// Entries written to the completion queue since the start.
    pub(crate) posted: u64,
    /// Operations that wait for their completion queue entry.
    pub(crate) posting: VecDeque<u32>,
    pub(crate) storing: bool,
}

impl Frontend {
    pub(crate) fn new(entries: u32) -> Self {
        let posting = VecDeque::with_capacity(entries as usize);
        Self { taken: 0, visiting: false, loading: false, posted: 0, posting, storing: false }
    }
}
