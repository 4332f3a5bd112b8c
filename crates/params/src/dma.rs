//! Keys and parameters of a device that generates DMA.

use super::values::{Bandwidth, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Device that generates DMA, as a programmable NIC does for a benchmark. It is simulated only with a workload of kind
/// "dma", and its link is like that of a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DmaSpec {
    /// Time that a command spends in the device (time).
    #[serde(default = "latency_100_ns")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub latency: Time,
    /// Bandwidth at which the device moves the data of a command between its memory and the link, which adds to the
    /// latency of the command; it moves the data of reads one command after the other, that of writes side by side
    /// (bandwidth).
    #[serde(default = "bandwidth_10")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub bandwidth: Bandwidth,
    /// Least time between two commands that read memory (time).
    #[serde(default = "issue_1_ns")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub read_issue: Time,
    /// Least time between two commands that write memory (time).
    #[serde(default = "issue_1_ns")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub write_issue: Time,
}

impl Default for DmaSpec {
    fn default() -> Self {
        Self {
            latency: latency_100_ns(),
            bandwidth: bandwidth_10(),
            read_issue: issue_1_ns(),
            write_issue: issue_1_ns(),
        }
    }
}

fn latency_100_ns() -> Time {
    Time(100_000)
}

fn bandwidth_10() -> Bandwidth {
    Bandwidth(10_000_000_000)
}

fn issue_1_ns() -> Time {
    Time(1_000)
}

impl DmaSpec {
    /// Returns the parameters of the device, whose writes go to the LLC with `ddio`.
    pub fn params(&self, ddio: bool) -> DmaParams {
        DmaParams {
            ddio,
            latency_ps: self.latency.0,
            bytes_per_s: self.bandwidth.0,
            read_issue_ps: self.read_issue.0,
            write_issue_ps: self.write_issue.0,
        }
    }
}

/// Device that generates DMA.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DmaParams {
    /// True if writes go to the LLC.
    pub ddio: bool,
    /// Time that a command spends in the device, in ps.
    pub latency_ps: u64,
    /// Bandwidth of the data of one command inside the device, in bytes per second.
    pub bytes_per_s: u64,
    /// Least time between two commands that read memory, in ps.
    pub read_issue_ps: u64,
    /// Least time between two commands that write memory, in ps.
    pub write_issue_ps: u64,
}
