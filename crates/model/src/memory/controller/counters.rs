//! Counters of a memory controller.

use serde::{Deserialize, Serialize};

/// Counters of a memory controller since the last reset.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Lines read, by workload, including forwarded ones.
    pub reads: Vec<u64>,
    /// Lines written, by workload, including merged ones.
    pub writes: Vec<u64>,
    /// Reads answered from a queued write.
    pub forwarded: u64,
    /// Writes that replaced a queued write to their line.
    pub merged: u64,
    /// Requests whose first command was a column access (row hits).
    pub row_hits: u64,
    /// Requests whose first command opened a row (row misses).
    pub row_misses: u64,
    /// Requests whose first command closed another row (row conflicts).
    pub row_conflicts: u64,
    /// Activations for reads.
    pub read_activations: u64,
    /// Activations for writes.
    pub write_activations: u64,
    /// Rows closed because a read needed another row of the bank.
    pub read_conflicts: u64,
    /// Rows closed because a write needed another row of the bank.
    pub write_conflicts: u64,
    /// Rows closed for any reason.
    pub precharges: u64,
    /// Refreshes of all ranks.
    pub refreshes: u64,
    /// Turnarounds of the bus between reading and writing.
    pub switches: u64,
    /// Write modes entered.
    pub write_modes: u64,
    /// Time in write mode, in ps.
    pub write_mode_ps: u64,
    /// Time without a queued request, in ps.
    pub idle_ps: u64,
}

impl Counters {
    pub(super) fn new(classes: usize) -> Self {
        Self { reads: vec![0; classes], writes: vec![0; classes], ..Self::default() }
    }
}
