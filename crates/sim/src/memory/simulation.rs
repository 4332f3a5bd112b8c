//! A plan of the memory alone, from its first request to its results.

use super::report;
use super::requests::{self, MemoryError, Source};
use super::{MemoryParts, MemoryRun};
use hostnet_config::MemoryPlan;
use hostnet_model::memory::CommandRecord;
use serde_json::Value;

/// Requests of one step: milliseconds.
const STEP: u64 = 1 << 13;

/// How a run of the memory alone stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryStatus {
    /// What is being done.
    pub phase: MemoryPhase,
    /// Requests counted, or taken by the memory, so far.
    pub requests: u64,
    /// All requests, if it is known how many there are.
    pub total: Option<u64>,
    /// Simulated time in ps.
    pub simulated_ps: u64,
}

/// What a run of the memory alone is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryPhase {
    /// The requests of a trace are counted.
    Counting,
    /// Requests are served and not measured yet.
    WarmUp,
    /// Requests are served and measured.
    Measuring,
}

/// What a run of the memory alone has measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryReport {
    /// The summary; see docs/memory.md.
    pub summary: Value,
    /// Hexadecimal SHA-256 of what was measured.
    pub result_hash: String,
}

/// A memory system that serves the requests of a plan.
pub struct MemorySimulation<'a> {
    pub(super) plan: &'a MemoryPlan,
    pub(super) run: MemoryRun<Source>,
    pub(super) warm_up: u64,
    /// Whether requests have a time of arrival of their own.
    pub(super) timed: bool,
    pub(super) complete: bool,
    total: Option<u64>,
    stopped: bool,
}

impl<'a> MemorySimulation<'a> {
    /// Opens the requests, and builds the memory that will serve them. With `record` commands are recorded. A trace of
    /// which a share is warm-up is read once to count its requests, while `tell` hears of it and says whether to go on.
    ///
    /// # Errors
    /// What is wrong with the trace or the traffic.
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

    /// Serves some thousand requests and hands on the commands for them. Returns whether there is more to do.
    ///
    /// # Errors
    /// What is wrong with the next request of the trace.
    pub fn step(&mut self, commands: impl FnMut(CommandRecord)) -> Result<bool, MemoryError> {
        if !self.stopped && !self.complete {
            self.complete = !self.run.advance(STEP, commands)?;
        }
        Ok(!self.stopped && !self.complete)
    }

    /// Whether all requests were served.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.complete
    }

    /// How the run stands.
    #[must_use]
    pub fn status(&self) -> MemoryStatus {
        let requests = self.run.taken();
        let phase = if requests <= self.warm_up { MemoryPhase::WarmUp } else { MemoryPhase::Measuring };
        let clock_ps = self.plan.dram.clock_ps_numerator as f64 / self.plan.dram.clock_ps_denominator as f64;
        let simulated_ps = (self.run.clock() as f64 * clock_ps) as u64;
        MemoryStatus { phase, requests, total: self.total, simulated_ps }
    }

    /// What was measured so far.
    #[must_use]
    pub fn report(&self) -> MemoryReport {
        report::report(self)
    }
}
