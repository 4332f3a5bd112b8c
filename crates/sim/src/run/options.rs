//! Options of a run, and its progress.

use crate::build::{RateTables, TableSource};

/// Options of a run.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Threads that share the partitions, at least 1. A server is one partition; the network between servers is cut
    /// between switches. They also measure the rates of fluid memories.
    pub threads: usize,
    /// Interval of the time series, in ps; 0 = none.
    pub series_ps: u64,
    /// Simulated time of the checkpoint, in ps; 0 = none.
    pub checkpoint_at_ps: u64,
    /// Simulated time between two checkpoints in records, in ps; 0 = none.
    pub checkpoint_every_ps: u64,
    /// Interval at which the counters of every unit of a server are read, in ps; 0 = never.
    pub counters_ps: u64,
    /// Duration for which the trace follows every line of a server, in ps; 0 = no trace. The trace starts at the end
    /// of the warm-up, or where the run resumes if that is later.
    pub trace_ps: u64,
    /// Server that counters and trace observe, by its number among the servers.
    pub observed_server: usize,
    /// Tables of the rates of fluid memories that other runs have measured; `None` = every table is measured.
    pub rate_tables: Option<&'static RateTables>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            series_ps: 0,
            checkpoint_at_ps: 0,
            checkpoint_every_ps: 0,
            counters_ps: 0,
            trace_ps: 0,
            observed_server: 0,
            rate_tables: None,
        }
    }
}

impl Options {
    /// Returns where the tables of fluid memories come from.
    pub(super) fn tables(self) -> TableSource {
        TableSource { threads: self.threads, kept: self.rate_tables }
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunStatus {
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Simulated time at which the run will end, as far as known, in ps; 0 for a run that ends when its jobs have
    /// finished.
    pub target_ps: u64,
    /// Events handled.
    pub events: u64,
    /// False during the warm-up.
    pub measuring: bool,
}
