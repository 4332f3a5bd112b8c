//! Program of a workload on a core without caches.

use super::ProgramMemory;
use crate::line::{Evictions, Walk};
use serde::{Deserialize, Serialize};

/// Program of a workload, whose accesses all miss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Workload.
    pub class: u8,
    /// Share of loads, in units of 2^-32.
    pub reads: u64,
    /// Lines that the program loads and stores.
    pub walk: Walk,
    /// Dirty lines that leave the caches.
    pub evictions: Evictions,
    /// True if the prefetchers of the core run ahead of the program.
    pub prefetched: bool,
    /// Minimum time between two accesses, in ps.
    pub gap_ps: u64,
    /// Lines of work left, in units of 2^-16; `None` for a program without end.
    pub owed: Option<u64>,
    /// For kernel work: lines per page of IO, in units of 2^-16.
    pub lines_per_page: u64,
    /// Memory that it accesses.
    pub memory: ProgramMemory,
}

impl Program {
    /// Returns true if there is something to do.
    pub(super) fn has_work(&self) -> bool {
        self.owed.is_none_or(|owed| owed >= 1 << 16)
    }
}
