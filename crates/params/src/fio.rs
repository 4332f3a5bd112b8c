//! Keys and parameters of storage IO, and its cost on the cores.

use super::lists::{CoreList, WayMask};
use super::values::{Bandwidth, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What storage IO costs beyond its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioCostSpec {
    /// Lines that the drive moves by DMA beyond the data, per 4 KiB of data (0 to 64).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub dma_lines_per_page: f64,
    /// Lines of its own structures that the kernel touches per 4 KiB of data (0 to 64).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub kernel_lines_per_page: f64,
    /// Share of those lines that it only reads (0 to 1); the others are read and written.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub kernel_loads: f64,
}

/// Storage IO in the manner of fio: `job` names a job file, or `jobs` gives the jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioSpec {
    /// A fio job file, relative to the configuration. Not together with `jobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The jobs themselves, 1 to 1024 tables. Not together with `job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub jobs: Option<Vec<FioJobSpec>>,
    /// Cap on the rate of all jobs together, shared out evenly among its drives (bandwidth); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "100 TB/s"))]
    pub rate: Option<Bandwidth>,
    /// The cores that submit and complete, in turn; the last free cores of the socket when neither this nor the job
    /// says which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
    /// Whether the cores read the data of finished storage reads; needs caches.
    #[serde(default)]
    pub consume: bool,
    /// Ways of the LLC that its cores may allocate in (CAT), as of a stream; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_ways: Option<WayMask>,
    /// Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// socket, "interleave" in that of all sockets in turn; "local" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

/// One job on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioJobSpec {
    /// Direction and order, as fio's `rw`; the order of blocks on the drive has no effect.
    pub rw: Direction,
    /// Bytes per command (size); a multiple of 512 B.
    #[schemars(extend("x-min" = "512 B", "x-max" = "1 GiB", "x-multiple-of" = "512 B"))]
    pub bs: Size,
    /// Commands in flight.
    #[schemars(range(min = 1, max = 65536))]
    pub iodepth: u32,
    /// Bytes of the file (size), at least a block; nothing depends on it.
    #[schemars(extend("x-min" = "512 B", "x-max" = "64 TiB", "x-multiple-of" = "512 B"))]
    pub size: Size,
    /// Share of reads in percent for `rw` and `randrw`; 50 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub rwmixread: Option<u32>,
    /// The drive, from 0; below `ssd.count`.
    #[schemars(range(min = 0, max = 63))]
    pub ssd: u32,
    /// The core that submits and completes; one of the workload's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1023))]
    pub core: Option<u32>,
}

/// Direction and order of storage IO, named as in fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Storage reads in order: P2M-Write.
    Read,
    /// Storage writes in order: P2M-Read.
    Write,
    /// Storage reads at random.
    RandRead,
    /// Storage writes at random.
    RandWrite,
    /// Both, in order.
    Rw,
    /// Both, at random.
    RandRw,
}

impl Direction {
    /// Whether blocks are drawn at random.
    pub fn is_random(self) -> bool {
        matches!(self, Direction::RandRead | Direction::RandWrite | Direction::RandRw)
    }

    /// Share of storage reads in percent, given that of mixed directions.
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
    /// The jobs.
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
