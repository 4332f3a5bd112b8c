//! The jobs of a drive, and what they got.

use crate::line::Walk;
use crate::params::FioJob;
use hostnet_kernel::ComponentId;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// A job's share of a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Job {
    /// What the job asks for.
    pub params: FioJob,
    /// The workload.
    pub class: u8,
    /// Virtual address of its buffers: `io_depth` blocks.
    pub base: u64,
    /// The core that does its kernel work.
    pub core: ComponentId,
    /// Lines moved beyond the data per page, in units of 2^-16.
    pub dma_lines_per_page: u64,
    /// Where those lie.
    pub extra: Walk,
    /// The buffer of the next command.
    pub slot: u64,
    /// Commands that wait for the drive to have room.
    pub waiting: u32,
    /// Whether the core reads the data before the next command takes its place.
    pub consume: bool,
}

/// What a workload got from a drive since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Service {
    /// Bytes of data moved.
    pub bytes: u64,
    /// Commands completed.
    pub completed: u64,
    /// Latency of commands, from submission to completion, in ps; without those that each job begins with, which find
    /// an emptier queue than all that follow.
    pub latency: Histogram,
}

impl Service {
    /// Counts a command; `initial` ones without their latency, in ps.
    pub(super) fn count(&mut self, latency_ps: u64, initial: bool) {
        self.completed += 1;
        if !initial {
            self.latency.record(latency_ps);
        }
    }
}
