//! What the cores of a chip do, and how it is measured.

use super::lists::CoreList;
use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads or writes of the memory of other chips.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipWorkloadSpec {
    /// Remote memory is read into local buffers ("read"), written from them ("write"), or either, by lot ("mixed").
    #[serde(default)]
    pub op: ChipOpSpec,
    /// Share of the operations of "mixed" that write, in percent; the others read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 100))]
    pub writes: Option<u32>,
    /// One core after the other, an operation at a time ("turns": the latency of an idle chip); all cores, each an
    /// operation at a time ("sync"); or all cores, each as long as there is room in its work queue ("async").
    #[serde(default)]
    pub mode: ChipModeSpec,
    /// Bytes of an operation, whole lines of 64 B.
    #[serde(default = "line")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "16 KiB", "x-multiple-of" = "64 B"))]
    pub size: Size,
    /// The cores that take part, by row from the north-west, such as "0-63"; all of them when absent. Those of a
    /// NOC-Out are numbered by column, those above from the LLC tile upward, then those below.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<CoreList>,
}

/// What is done to remote memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipOpSpec {
    /// It is read.
    #[default]
    Read,
    /// It is written.
    Write,
    /// Either, by lot.
    Mixed,
}

/// How a core goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipModeSpec {
    /// One core after the other.
    #[default]
    Turns,
    /// All cores, an operation each.
    Sync,
    /// All cores, as many operations as there is room for.
    Async,
}

/// How long to simulate: windows follow the warm-up until two of them differ little. The last one is reported.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipRunSpec {
    /// Name of the run; the file's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Simulated time that is not measured; 30 us when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "0 ns", "x-max" = "1 s"))]
    pub warmup: Option<Time>,
    /// Simulated time of a window; when absent 3 ms for mode "turns", and 15 us for the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1 s"))]
    pub window: Option<Time>,
    /// The run ends when two windows differ by less: in latency in mode "turns", in bandwidth in the others.
    #[serde(default = "percent")]
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub change: f64,
    /// Windows at most.
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
