//! Keys and parameters of DMA that a device generates.

use super::{WorkloadKeys, WorkloadParams};
use crate::values::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Direction of DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DmaOperation {
    /// The device reads memory: P2M-Read.
    Read,
    /// The device writes memory: P2M-Write.
    Write,
}

/// Order of DMA in its window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DmaPattern {
    /// Every command goes to a random place.
    #[default]
    Random,
    /// Every command follows the one before.
    Sequential,
}

/// DMA that the device of the table `dma` generates over a window of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DmaLoadSpec {
    /// Direction: "read" reads memory, "write" writes it.
    pub operation: DmaOperation,
    /// Bytes per command (size); a multiple of 64 B.
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 MiB", "x-multiple-of" = "64 B"))]
    pub size: Size,
    /// Memory that the commands access (size), at least `size`.
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-multiple-of" = "64 B"))]
    pub window: Size,
    /// Order of the commands in the window: "random" or "sequential".
    #[serde(default)]
    pub pattern: DmaPattern,
    /// Commands in flight; 1 measures the latency.
    #[schemars(range(min = 1, max = 65536))]
    pub outstanding: u32,
    /// True if the LLC holds the window when the run begins, dirty, as after a core has written it; needs caches.
    #[serde(default)]
    pub warm: bool,
    /// Placement of the window: "local" to the device, "node:1" in the memory of a NUMA node (a socket, or with
    /// `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

impl WorkloadKeys for DmaLoadSpec {
    fn memory(&self) -> Option<&str> {
        self.memory.as_deref()
    }
}

/// DMA that a device generates over a window of memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DmaLoadParams {
    /// Direction.
    pub operation: DmaOperation,
    /// Bytes per command.
    pub size_bytes: u64,
    /// Bytes of the window, a multiple of the size.
    pub window_bytes: u64,
    /// Order of the commands in the window.
    pub pattern: DmaPattern,
    /// Commands in flight.
    pub outstanding: u32,
    /// True if the LLC holds the window when the run begins.
    pub warm: bool,
}

impl WorkloadParams for DmaLoadParams {
    fn name(&self) -> &'static str {
        "dma"
    }

    fn is_of_devices(&self) -> bool {
        true
    }
}
