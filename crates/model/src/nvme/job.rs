//! Jobs of a drive, and the service that workloads get from it.

use crate::line::Walk;
use crate::params::FioJob;
use hostnet_kernel::ComponentId;
use hostnet_measure::Histogram;
use serde::{Deserialize, Serialize};

/// Share of a job on a drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DriveJob {
    /// Parameters of the job.
    pub params: FioJob,
    /// Workload.
    pub class: u8,
    /// Virtual address of the buffers of the job: `io_depth` blocks.
    pub base: u64,
    /// Core that does the kernel work of the job.
    pub core: ComponentId,
    /// Lines moved beyond the data per page, in units of 2^-16.
    pub dma_lines_per_page: u64,
    /// Memory that these lines lie in.
    pub extra: Walk,
    /// Buffer of the next command.
    pub slot: u64,
    /// Commands that wait for room in the drive.
    pub waiting: u32,
    /// True if the core reads the data of a command before the next command takes its place.
    pub consume: bool,
}

/// Service that a workload got from a device with commands since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DriveService {
    /// Bytes of data moved.
    pub bytes: u64,
    /// Commands completed.
    pub completed: u64,
    /// Latency of commands, from submission to completion, in ps. It leaves out the commands that each job begins
    /// with, which find an emptier queue than all that follow.
    pub latency: Histogram,
}

impl DriveService {
    /// Counts a command and records its latency, in ps, unless the command is an `initial` one.
    pub(crate) fn count(&mut self, latency_ps: u64, initial: bool) {
        self.completed += 1;
        if !initial {
            self.latency.record(latency_ps);
        }
    }

    /// Starts a new measurement window.
    pub(crate) fn reset(&mut self) {
        (self.bytes, self.completed) = (0, 0);
        self.latency.reset();
    }
}
