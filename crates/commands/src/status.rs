//! Progress of runs.

use hostnet_sim::chip::{ChipPhase, ChipRunStatus};
use hostnet_sim::memory::{MemoryPhase, MemoryStatus};
use hostnet_sim::noc::{NocPhase, NocStatus};
use hostnet_sim::{Preparation, RunStatus};
use serde::Serialize;
use std::collections::BTreeMap;

/// Progress of a run or of its preparation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Counts of the run by name, such as its events.
    #[serde(flatten)]
    pub counts: BTreeMap<&'static str, u64>,
    /// Name of the phase.
    pub phase: String,
    /// Share of the run that is done, 0 to 1; 0 if the end is not known.
    pub progress: f64,
}

impl Status {
    fn new<const N: usize>(
        simulated_ps: u64,
        counts: [(&'static str, u64); N],
        phase: impl Into<String>,
        progress: f64,
    ) -> Self {
        Self { simulated_ps, counts: counts.into(), phase: phase.into(), progress: progress.min(1.0) }
    }
}

impl From<RunStatus> for Status {
    fn from(status: RunStatus) -> Self {
        let RunStatus { simulated_ps, target_ps, events, measuring } = status;
        let phase = if measuring { "measure" } else { "warm-up" };
        // The end of jobs is not known, which a target of 0 says.
        let progress = if target_ps > 0 { share(simulated_ps.into(), target_ps.into()) } else { 0.0 };
        Self::new(simulated_ps, [("target_ps", target_ps), ("events", events)], phase, progress)
    }
}

impl From<Preparation> for Status {
    fn from(stage: Preparation) -> Self {
        let (phase, done, of) = match stage {
            Preparation::Rates { done, points } => ("rates of the memory", done as u64, points as u64),
            Preparation::Caches(filling) => ("filling the caches", filling.done, filling.lines),
        };
        let counts = [("target_ps", 0), ("events", 0), ("points", done)];
        Self::new(0, counts, phase, share(done.into(), of.into()))
    }
}

impl From<NocStatus> for Status {
    fn from(status: NocStatus) -> Self {
        let NocStatus { phase, packets, cycles, simulated_ps, done_ppm } = status;
        let phase = match phase {
            NocPhase::Reading => "read",
            NocPhase::WarmUp => "warm-up",
            NocPhase::Measuring => "measure",
            NocPhase::Draining => "drain",
        };
        let counts = [("cycles", cycles), ("packets", packets)];
        Self::new(simulated_ps, counts, phase, f64::from(done_ppm) / 1e6)
    }
}

impl From<ChipRunStatus> for Status {
    fn from(status: ChipRunStatus) -> Self {
        let phase = match status.phase {
            ChipPhase::WarmUp => "warm-up".to_owned(),
            ChipPhase::Window(number) => format!("window {number}"),
        };
        Self::new(status.simulated_ps, [("events", status.cycles)], phase, status.progress)
    }
}

impl From<MemoryStatus> for Status {
    fn from(status: MemoryStatus) -> Self {
        let phase = match status.phase {
            MemoryPhase::Counting => "count",
            MemoryPhase::WarmUp => "warm-up",
            MemoryPhase::Measuring => "measure",
        };
        let done = status.total.map_or(0.0, |total| status.requests as f64 / total.max(1) as f64);
        Self::new(status.simulated_ps, [("requests", status.requests)], phase, done)
    }
}

/// Returns `part` as a share of `whole`, 0 to 1; 1 of nothing.
fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        1.0
    } else {
        (part as f64 / whole as f64).min(1.0)
    }
}
