//! Keys of the operations and of the run of a chip.

use super::lists::CoreList;
use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads and writes of the memory of other chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipWorkloadSpec {
    /// Operation: remote memory is read into local buffers ("read"), written from them ("write"), or either, at random
    /// ("mixed").
    #[serde(default)]
    pub op: ChipOpSpec,
    /// Share of writes among the operations of "mixed", in percent; the others are reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub writes: Option<u32>,
    /// Concurrency: one core after the other, one operation at a time ("turns": the latency of an idle chip); all
    /// cores, each with one operation at a time ("sync"); or all cores, each with as many operations as its work queue
    /// holds ("async").
    #[serde(default)]
    pub mode: ChipModeSpec,
    /// Size of an operation (size); a multiple of 64 B.
    #[serde(default = "line")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "16 KiB", "x-multiple-of" = "64 B"))]
    pub size: Size,
    /// Cores that issue operations, numbered by row from the north-west, such as "0-63"; all of them when absent. Cores
    /// of a NOC-Out are numbered by column: those above the LLC tile, from the tile upward, then those below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
}

/// Operation on remote memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipOpSpec {
    /// Remote memory is read.
    #[default]
    Read,
    /// Remote memory is written.
    Write,
    /// Either, at random.
    Mixed,
}

/// Concurrency of the operations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipModeSpec {
    /// One core after the other.
    #[default]
    Turns,
    /// All cores, one operation at a time each.
    Sync,
    /// All cores, as many operations each as the work queue holds.
    Async,
}

/// Length of the run: after the warm-up, windows are measured until two successive ones differ little. The last one is
/// reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipRunSpec {
    /// Name of the run; that of the file when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Simulated time before the first window (time); 30 us when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 ns", "x-max" = "1 s"))]
    pub warmup: Option<Time>,
    /// Simulated time of a window (time); when absent 3 ms for mode "turns", and 15 us for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1 s"))]
    pub window: Option<Time>,
    /// Relative difference of two successive windows below which the run ends: of the latency in mode "turns", of the
    /// bandwidth in the others.
    #[serde(default = "percent")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub change: f64,
    /// Maximum number of windows.
    #[serde(default = "windows")]
    #[schemars(range(min = 1, max = 10000))]
    pub max: u32,
    /// Seed of the random streams.
    #[serde(default = "one")]
    pub seed: u64,
}

impl Default for ChipWorkloadSpec {
    fn default() -> Self {
        Self { op: ChipOpSpec::Read, writes: None, mode: ChipModeSpec::Turns, size: line(), cores: None }
    }
}

impl Default for ChipRunSpec {
    fn default() -> Self {
        Self { name: None, warmup: None, window: None, change: percent(), max: windows(), seed: one() }
    }
}

fn line() -> Size {
    Size(64)
}

fn percent() -> f64 {
    0.01
}

fn windows() -> u32 {
    20
}

fn one() -> u64 {
    1
}
