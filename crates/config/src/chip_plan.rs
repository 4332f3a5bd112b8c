//! Defines the resolved configuration of a run of a chip.

use hostnet_chip::{ChipParams, Torus};
use serde::Serialize;

/// Checked configuration of a chip, with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipPlan {
    /// Name of the run.
    pub name: String,
    /// Parameters of the chip and of the work of its cores, in cycles.
    pub chip: ChipParams,
    /// Torus of identical chips that are simulated together. `None` if a mirror represents the remote chips.
    pub torus: Option<Torus>,
    /// Clock frequency of the chip, in Hz.
    pub clock_hz: u64,
    /// Warm-up and windows of the run.
    pub windows: ChipWindows,
    /// Hexadecimal SHA-256 of the canonical JSON of all preceding fields but the name.
    pub hash: String,
    /// Complete configuration in the terms of the user. Resolving it gives this plan again.
    pub effective: serde_json::Value,
}

/// Warm-up and measurement windows of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChipWindows {
    /// Length of the warm-up, which is not measured, in cycles.
    pub warm_up: u64,
    /// Length of a window, in cycles, at least 1.
    pub window: u64,
    /// Convergence threshold: the run ends when two consecutive windows differ by less than this share, 0 to 1, in the
    /// latency of an operation (mode "turns") or in the lines transferred (other modes).
    pub change: f64,
    /// Largest number of windows.
    pub max: u32,
}
