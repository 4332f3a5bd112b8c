//! Keys and parameters of storage IO, and its cost on the cores.

use super::{WorkloadKeys, WorkloadParams};
use crate::lists::{CoreList, JobDrives, WayMask};
use crate::values::{Bandwidth, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Costs of storage IO beyond its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioCostSpec {
    /// Lines that the drive moves by DMA beyond the data, per 4 KiB of data (0 to 64).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub dma_lines_per_page: f64,
    /// Lines of kernel data structures that the kernel accesses per 4 KiB of data (0 to 64).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub kernel_lines_per_page: f64,
    /// Share of those lines that the kernel only reads (0 to 1); the others are read and written.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub kernel_loads: f64,
}

/// Storage IO as fio issues it: `job` names a job file, or `jobs` gives the jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioSpec {
    /// Path of a fio job file, relative to the configuration. Not together with `jobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// Jobs, 1 to 1024 tables. Not together with `job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub jobs: Option<Vec<FioJobSpec>>,
    /// Limit on the rate of all jobs together, divided evenly among the drives (bandwidth); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "100 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// Cores that submit and complete commands, assigned to the jobs round robin; the last free cores of the socket if
    /// neither this key nor the job gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// True if the cores read the data of completed storage reads; needs caches.
    #[serde(default)]
    pub consume: bool,
    /// Ways of the LLC that the cores of the workload may allocate in (CAT), as for a stream; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_ways: Option<WayMask>,
    /// Placement of the buffers: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// NUMA node (a socket, or with `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local"
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

impl FioSpec {
    /// Replaces each job on several drives by one job per drive.
    pub fn split_jobs(&mut self) {
        let Some(jobs) = &mut self.jobs else { return };
        let split = |job: &FioJobSpec| -> Vec<FioJobSpec> {
            let on = |&drive: &u32| FioJobSpec { ssd: JobDrives::One(drive), ..job.clone() };
            job.ssd.numbers().iter().map(on).collect()
        };
        *jobs = jobs.iter().flat_map(split).collect();
    }
}

impl WorkloadKeys for FioSpec {
    fn memory(&self) -> Option<&str> {
        self.memory.as_deref()
    }

    fn llc_ways(&self) -> Option<WayMask> {
        self.llc_ways
    }
}

/// Job on one drive, or the same job on each of several drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioJobSpec {
    /// Direction and order, as fio's `rw`; the order of blocks on the drive has no effect.
    pub rw: Direction,
    /// Bytes per command (size); a multiple of 512 B.
    #[schemars(extend("x-min" = "512 B", "x-max" = "1 GiB", "x-multiple-of" = "512 B"))]
    pub bs: Size,
    /// Commands that the job keeps in flight.
    #[schemars(range(min = 1, max = 65536))]
    pub iodepth: u32,
    /// Size of the file (size), at least a block; it has no effect. A block when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "512 B", "x-max" = "64 TiB", "x-multiple-of" = "512 B"))]
    pub size: Option<Size>,
    /// Share of reads in percent for `rw` and `randrw`; 50 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub rwmixread: Option<u32>,
    /// Drive, numbered from 0; below `ssd.count`. With a list such as "0-3", each of these drives has the job.
    pub ssd: JobDrives,
    /// Core that submits and completes the commands; one of the workload's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1023))]
    pub core: Option<u32>,
}

/// Direction and order of storage IO, named as in fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Sequential storage reads: P2M-Write.
    Read,
    /// Sequential storage writes: P2M-Read.
    Write,
    /// Random storage reads.
    RandRead,
    /// Random storage writes.
    RandWrite,
    /// Sequential storage reads and writes.
    Rw,
    /// Random storage reads and writes.
    RandRw,
}

impl Direction {
    /// Returns true if blocks are accessed at random.
    pub fn is_random(self) -> bool {
        matches!(self, Direction::RandRead | Direction::RandWrite | Direction::RandRw)
    }

    /// Returns the share of storage reads in percent, where `mix` is the share of mixed directions.
    pub fn reads_percent(self, mix: u32) -> u32 {
        match self {
            Direction::Read | Direction::RandRead => 100,
            Direction::Write | Direction::RandWrite => 0,
            Direction::Rw | Direction::RandRw => mix,
        }
    }
}

/// Storage IO as fio issues it: jobs that each keep a number of commands outstanding at a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioParams {
    /// Jobs.
    pub jobs: Vec<FioJob>,
    /// Limit on the rate of all jobs together, in bytes per second; 0 = no limit.
    pub rate_bytes_per_s: u64,
    /// Lines that the device moves by DMA beyond the data, per 4 KiB of data, in units of 2^-16.
    pub dma_lines_per_page: u64,
    /// Lines of kernel data structures that the kernel accesses per 4 KiB of data, in units of 2^-16.
    pub kernel_lines_per_page: u64,
    /// Share of those lines that the kernel only reads, in units of 2^-32; the others are read and written.
    pub kernel_loads: u64,
    /// True if the cores read the data of completed storage reads; needs caches.
    pub consume: bool,
}

impl WorkloadParams for FioParams {
    fn name(&self) -> &'static str {
        "fio"
    }

    fn is_of_devices(&self) -> bool {
        true
    }

    fn runs_on(&self, core: u32) -> bool {
        self.jobs.iter().any(|job| job.core == core)
    }
}

/// Job on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioJob {
    /// Drive that the job uses.
    pub ssd: u32,
    /// Core that submits and completes the commands.
    pub core: u32,
    /// Bytes per command.
    pub block_bytes: u64,
    /// Commands that the job keeps outstanding.
    pub io_depth: u32,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// True if blocks are accessed at random, false if sequentially.
    pub random: bool,
    /// Share of storage reads (P2M-Write) in units of 2^-32.
    pub reads: u64,
}
