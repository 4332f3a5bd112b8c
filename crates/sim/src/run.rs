//! One run: warm-up, measurement, checkpoint.

mod look;

use crate::build;
use crate::epochs::{self, Epoch};
use crate::feeds::Feeds;
use crate::sample::{self, Group, Sample};
use crate::trace::Trace;
use crate::units::{Recorder, Units};
use crate::view::{View, CONFIDENCE_GROUPS};
use crate::watch::Watch;
use hostnet_config::{Length, Plan, WarmUp};
use hostnet_kernel::checkpoint::{self, CheckpointError};
use hostnet_kernel::{Progress, Simulation, Time};
use hostnet_measure::batch;
use hostnet_model::Machine;
use hostnet_traffic::TraceError;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Slices of the automatic warm-up.
const WARM_UP_SLICE_PS: u64 = 2_000_000;
/// Fewest and most of them.
const WARM_UP_SLICES: std::ops::RangeInclusive<usize> = 20..=150;
/// Batches of a measurement of fixed length.
pub(crate) const BATCHES: u64 = 128;
pub(crate) const BATCH_MIN_PS: u64 = 1_000_000;
/// Batch of a measurement that runs to a precision, and the fewest of them.
const PRECISION_BATCH_PS: u64 = 10_000_000;
pub(crate) const PRECISION_BATCHES_MIN: usize = 32;
/// Most batches kept: then two become one.
const BATCHES_MAX: usize = 4096;
/// Simulated time without any progress after which a run is stuck.
const STUCK_PS: u64 = 500_000_000;

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

/// Why a run cannot go on.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SimulationError {
    /// Credits are held and nothing moves.
    #[error("nothing has moved for {idle_us} us at {at_us} us of simulated time: {domain} holds {in_use} of {capacity} credits{part}")]
    Stuck {
        /// The domain with the largest share of its credits in use.
        domain: &'static str,
        /// Where it is.
        part: String,
        /// Credits in use.
        in_use: u32,
        /// Credits in all.
        capacity: u32,
        /// Simulated time in us.
        at_us: u64,
        /// Time without progress in us.
        idle_us: u64,
    },
    /// Pauses (PFC) wait for each other.
    #[error("deadlock at {at_us} us of simulated time: each of these ports is paused until packets leave by the next, and the last waits for the first: {}", .cycle.join(" -> "))]
    Deadlock {
        /// The ports in the order in which they wait: the switch, the number of the port among those of the switch, the host or
        /// switch that it leads to, and the priority.
        cycle: Vec<String>,
        /// Simulated time at which it was found, in us.
        at_us: u64,
    },
    /// A trace that a core replays is wrong: file, line and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A controller from outside is missing: the host and what it needs.
    #[error("{0}")]
    Controller(String),
    /// Events happen, and time stands still.
    #[error("time stands still at {at_ps} ps: events follow each other without end")]
    Livelock {
        /// Simulated time in ps.
        at_ps: u64,
    },
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
    #[must_use]
    pub fn new(plan: &Plan, options: Options) -> Self {
        let batch_ps = match plan.run.length {
            Length::Duration { ps } => (ps / BATCHES).max(BATCH_MIN_PS),
            Length::Precision { .. } => PRECISION_BATCH_PS,
        };
        let mut feeds = Feeds::new(&plan.server);
        let state = State {
            simulation: build::fed_one_server(&plan.server, &mut feeds),
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

    /// Runs to the end. Several times a second `on_status` is told how it stands; when that returns false the run stops, and
    /// its report is of what was measured. Returns whether the run is complete.
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

    /// When the run will end, as far as known.
    fn target(&self) -> Time {
        let warm_up = match (&self.state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => self.state.window_start,
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            _ => Time::from_ps(WARM_UP_SLICE_PS * *WARM_UP_SLICES.start() as u64),
        };
        warm_up.saturating_add(self.length_ps())
    }

    fn length_ps(&self) -> u64 {
        match self.plan.run.length {
            Length::Duration { ps } => ps.min(self.plan.run.duration_max_ps),
            Length::Precision { .. } => self.plan.run.duration_max_ps,
        }
    }

    /// The next moment at which something is to be done between events.
    fn next_stop(&self) -> Time {
        let state = &self.state;
        match (&state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => {
                self.target().min(state.next_batch).min(state.next_series).min(state.counters.next())
            }
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            (Phase::WarmUp { slices }, _) => Time::from_ps(WARM_UP_SLICE_PS * (slices.len() as u64 + 1)),
        }
    }

    /// The first moment up to `stop` at which something is to be kept of the state: the checkpoint, the end of an epoch.
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

    fn at_stop(&mut self, now: Time) -> Result<(), SimulationError> {
        let classes = self.plan.server.workloads.len();
        let parts = self.state.simulation.parts_mut();
        sample::settle(&mut parts[0].0, now);
        let sample = Sample::read(&parts[0].0, classes, now);
        self.check_progress(&sample, now)?;
        if self.is_measuring() {
            self.measure(sample, now);
        } else {
            self.warm_up(sample, now);
        }
        Ok(())
    }

    fn warm_up(&mut self, sample: Sample, now: Time) {
        let Phase::WarmUp { slices } = &mut self.state.phase else { return };
        let over = match self.plan.run.warm_up {
            WarmUp::Fixed { ps } => now.ps() >= ps,
            WarmUp::Auto => {
                slices.push(sample);
                slices.len() >= *WARM_UP_SLICES.end() || (slices.len() >= *WARM_UP_SLICES.start() && is_steady(slices))
            }
        };
        if over {
            self.start_measuring(now);
        }
    }

    fn start_measuring(&mut self, now: Time) {
        let state = &mut self.state;
        sample::reset(&mut state.simulation.parts_mut()[0].0, now);
        state.phase = Phase::Measure;
        state.window_start = now;
        state.moved_at = now;
        state.moved = 0;
        state.next_batch = now + state.batch_ps;
        state.next_series = if self.options.series_ps > 0 { now + self.options.series_ps } else { Time::MAX };
        state.counters.start(now, self.options.counters_ps);
        self.start_trace();
    }

    fn measure(&mut self, sample: Sample, now: Time) {
        let target = self.target();
        let state = &mut self.state;
        if now == state.next_series {
            state.series.push(sample.clone());
            state.next_series += self.options.series_ps;
        }
        state.counters.stop_at(&state.simulation.parts()[0].0, now);
        if now == state.next_batch {
            state.batches.push(sample);
            if state.batches.len() == BATCHES_MAX {
                state.batches = state.batches.drain(..).skip(1).step_by(2).collect();
                state.batch_ps *= 2;
            }
            state.next_batch = now + state.batch_ps;
        }
        self.state.done = now >= target || self.is_precise();
        if self.state.done && self.state.epochs.last().is_none_or(|epoch| epoch.end_ps < now.ps()) {
            self.end_epoch();
        }
    }

    fn is_precise(&self) -> bool {
        let Length::Precision { relative } = self.plan.run.length else { return false };
        let batches = &self.state.batches;
        batches.len() >= PRECISION_BATCHES_MIN
            && (0..self.plan.server.workloads.len()).all(|class| {
                let found = batch::estimate(&sample::batch_lines(batches, class), CONFIDENCE_GROUPS);
                found.mean == 0.0 || found.half_width <= relative * found.mean
            })
    }

    /// Credits that are held while nothing comes back mean that the machine is stuck.
    fn check_progress(&mut self, sample: &Sample, now: Time) -> Result<(), SimulationError> {
        let moved = sample.progress();
        let idle = self.state.simulation.parts()[0].0.requests().is_empty();
        if moved != self.state.moved || idle {
            self.state.moved = moved;
            self.state.moved_at = now;
        }
        let idle_ps = now.since(self.state.moved_at);
        if idle_ps < STUCK_PS {
            return Ok(());
        }
        Err(stuck(&self.state.simulation.parts()[0].0, now, idle_ps))
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

    /// What every counting unit had counted at the end of each interval, and now: nothing unless `counters_ps` was given and
    /// the measurement has begun.
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

/// Whether the throughput of every workload has settled.
fn is_steady(slices: &[Sample]) -> bool {
    let classes = slices.first().map_or(0, |sample| sample.app_bytes.len());
    (0..classes).all(|class| batch::warm_up(&sample::batch_lines(slices, class)).is_some())
}

fn stuck(machine: &Machine, now: Time, idle_ps: u64) -> SimulationError {
    let all = Group::ALL
        .into_iter()
        .flat_map(|group| sample::domains(machine, group).into_iter().map(move |(part, domain)| (group, part, domain)));
    let fullest = all.max_by_key(|(_, _, domain)| u64::from(domain.in_use()) * 10_000 / u64::from(domain.capacity()));
    let (group, part, domain) = fullest.expect("a machine has domains");
    SimulationError::Stuck {
        domain: group.name(),
        part: format!(" ({part})"),
        in_use: domain.in_use(),
        capacity: domain.capacity(),
        at_us: now.ps() / 1_000_000,
        idle_us: idle_ps / 1_000_000,
    }
}
