//! One run: warm-up, measurement, checkpoint.

mod look;
mod window;

use crate::build;
use crate::epochs::{self, Epoch};
use crate::error::SimulationError;
use crate::feeds::Feeds;
use crate::sample::{self, Sample};
use crate::trace::Trace;
use crate::units::{Recorder, Units};
use crate::view::View;
use crate::watch::Watch;
use hostnet_config::{Length, Plan};
use hostnet_kernel::checkpoint::{self, CheckpointError};
use hostnet_kernel::{Progress, Simulation, Time};
use hostnet_model::Machine;
use serde::{Deserialize, Serialize};

/// Batches of a measurement of fixed length.
pub(crate) const BATCHES: u64 = 128;
pub(crate) const BATCH_MIN_PS: u64 = 1_000_000;
/// Batch of a measurement that runs to a precision, and the fewest of them.
const PRECISION_BATCH_PS: u64 = 10_000_000;
pub(crate) const PRECISION_BATCHES_MIN: usize = 32;
/// Events between two tellings of how a run stands, if its stops allow.
const STATUS_EVENTS: u64 = 1 << 17;

/// How to run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Interval of the time series in ps; 0 = none.
    pub series_ps: u64,
    /// Simulated time of the checkpoint in ps; 0 = none.
    pub checkpoint_at_ps: u64,
    /// Interval at which the counters of every unit are read in ps; 0 = never.
    pub counters_ps: u64,
    /// For how long the trace follows every line, in ps, from the end of the warm-up or from where the run goes on if
    /// that is later; 0 = no trace.
    pub trace_ps: u64,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Status {
    /// Simulated time in ps.
    pub simulated_ps: u64,
    /// Simulated time at which the run will end, as far as known, in ps.
    pub target_ps: u64,
    /// Events handled.
    pub events: u64,
    /// False during the warm-up.
    pub measuring: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Phase {
    WarmUp { slices: Vec<Sample> },
    Measure,
}

/// Everything that a checkpoint holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    simulation: Simulation<Machine>,
    phase: Phase,
    window_start: Time,
    next_batch: Time,
    batch_ps: u64,
    batches: Vec<Sample>,
    next_series: Time,
    series: Vec<Sample>,
    counters: Recorder,
    moved_at: Time,
    moved: u64,
    epochs: Vec<Epoch>,
    done: bool,
}

/// A run of one server.
#[derive(Clone, Debug)]
pub struct Run {
    plan: Plan,
    options: Options,
    state: State,
    feeds: Feeds,
    checkpoint: Option<Vec<u8>>,
    /// What looks at every event, if anything does.
    watch: Option<Watch>,
    trace: Option<Trace>,
}

impl Run {
    /// A run from the start.
    ///
    /// # Panics
    /// Never: nobody stops it.
    #[must_use]
    pub fn new(plan: &Plan, options: Options) -> Self {
        let batch_ps = match plan.run.length {
            Length::Duration { ps } => (ps / BATCHES).max(BATCH_MIN_PS),
            Length::Precision { .. } => PRECISION_BATCH_PS,
        };
        let mut feeds = Feeds::new(&plan.server);
        let state = State {
            simulation: build::fed_one_server(&plan.server, &mut feeds, &mut |_| true).expect("nobody stops it"),
            phase: Phase::WarmUp { slices: Vec::new() },
            window_start: Time::ZERO,
            next_batch: Time::MAX,
            batch_ps,
            batches: Vec::new(),
            next_series: Time::MAX,
            series: Vec::new(),
            counters: Recorder::idle(),
            moved_at: Time::ZERO,
            moved: 0,
            epochs: Vec::new(),
            done: false,
        };
        Self { plan: plan.clone(), options, state, feeds, checkpoint: None, watch: None, trace: None }
    }

    /// A run that goes on where a checkpoint was taken.
    ///
    /// # Errors
    /// When the checkpoint is damaged or belongs to another configuration, `series_ps` or `counters_ps`.
    pub fn resume(plan: &Plan, options: Options, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let state = checkpoint::read(&label(plan, options), bytes)?;
        let feeds = Feeds::new(&plan.server);
        let mut run = Self { plan: plan.clone(), options, state, feeds, checkpoint: None, watch: None, trace: None };
        run.feed();
        if run.is_measuring() {
            run.start_trace();
        }
        Ok(run)
    }

    /// Runs to the end. Several times a second `on_status` is told how it stands; when that returns false the run
    /// stops, and its report is of what was measured. Returns whether the run is complete.
    ///
    /// # Errors
    /// When the simulated machine is stuck, or a trace is wrong that a core replays.
    pub fn run(&mut self, on_status: impl FnMut(Status) -> bool) -> Result<bool, SimulationError> {
        self.run_until(Time::MAX, on_status)
    }

    /// As [`Run::run`], but no further than `limit`.
    pub(crate) fn run_until(
        &mut self,
        limit: Time,
        mut on_status: impl FnMut(Status) -> bool,
    ) -> Result<bool, SimulationError> {
        let mut told_events = None;
        while !self.state.done && self.simulated_ps() < limit.ps() {
            if let Some(error) = self.feeds.error() {
                return Err(error.clone().into());
            }
            let events = self.events();
            if told_events.is_none_or(|told| events >= told + STATUS_EVENTS) {
                told_events = Some(events);
                if !on_status(self.status()) {
                    return Ok(false);
                }
            }
            let stop = self.next_stop();
            let first = self.pause_before(stop.min(limit));
            if !self.advance(first, &mut on_status)? {
                return Ok(false);
            }
            self.at_pause(first);
            if first == stop {
                self.at_stop(stop)?;
            }
        }
        Ok(true)
    }

    fn status(&self) -> Status {
        Status {
            simulated_ps: self.simulated_ps(),
            target_ps: self.target().ps(),
            events: self.events(),
            measuring: self.is_measuring(),
        }
    }

    /// Goes on to `stop`; false when asked to stop before.
    fn advance(&mut self, stop: Time, on_status: &mut impl FnMut(Status) -> bool) -> Result<bool, SimulationError> {
        let (target_ps, measuring) = (self.target().ps(), self.is_measuring());
        let mut last = None;
        let mut stands_still = None;
        let on_slice = |progress: Progress| {
            if last.replace(progress.time) == Some(progress.time) {
                stands_still = Some(progress.time);
                return false;
            }
            on_status(Status { simulated_ps: progress.time.ps(), target_ps, events: progress.events, measuring })
        };
        let simulation = &mut self.state.simulation;
        let reached = match &mut self.watch {
            None => simulation.run_until(stop, on_slice),
            Some(watch) => simulation.run_until_observed(stop, watch, on_slice),
        };
        match stands_still {
            Some(time) => Err(SimulationError::Livelock { at_ps: time.ps() }),
            None => Ok(reached),
        }
    }

    fn is_measuring(&self) -> bool {
        matches!(self.state.phase, Phase::Measure)
    }

    /// The first moment up to `stop` at which something is to be kept of the state: the checkpoint, the end of an
    /// epoch.
    fn pause_before(&self, stop: Time) -> Time {
        let checkpoint = Time::from_ps(self.options.checkpoint_at_ps);
        let ahead = checkpoint > self.state.simulation.progress().time;
        let first = if ahead { checkpoint.min(stop) } else { stop };
        first.min(epochs::next_end(&self.state.epochs)).min(self.trace_end())
    }

    fn at_pause(&mut self, now: Time) {
        if now == epochs::next_end(&self.state.epochs) {
            self.end_epoch();
            self.feed();
        }
        if now == self.trace_end() {
            self.trace = self.take_trace();
        }
        self.take_checkpoint(now);
    }

    /// Hands every core that replays a trace the steps of another epoch.
    fn feed(&mut self) {
        self.feeds.fill(&mut self.state.simulation.parts_mut()[0].0);
    }

    fn take_checkpoint(&mut self, now: Time) {
        if self.options.checkpoint_at_ps == now.ps() && self.checkpoint.is_none() {
            self.checkpoint = checkpoint::write(&label(&self.plan, self.options), &self.state).ok();
        }
    }

    /// The checkpoint that was asked for, once its time has come.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&[u8]> {
        self.checkpoint.as_deref()
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Events handled so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.state.simulation.progress().events
    }

    /// Simulated time so far, in ps.
    #[must_use]
    pub fn simulated_ps(&self) -> u64 {
        self.state.simulation.progress().time.ps()
    }

    /// The most events that were ever pending at once.
    #[must_use]
    pub fn pending_max(&self) -> usize {
        self.state.simulation.parts()[0].1.pending_max()
    }

    /// What every counting unit had counted at the end of each interval, and now: nothing unless `counters_ps` was
    /// given and the measurement has begun.
    #[must_use]
    pub fn units(&mut self) -> Option<Vec<Units>> {
        let now = self.state.simulation.progress().time;
        sample::settle(&mut self.state.simulation.parts_mut()[0].0, now);
        self.state.counters.finish(&self.state.simulation.parts()[0].0, now)
    }

    pub(crate) fn view(&mut self) -> View<'_> {
        let now = self.state.simulation.progress().time;
        sample::settle(&mut self.state.simulation.parts_mut()[0].0, now);
        View {
            plan: &self.plan,
            machine: &self.state.simulation.parts()[0].0,
            batches: &self.state.batches,
            series: &self.state.series,
            window_start: self.state.window_start,
            now,
            complete: self.state.done,
            events: self.events(),
            line_bytes: 64,
        }
    }
}

fn label(plan: &Plan, options: Options) -> String {
    format!("{} series {} counters {}", plan.hash, options.series_ps, options.counters_ps)
}
