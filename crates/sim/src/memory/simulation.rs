//! Runs a plan of the memory alone, from its first request to its results.

use super::report::{build_report, MeasuredRun, MemoryReport};
use super::requests::{self, MemoryError, RequestSource};
use super::{MemoryParts, MemoryRun};
use hostnet_config::MemoryPlan;
use hostnet_model::memory::CommandRecord;

/// Requests of one step: milliseconds of wall time.
const STEP: u64 = 1 << 13;

/// Progress of a run of the memory alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStatus {
    /// Current phase.
    pub phase: MemoryPhase,
    /// Requests counted, or accepted by the memory, so far.
    pub requests: u64,
    /// Number of requests, if known.
    pub total: Option<u64>,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
}

/// Phase of a run of the memory alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryPhase {
    /// The requests of a trace are counted.
    Counting,
    /// Requests are served and not measured yet.
    WarmUp,
    /// Requests are served and measured.
    Measuring,
}

/// A memory system that serves the requests of a plan.
pub struct MemorySimulation<'a> {
    plan: &'a MemoryPlan,
    run: MemoryRun<RequestSource>,
    warm_up: u64,
    /// True if requests have arrival times.
    timed: bool,
    complete: bool,
    total: Option<u64>,
    stopped: bool,
}

impl<'a> MemorySimulation<'a> {
    /// Opens the requests, and builds the memory that will serve them. With `record`, commands are recorded. If a
    /// share of a trace is warm-up, the trace is read once to count its requests; `tell` is called with the progress
    /// and returns false to stop.
    ///
    /// # Errors
    /// Returns an error if the trace or the traffic is invalid.
    pub fn new(
        plan: &'a MemoryPlan,
        record: bool,
        mut tell: impl FnMut(MemoryStatus) -> bool,
    ) -> Result<Self, MemoryError> {
        let mut stopped = false;
        let mut count = |requests| {
            let status = MemoryStatus { phase: MemoryPhase::Counting, requests, total: None, simulated_ps: 0 };
            stopped = !tell(status);
            !stopped
        };
        let opened = requests::open(plan, &mut count)?;
        // The number is unknown only if no warm-up was requested.
        let warm_up = opened.total.map_or(0, |total| (plan.warm_up * total as f64) as u64);
        let parts = MemoryParts {
            dram: plan.dram.clone(),
            controller: plan.controller.clone(),
            map: plan.map.clone(),
            sources: opened.streams,
            outstanding: plan.outstanding,
            warm_up,
            record,
        };
        let run = MemoryRun::new(parts, opened.source)?;
        Ok(Self { plan, run, warm_up, timed: opened.timed, complete: false, total: opened.total, stopped })
    }

    /// Serves some thousand requests and passes their commands to `commands`. Returns true if there is more to do.
    ///
    /// # Errors
    /// Returns an error if the next request of the trace is invalid.
    pub fn step(&mut self, commands: impl FnMut(CommandRecord)) -> Result<bool, MemoryError> {
        // A run that was stopped while its trace was counted serves nothing.
        if !self.stopped && !self.complete {
            self.complete = !self.run.advance(STEP, commands)?;
        }
        Ok(!self.stopped && !self.complete)
    }

    /// Returns true if all requests were served.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// Returns the progress of the run.
    #[must_use]
    pub fn status(&self) -> MemoryStatus {
        let requests = self.run.taken();
        let phase = if requests <= self.warm_up { MemoryPhase::WarmUp } else { MemoryPhase::Measuring };
        let clock_ps = self.plan.dram.clock_ps_numerator as f64 / self.plan.dram.clock_ps_denominator as f64;
        let simulated_ps = (self.run.clock() as f64 * clock_ps) as u64;
        MemoryStatus { phase, requests, total: self.total, simulated_ps }
    }

    /// Returns the results so far.
    #[must_use]
    pub fn report(&self) -> MemoryReport {
        build_report(MeasuredRun {
            plan: self.plan,
            run: &self.run,
            warm_up: self.warm_up,
            timed: self.timed,
            complete: self.complete,
        })
    }
}
