//! What the counters of a server tell about one window of time.

use serde::{Deserialize, Serialize};

/// Lines through a pool of entries: the two counters that Little's law needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Flow {
    /// Entries in use, mean over the window, summed over the pools of the socket.
    pub occupancy: Option<f64>,
    /// Lines that passed in the window.
    pub lines: Option<f64>,
}

impl Flow {
    /// Mean time of a line in the pool in ns, for a window of `window_ns`: nothing without both counters or without a
    /// line.
    #[must_use]
    pub fn latency_ns(&self, window_ns: f64) -> Option<f64> {
        let (occupancy, lines) = (self.occupancy?, self.lines?);
        (lines > 0.0).then(|| occupancy * window_ns / lines)
    }

    /// Bytes per ns, that is GB/s, for a window of `window_ns`.
    #[must_use]
    pub fn gb_per_s(&self, window_ns: f64) -> Option<f64> {
        Some(self.lines? * 64.0 / window_ns)
    }
}

/// What the counters of a socket tell about one window. A counter that was not read is `None`.
///
/// Counts are sums over all channels, slices and cores; shares and queues are means over the channels.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Length of the window in ns.
    pub window_ns: f64,
    /// Channels, that is memory controllers with queues of their own.
    pub channels: f64,
    /// Lines read from DRAM.
    pub lines_read: Option<f64>,
    /// Lines written to DRAM.
    pub lines_written: Option<f64>,
    /// Activations made for reads.
    pub read_activations: Option<f64>,
    /// Activations made for writes.
    pub write_activations: Option<f64>,
    /// Precharges because a read wanted another row.
    pub read_conflicts: Option<f64>,
    /// Precharges because a write wanted another row.
    pub write_conflicts: Option<f64>,
    /// Write major modes entered, each of them left again.
    pub mode_switches: Option<f64>,
    /// Entries in use of one RPQ, mean over time and channels.
    pub rpq_occupancy: Option<f64>,
    /// Entries in use of one WPQ, mean over time and channels.
    pub wpq_occupancy: Option<f64>,
    /// Share of time with at least `memory.controller.rpq.full_threshold` entries in use, mean over the channels.
    pub rpq_full_share: Option<f64>,
    /// Share of time with at least `memory.controller.wpq.full_threshold` entries in use, mean over the channels.
    pub wpq_full_share: Option<f64>,
    /// LFB entries of the busy cores.
    pub lfb: Flow,
    /// Cores with all their LFB entries in use, mean over time. A simulated run tells shares of each workload instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lfb_full_cores: Option<f64>,
    /// Reads of cores in the CHA: admission to data.
    pub core_read: Flow,
    /// Write-backs of cores in the CHA: admission to acceptance by the memory controller.
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
