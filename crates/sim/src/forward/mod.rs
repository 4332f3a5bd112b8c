//! Fast-forward: leaves out the part of a run whose state is certified as stationary (docs/forward.md).

mod certificate;
mod evidence;
pub(crate) mod jobs;
mod server;

pub(crate) use certificate::{JobSkip, RankRepetitions};
pub(crate) use jobs::JobSkips;
pub(crate) use server::{batch_ps, is_allowed, is_certified};

use crate::read::ReadingHistory;
use hostnet_config::units::{format, Dimension};
use hostnet_config::{Length, Plan};
use serde_json::{json, Value};

/// `RunLength` holds what a run has simulated and what it has skipped.
pub(crate) struct RunLength<'a> {
    /// Batches of the measurement.
    pub(crate) batches: &'a ReadingHistory,
    /// Repetitions of jobs that were skipped.
    pub(crate) skips: &'a [JobSkip],
    /// Reason for which the last test of a job skipped nothing; empty without one.
    pub(crate) refusal: &'a str,
    /// Length of the measurement window, in ps.
    pub(crate) window_ps: f64,
    /// Simulated time since the start of the run, in ps.
    pub(crate) now_ps: u64,
}

/// Returns the entry `forward` of the summary: the requested and the simulated time, and a note that says why the rest
/// was skipped or not. Returns `None` without `run.forward`.
pub(crate) fn outcome(plan: &Plan, length: &RunLength) -> Option<Value> {
    if !plan.run.forward {
        return None;
    }
    match plan.run.length {
        Length::Duration { ps } => Some(server::outcome(plan, length.batches, ps, length.window_ps)),
        Length::Jobs => Some(jobs::outcome(plan, length)),
        Length::Precision { .. } => None,
    }
}

/// Returns a time for a note.
fn shown(ps: u64) -> String {
    format(ps, Dimension::Time)
}

/// Returns the entry of the summary.
fn entry(requested_ps: f64, simulated_ps: f64, note: &str) -> Value {
    json!({
        "requested_ns": requested_ps / 1000.0,
        "simulated_ns": simulated_ps / 1000.0,
        "skipped_share": (1.0 - simulated_ps / requested_ps.max(1.0)).max(0.0),
        "note": note,
    })
}
