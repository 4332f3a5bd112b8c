//! Keys and parameters of streams of a core.

use super::{WorkloadKeys, WorkloadParams};
use crate::lists::{CoreList, WayMask};
use crate::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Loads and stores of cores over a buffer per core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StreamSpec {
    /// Cores that run the stream: "0-3", "0,2,4-5" or a list of numbers.
    pub cores: CoreList,
    /// Order of the accesses.
    #[serde(default)]
    pub pattern: PatternSpec,
    /// Distance between two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TiB", "x-multiple-of" = "64 B"))]
    pub stride: Option<Size>,
    /// Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back.
    #[serde(default = "all_reads")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reads: f64,
    /// Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.
    #[serde(default = "gibibyte")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-multiple-of" = "64 B"))]
    pub working_set: Size,
    /// Minimum time between two accesses of one core (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub gap: Time,
    /// Ways of the LLC that the cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    /// contiguous; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_ways: Option<WayMask>,
    /// Placement of the buffers: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// NUMA node (a socket, or with `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local"
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

impl WorkloadKeys for StreamSpec {
    fn memory(&self) -> Option<&str> {
        self.memory.as_deref()
    }

    fn llc_ways(&self) -> Option<WayMask> {
        self.llc_ways
    }
}

/// Loads and stores of cores of other sockets, over a buffer per core in the memory of this one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteStreamSpec {
    /// Other sockets that the stream runs on, from 0: "0-2", "0,2" or a list of numbers.
    pub sockets: CoreList,
    /// Cores on each of these sockets.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 256))]
    pub cores: u32,
    /// Order of the accesses.
    #[serde(default)]
    pub pattern: PatternSpec,
    /// Distance between two accesses of the strided pattern (size); a multiple of 64 B, at most `working_set`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 TiB", "x-multiple-of" = "64 B"))]
    pub stride: Option<Size>,
    /// Share of loads (0 to 1); the rest are stores. A store reads its line and later writes a line back.
    #[serde(default = "all_reads")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reads: f64,
    /// Buffer of each core (size); a multiple of 64 B. Without caches a small buffer does not make accesses hit.
    #[serde(default = "gibibyte")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-multiple-of" = "64 B"))]
    pub working_set: Size,
    /// Minimum time between two accesses of one core (time).
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub gap: Time,
}

/// Streams of other sockets have buffers in the memory of this one, and no cores that allocate in its LLC.
impl WorkloadKeys for RemoteStreamSpec {}

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

/// Order of accesses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PatternSpec {
    /// Consecutive lines.
    #[default]
    Sequential,
    /// A constant stride, see `stride`.
    Strided,
    /// Uniform over the buffer.
    Random,
}

/// Loads and stores over a buffer per core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamParams {
    /// Cores that run the stream.
    pub cores: Vec<u32>,
    /// Order of the accesses.
    pub pattern: AccessPattern,
    /// Share of loads in units of 2^-32; the rest are stores.
    pub reads: u64,
    /// Bytes of the buffer of each core.
    pub working_set_bytes: u64,
    /// Minimum time between two accesses of one core, in ps.
    pub gap_ps: u64,
}

impl WorkloadParams for StreamParams {
    fn name(&self) -> &'static str {
        "stream"
    }

    fn cores(&self) -> &[u32] {
        &self.cores
    }
}

/// Order of the accesses of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessPattern {
    /// Consecutive lines.
    Sequential,
    /// Accesses at a constant stride.
    Strided {
        /// Distance of two accesses in bytes, a multiple of 64.
        bytes: u64,
    },
    /// Accesses uniform over the buffer.
    Random,
}
