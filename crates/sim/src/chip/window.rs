//! Measurement windows of a chip.

use hostnet_chip::{Chip, ChipStats};
use serde::{Deserialize, Serialize};

/// Counters of a chip at the start of a window.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowStart {
    pub(super) sent: Vec<u64>,
    pub(super) llc: (u64, u64),
}

impl WindowStart {
    /// Reads the counters of `chip`.
    pub(super) fn of(chip: &Chip) -> Self {
        Self { sent: chip.network().1.sent().to_vec(), llc: chip.llc() }
    }
}

/// Measurements of a chip in one window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Window {
    pub(super) stats: ChipStats,
    pub(super) cycles: u64,
    /// Flits by output of the routers.
    pub(super) sent: Vec<u64>,
    pub(super) accesses: u64,
    pub(super) writebacks: u64,
}

impl Window {
    /// Sums the windows of all chips, at least one.
    pub(super) fn sum(windows: &[Self]) -> Self {
        // Cycles are those of one chip, as all chips have the same window.
        let mut all = windows[0].clone();
        for window in &windows[1..] {
            all.stats.add(&window.stats);
            all.accesses += window.accesses;
            all.writebacks += window.writebacks;
            all.sent.iter_mut().zip(&window.sent).for_each(|(sent, more)| *sent += more);
        }
        all
    }
}
