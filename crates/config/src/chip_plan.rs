//! The resolved configuration of a run of a chip.

use hostnet_chip::{ChipParams, Torus};
use serde::Serialize;

/// A checked configuration of a chip with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ChipPlan {
    /// Name of the run.
    pub name: String,
    /// The chip and what its cores do, in cycles.
    pub chip: ChipParams,
    /// As many of it, with each other; none when a mirror stands for the others.
    pub torus: Option<Torus>,
    /// Cycles per second.
    pub clock_hz: u64,
    /// How long to simulate.
    pub windows: ChipWindows,
    /// Hexadecimal SHA-256 of the canonical JSON of all of the above but the name.
    pub hash: String,
    /// The complete configuration in the user's terms. Resolving it gives this plan again.
    pub effective: serde_json::Value,
}

/// Windows of a run, after its warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChipWindows {
    /// Cycles that are not measured.
    pub warm_up: u64,
    /// Cycles of a window, at least 1.
    pub window: u64,
    /// The run ends when two windows differ by less than this share.
    pub change: f64,
    /// Windows at most.
    pub max: u32,
}
