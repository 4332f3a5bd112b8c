//! What a controller counts.

use serde::{Deserialize, Serialize};

/// What a controller did since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Lines read, per workload, forwarded ones among them.
    pub reads: Vec<u64>,
    /// Lines written, per workload, merged ones among them.
    pub writes: Vec<u64>,
    /// Reads answered from a queued write.
    pub forwarded: u64,
    /// Writes that took the place of a queued write.
    pub merged: u64,
    /// Requests whose first command was a column access.
    pub row_hits: u64,
    /// Requests whose first command opened a row.
    pub row_misses: u64,
    /// Requests whose first command closed the row of another.
    pub row_conflicts: u64,
    /// Activations made for reads.
    pub read_activations: u64,
    /// Activations made for writes.
    pub write_activations: u64,
    /// Rows closed because another one of the bank was wanted by a read.
    pub read_conflicts: u64,
    /// Rows closed because another one of the bank was wanted by a write.
    pub write_conflicts: u64,
    /// Rows closed, for whatever reason.
    pub precharges: u64,
    /// Refreshes, all ranks together.
    pub refreshes: u64,
    /// Changes between reading and writing on the bus.
    pub switches: u64,
    /// Write modes entered.
    pub write_modes: u64,
    /// Picoseconds in write mode.
    pub write_mode_ps: u64,
    /// Picoseconds without a queued request.
    pub idle_ps: u64,
}

impl Counters {
    pub(super) fn new(classes: usize) -> Self {
        Self { reads: vec![0; classes], writes: vec![0; classes], ..Self::default() }
    }
}
