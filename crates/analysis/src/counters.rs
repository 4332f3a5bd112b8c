//! Counters of a server over one window of time.

use serde::{Deserialize, Serialize};

/// Lines through a pool of entries: the two counters that Little's law needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Mean number of entries in use over the window, summed over the pools of the socket.
    pub occupancy: Option<f64>,
    /// Lines that passed through the pool in the window.
    pub lines: Option<f64>,
}

impl Flow {
    /// Mean residence of a line in the pool in ns, for a window of `window_ns`. Returns `None` if either counter is
    /// missing or no line has passed.
    #[must_use]
    pub fn latency_ns(&self, window_ns: f64) -> Option<f64> {
        // Little's law: residence is occupancy over throughput.
        let (occupancy, lines) = (self.occupancy?, self.lines?);
        (lines > 0.0).then(|| occupancy * window_ns / lines)
    }

    /// Throughput in GB/s (bytes per ns) for a window of `window_ns`.
    #[must_use]
    pub fn gb_per_s(&self, window_ns: f64) -> Option<f64> {
        Some(self.lines? * 64.0 / window_ns)
    }
}

/// Counters of one socket over one window. A counter that was not read is `None`.
///
/// Counts are sums over all channels, slices and cores. Shares and queue occupancies are means over the channels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Length of the window in ns.
    pub window_ns: f64,
    /// Memory channels, each with a controller that has its own queues.
    pub channels: f64,
    /// Lines read from DRAM.
    pub lines_read: Option<f64>,
    /// Lines written to DRAM.
    pub lines_written: Option<f64>,
    /// Row activations for reads.
    pub read_activations: Option<f64>,
    /// Row activations for writes.
    pub write_activations: Option<f64>,
    /// Precharges because a read needs another row of the bank (row conflicts).
    pub read_conflicts: Option<f64>,
    /// Precharges because a write needs another row of the bank (row conflicts).
    pub write_conflicts: Option<f64>,
    /// Number of entries into write major mode. The exits are not counted.
    pub mode_switches: Option<f64>,
    /// Mean number of entries in use of one RPQ, over time and channels.
    pub rpq_occupancy: Option<f64>,
    /// Mean number of entries in use of one WPQ, over time and channels.
    pub wpq_occupancy: Option<f64>,
    /// Share of time with at least `memory.controller.rpq.full_threshold` entries in use, mean over the channels; 0
    /// to 1.
    pub rpq_full_share: Option<f64>,
    /// Share of time with at least `memory.controller.wpq.full_threshold` entries in use, mean over the channels; 0
    /// to 1.
    pub wpq_full_share: Option<f64>,
    /// LFB entries of the busy cores.
    pub lfb: Flow,
    /// Mean number of cores with all their LFB entries in use. Simulated runs give the share of each workload
    /// instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfb_full_cores: Option<f64>,
    /// Reads of cores in the CHA, from admission until the data has passed.
    pub core_read: Flow,
    /// Write-backs of cores in the CHA, from admission until the memory controller accepts the line.
    pub core_write: Flow,
    /// Reads of devices in the CHA.
    pub io_read: Flow,
    /// Writes of devices in the CHA.
    pub io_write: Flow,
    /// IIO write buffer.
    pub iio_write: Flow,
    /// IIO read buffer.
    pub iio_read: Flow,
}
