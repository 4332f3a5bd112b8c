//! Notes about runs that have not reached a steady state.

use crate::numbers::{format_change, format_general};
use crate::row::{Fields, Row};

/// Note on a run that did not finish.
pub const STOPPED: &str = "stopped before its end: the numbers cover the part that was simulated";

/// Returns a note for each workload whose throughput changes over the window.
#[must_use]
pub(crate) fn drift_notes(summary: &Row) -> Vec<String> {
    let note = |row: &Row| {
        let (mean, change) = (row.nonzero("throughput_gb_per_s")?, row.nonzero("throughput_drift")?);
        Some(drift_note(row.text("workload"), mean, change, "GB/s"))
    };
    summary.rows("workloads").into_iter().filter_map(note).collect()
}

/// Describes the drift of a rate with this mean.
#[must_use]
pub fn drift_note(name: &str, mean: f64, change: f64, unit: &str) -> String {
    let sign = if change < 0.0 { "" } else { "+" };
    format!(
        "{name} drifts: {sign}{} {unit} ({}) from the start of the window to its end; this is no steady state: warm up \
         and measure for longer (run.warmup, run.duration)",
        format_general(change, 3),
        format_change(change / mean, 0),
    )
}
