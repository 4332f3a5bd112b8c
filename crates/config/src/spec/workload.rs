//! What runs on the server.

use super::app::AppSpec;
use super::lists::{CoreList, WayMask};
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that runs on the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum WorkloadSpec {
    /// Loads and stores of cores over a buffer per core.
    Stream(StreamSpec),
    /// Storage IO in the manner of fio: `job` names a job file, or `jobs` gives the jobs.
    Fio(FioSpec),
    /// An application. What it does not set comes from the profile of the application.
    App(Box<AppSpec>),
    /// Loads and stores of cores of other sockets, over a buffer per core in the memory of this one.
    Remote(RemoteStreamSpec),
}

impl WorkloadSpec {
    /// Whether its cores are those of other sockets of which there is nothing else.
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self, WorkloadSpec::Remote(_))
    }

    /// Where its buffers lie, if that is given.
    pub(crate) fn memory(&self) -> Option<&str> {
        match self {
            WorkloadSpec::Stream(stream) => stream.memory.as_deref(),
            WorkloadSpec::Fio(fio) => fio.memory.as_deref(),
            WorkloadSpec::App(app) => app.memory.as_deref(),
            WorkloadSpec::Remote(_) => None,
        }
    }

    /// The ways of the LLC that its cores may allocate in.
    pub(crate) fn llc_ways(&self) -> Option<WayMask> {
        match self {
            WorkloadSpec::Stream(stream) => stream.llc_ways,
            WorkloadSpec::Fio(fio) => fio.llc_ways,
            WorkloadSpec::App(app) => app.llc_ways,
            WorkloadSpec::Remote(_) => None,
        }
    }
}

/// Loads and stores of cores over a buffer per core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StreamSpec {
    /// The cores it runs on: "0-3", "0,2,4-5" or a list of numbers.
    pub(crate) cores: CoreList,
    /// The order of its accesses.
    #[serde(default)]
    pub(crate) pattern: PatternSpec,
    /// Distance of two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TiB", "x-multiple-of" = "64 B"))]
    pub(crate) stride: Option<Size>,
    /// Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back.
    #[serde(default = "all_reads")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) reads: f64,
    /// Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.
    #[serde(default = "gibibyte")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-multiple-of" = "64 B"))]
    pub(crate) working_set: Size,
    /// Least time between two accesses of one core (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) gap: Time,
    /// Ways of the LLC that its cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    /// contiguous; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) llc_ways: Option<WayMask>,
    /// Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// socket, "interleave" in that of all sockets in turn; "local" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<String>,
}

/// Loads and stores of cores of other sockets, over a buffer per core in the memory of this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RemoteStreamSpec {
    /// The other sockets that it runs on, from 0: "0-2", "0,2" or a list of numbers.
    pub(crate) sockets: CoreList,
    /// Cores on each of them.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 256))]
    pub(crate) cores: u32,
    /// The order of its accesses.
    #[serde(default)]
    pub(crate) pattern: PatternSpec,
    /// Distance of two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TiB", "x-multiple-of" = "64 B"))]
    pub(crate) stride: Option<Size>,
    /// Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back.
    #[serde(default = "all_reads")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) reads: f64,
    /// Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.
    #[serde(default = "gibibyte")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-multiple-of" = "64 B"))]
    pub(crate) working_set: Size,
    /// Least time between two accesses of one core (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub(crate) gap: Time,
}

fn one() -> u32 {
    1
}

fn all_reads() -> f64 {
    1.0
}

fn gibibyte() -> Size {
    Size(1 << 30)
}

fn no_time() -> Time {
    Time(0)
}

/// The order of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PatternSpec {
    /// Line after line.
    #[default]
    Sequential,
    /// Every so many bytes, see `stride`.
    Strided,
    /// Uniform over the buffer.
    Random,
}

/// Storage IO in the manner of fio: `job` names a job file, or `jobs` gives the jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FioSpec {
    /// A fio job file, relative to the configuration. Not together with `jobs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) job: Option<String>,
    /// The jobs themselves, 1 to 1024 tables. Not together with `job`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 1024))]
    pub(crate) jobs: Option<Vec<FioJobSpec>>,
    /// Cap on the rate of all jobs together, shared out evenly among its drives (bandwidth); none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "100 TB/s"))]
    pub(crate) rate: Option<Bandwidth>,
    /// The cores that submit and complete, in turn; the last free cores of the socket when neither this nor the job
    /// says which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cores: Option<CoreList>,
    /// Whether the cores read the data of finished storage reads; needs caches.
    #[serde(default)]
    pub(crate) consume: bool,
    /// Ways of the LLC that its cores may allocate in (CAT), as of a stream; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) llc_ways: Option<WayMask>,
    /// Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// socket, "interleave" in that of all sockets in turn; "local" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) memory: Option<String>,
}

/// One job on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FioJobSpec {
    /// Direction and order, as fio's `rw`; the order of blocks on the drive has no effect.
    pub(crate) rw: Direction,
    /// Bytes per command (size); a multiple of 512 B.
    #[schemars(extend("x-min" = "512 B", "x-max" = "1 GiB", "x-multiple-of" = "512 B"))]
    pub(crate) bs: Size,
    /// Commands in flight.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) iodepth: u32,
    /// Bytes of the file (size), at least a block; nothing depends on it.
    #[schemars(extend("x-min" = "512 B", "x-max" = "64 TiB", "x-multiple-of" = "512 B"))]
    pub(crate) size: Size,
    /// Share of reads in percent for `rw` and `randrw`; 50 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub(crate) rwmixread: Option<u32>,
    /// The drive, from 0; below `ssd.count`.
    #[schemars(range(min = 0, max = 63))]
    pub(crate) ssd: u32,
    /// The core that submits and completes; one of the workload's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1023))]
    pub(crate) core: Option<u32>,
}

/// Direction and order of storage IO, named as in fio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
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
    pub(crate) fn is_random(self) -> bool {
        matches!(self, Direction::RandRead | Direction::RandWrite | Direction::RandRw)
    }

    /// Share of storage reads in percent, given that of mixed directions.
    pub(crate) fn reads_percent(self, mix: u32) -> u32 {
        match self {
            Direction::Read | Direction::RandRead => 100,
            Direction::Write | Direction::RandWrite => 0,
            Direction::Rw | Direction::RandRw => mix,
        }
    }
}
