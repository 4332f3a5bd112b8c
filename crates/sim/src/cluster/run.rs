//! A run of a cluster.

use super::build;
use super::queues::{self, PortTotals};
use super::read::{Moment, Totals};
use super::report::View;
use crate::report::Report;
use crate::run::{SimulationError, Status, BATCHES, BATCH_MIN_PS};
use hostnet_config::{ClusterPlan, Length, WarmUp};
use hostnet_kernel::checkpoint::{self, CheckpointError};
use hostnet_kernel::{Progress, Scheduler, Simulation, Time};
use hostnet_measure::batch;
use hostnet_model::ether::World;
use hostnet_model::params::{ClusterParams, ServerParams};
use hostnet_model::{Packet, Payload};
use serde::{Deserialize, Serialize};

/// Slices of goodput by which an automatic warm-up is judged.
const SLICE_PS: u64 = 250_000_000;
/// Fewest and most slices of an automatic warm-up.
const SLICES: std::ops::RangeInclusive<usize> = 8..=80;
/// Simulated time that several threads run without a report: a compromise between progress and their start.
const PARALLEL_STEP_PS: u64 = 100_000_000;
/// Simulated time for which packets are recorded before they are handed on: some ten thousand at 100 Gbps.
const RECORD_STEP_PS: u64 = 200_000_000;
/// Simulated time without any progress after which a world counts as stuck. Retransmission timeouts double up to minutes; what
/// does not move for so long while packets or lines are on their way never will.
const STUCK_PS: u64 = 20_000_000_000;

/// What a run is asked for beside its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads that share the partitions, at least 1.
    pub threads: usize,
    /// Interval of the time series in ps; 0 = none.
    pub series_ps: u64,
    /// When the checkpoint is taken, in ps of simulated time; 0 = never.
    pub checkpoint_at_ps: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { threads: 1, series_ps: 0, checkpoint_at_ps: 0 }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Phase {
    WarmUp { slices: Vec<Totals> },
    Measure,
}

/// Everything that a checkpoint holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct State {
    simulation: Simulation<World>,
    phase: Phase,
    window_start: Time,
    /// Totals at the start of the window.
    before: Totals,
    ports_before: Vec<PortTotals>,
    batch_ps: u64,
    next_batch: Time,
    batches: Vec<Totals>,
    next_series: Time,
    series: Vec<Moment>,
    moved: u64,
    moved_at: Time,
    done: bool,
}

/// A run of a cluster.
#[derive(Clone, Debug)]
pub struct Run {
    plan: ClusterPlan,
    /// The hosts that are servers.
    servers: Vec<Option<ServerParams>>,
    pub(super) options: Options,
    state: State,
    /// The partition with the host whose packets are recorded.
    pub(super) recorded: Option<usize>,
    checkpoint: Option<Vec<u8>>,
}

impl Run {
    /// A run from the start.
    #[must_use]
    pub fn new(plan: &ClusterPlan, options: Options) -> Self {
        let servers = build::servers(&plan.cluster);
        let simulation = build::world_of(&plan.cluster, &servers);
        let before = Totals::read(&simulation, &plan.cluster);
        let batch_ps = match plan.run.length {
            Length::Duration { ps } => (ps / BATCHES).max(BATCH_MIN_PS),
            Length::Precision { .. } => SLICE_PS,
        };
        let state = State {
            simulation,
            phase: Phase::WarmUp { slices: Vec::new() },
            window_start: Time::ZERO,
            before,
            ports_before: Vec::new(),
            batch_ps,
            next_batch: Time::MAX,
            batches: Vec::new(),
            next_series: Time::MAX,
            series: Vec::new(),
            moved: 0,
            moved_at: Time::ZERO,
            done: false,
        };
        Self { plan: plan.clone(), servers, options, state, recorded: None, checkpoint: None }
    }

    /// A run that goes on where a checkpoint was taken.
    ///
    /// # Errors
    /// When the checkpoint is damaged or belongs to another configuration.
    pub fn resume(plan: &ClusterPlan, options: Options, bytes: &[u8]) -> Result<Self, CheckpointError> {
        let state = checkpoint::read(&label(plan, options), bytes)?;
        let servers = build::servers(&plan.cluster);
        Ok(Self { plan: plan.clone(), servers, options, state, recorded: None, checkpoint: None })
    }

    /// Runs to the end. Several times a second `on_status` is told how it stands; when that returns false the run stops, and
    /// its report is of what was measured. Returns whether the run is complete.
    ///
    /// # Errors
    /// When the world is stuck, pauses wait for each other, or a controller is missing.
    pub fn run(&mut self, on_status: impl FnMut(Status) -> bool) -> Result<bool, SimulationError> {
        self.run_recorded(on_status, |_| true)
    }

    /// As [`Run::run`]; `on_packets` is handed what the host of [`Run::record`] sent and received, in order of time. When it
    /// returns false the run stops.
    ///
    /// # Errors
    /// As of [`Run::run`].
    pub fn run_recorded(
        &mut self,
        mut on_status: impl FnMut(Status) -> bool,
        mut on_packets: impl FnMut(&[(Time, Packet)]) -> bool,
    ) -> Result<bool, SimulationError> {
        self.check_controllers().map_err(|error| SimulationError::Controller(error.to_string()))?;
        while !self.state.done {
            if !on_status(self.status()) {
                return Ok(false);
            }
            let stop = self.next_stop();
            let first = self.pause_before(stop);
            let reached = self.advance(first, &mut on_status)?;
            if !on_packets(&self.take_recorded()) || !reached {
                return Ok(false);
            }
            self.take_checkpoint(first);
            if first == stop {
                self.at_stop(stop)?;
            }
        }
        Ok(true)
    }

    /// Goes on to `stop`; false when asked to stop before.
    fn advance(&mut self, stop: Time, on_status: &mut impl FnMut(Status) -> bool) -> Result<bool, SimulationError> {
        if self.options.threads > 1 && self.state.simulation.parts().len() > 1 {
            return Ok(self.advance_parallel(stop, on_status));
        }
        let (target_ps, measuring) = (self.target().ps(), self.is_measuring());
        let mut last = None;
        let mut stands_still = None;
        let reached = self.state.simulation.run_until(stop, |progress: Progress| {
            if last.replace(progress.time) == Some(progress.time) {
                stands_still = Some(progress.time);
                return false;
            }
            on_status(Status { simulated_ps: progress.time.ps(), target_ps, events: progress.events, measuring })
        });
        stands_still.map_or(Ok(reached), |time| Err(SimulationError::Livelock { at_ps: time.ps() }))
    }

    fn advance_parallel(&mut self, stop: Time, on_status: &mut impl FnMut(Status) -> bool) -> bool {
        while self.state.simulation.progress().time < stop {
            let next = self.state.simulation.progress().time.saturating_add(PARALLEL_STEP_PS).min(stop);
            self.state.simulation.run_until_parallel(next, self.options.threads);
            if !on_status(self.status()) {
                return false;
            }
        }
        true
    }

    fn status(&self) -> Status {
        let progress = self.state.simulation.progress();
        Status {
            simulated_ps: progress.time.ps(),
            target_ps: self.target().ps(),
            events: progress.events,
            measuring: self.is_measuring(),
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
            _ => Time::from_ps(SLICE_PS * *SLICES.start() as u64),
        };
        let length_ps = match self.plan.run.length {
            Length::Duration { ps } => ps.min(self.plan.run.duration_max_ps),
            Length::Precision { .. } => self.plan.run.duration_max_ps,
        };
        warm_up.saturating_add(length_ps)
    }

    /// The next moment at which something is to be done between events.
    fn next_stop(&self) -> Time {
        let state = &self.state;
        match (&state.phase, self.plan.run.warm_up) {
            (Phase::Measure, _) => self.target().min(state.next_batch).min(state.next_series),
            (_, WarmUp::Fixed { ps }) => Time::from_ps(ps),
            (Phase::WarmUp { slices }, _) => Time::from_ps(SLICE_PS * (slices.len() as u64 + 1)),
        }
    }

    /// Where to pause before `stop`: for the checkpoint, and before too many packets are recorded.
    fn pause_before(&self, stop: Time) -> Time {
        let now = self.state.simulation.progress().time;
        let recorded = self.recorded.map(|_| now.saturating_add(RECORD_STEP_PS));
        let checkpoint = Some(Time::from_ps(self.options.checkpoint_at_ps)).filter(|&at| at > now);
        [recorded, checkpoint].into_iter().flatten().fold(stop, Time::min)
    }

    fn take_checkpoint(&mut self, now: Time) {
        if self.options.checkpoint_at_ps == now.ps() && self.checkpoint.is_none() {
            self.checkpoint = checkpoint::write(&label(&self.plan, self.options), &self.state).ok();
        }
    }

    fn at_stop(&mut self, now: Time) -> Result<(), SimulationError> {
        let totals = Totals::read(&self.state.simulation, &self.plan.cluster);
        if let Some(deadlock) = super::read::deadlock(&self.state.simulation, &self.plan.cluster, now) {
            return Err(deadlock);
        }
        self.check_progress(&totals, now)?;
        if self.is_measuring() {
            self.measure(totals, now);
        } else {
            self.warm_up(totals, now);
        }
        Ok(())
    }

    fn warm_up(&mut self, totals: Totals, now: Time) {
        let Phase::WarmUp { slices } = &mut self.state.phase else { return };
        slices.push(totals);
        let over = match self.plan.run.warm_up {
            WarmUp::Fixed { ps } => now.ps() >= ps,
            WarmUp::Auto => {
                slices.len() >= *SLICES.end() || (slices.len() >= *SLICES.start() && is_steady(&self.plan, slices))
            }
        };
        if over {
            self.start_measuring(now);
        }
    }

    fn start_measuring(&mut self, now: Time) {
        let state = &mut self.state;
        state.simulation.parts_mut().iter_mut().for_each(|part| super::read::reset(&mut part.0, now));
        state.before = Totals::read(&state.simulation, &self.plan.cluster);
        state.ports_before = queues::totals(&state.simulation, &self.plan.cluster);
        state.phase = Phase::Measure;
        state.window_start = now;
        state.next_batch = now + state.batch_ps;
        if self.options.series_ps > 0 {
            // What the first step starts from.
            state.series.push(Moment::read(&mut state.simulation, now));
            state.next_series = now + self.options.series_ps;
        }
    }

    fn measure(&mut self, totals: Totals, now: Time) {
        let target = self.target();
        let state = &mut self.state;
        if now == state.next_series {
            state.series.push(Moment::read(&mut state.simulation, now));
            state.next_series += self.options.series_ps;
        }
        if now == state.next_batch {
            state.batches.push(totals);
            state.next_batch = now + state.batch_ps;
        }
        state.done = now >= target || is_precise(&self.plan, &state.before, &state.batches);
    }

    /// Packets or lines that are on their way while nothing arrives mean that the world is stuck.
    fn check_progress(&mut self, totals: &Totals, now: Time) -> Result<(), SimulationError> {
        let state = &mut self.state;
        let moved = totals.moved().wrapping_add(super::read::lines_moved(&state.simulation));
        if moved != state.moved || !super::read::is_busy(&state.simulation) {
            state.moved = moved;
            state.moved_at = now;
        }
        let idle_ps = now.since(state.moved_at);
        if idle_ps < STUCK_PS {
            return Ok(());
        }
        Err(super::read::stuck(&state.simulation, now, idle_ps))
    }

    /// The checkpoint that was asked for, once its time has come.
    #[must_use]
    pub fn checkpoint(&self) -> Option<&[u8]> {
        self.checkpoint.as_deref()
    }

    /// The plan.
    #[must_use]
    pub fn plan(&self) -> &ClusterPlan {
        &self.plan
    }

    /// The world, to look at.
    #[must_use]
    pub fn simulation(&self) -> &Simulation<World> {
        &self.state.simulation
    }

    /// The cluster, and the partitions to reach into between events.
    pub(super) fn outside(&mut self) -> (&ClusterParams, &mut [(World, Scheduler<Payload>)]) {
        (&self.plan.cluster, self.state.simulation.parts_mut())
    }

    /// Events handled so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.state.simulation.progress().events
    }

    /// The results so far.
    #[must_use]
    pub fn report(&mut self) -> Report {
        let now = self.state.simulation.progress().time;
        self.state.simulation.parts_mut().iter_mut().for_each(|part| super::read::settle(&mut part.0, now));
        let state = &self.state;
        View {
            plan: &self.plan,
            servers: &self.servers,
            simulation: &state.simulation,
            before: &state.before,
            ports_before: &state.ports_before,
            batches: &state.batches,
            series: &state.series,
            window_start: state.window_start,
            now,
            complete: state.done,
        }
        .report()
    }
}

fn label(plan: &ClusterPlan, options: Options) -> String {
    format!("cluster {} series {}", plan.hash, options.series_ps)
}

/// Bytes of one class that applications received in each slice.
fn received(plan: &ClusterPlan, before: Option<&Totals>, slices: &[Totals], class: usize) -> Vec<f64> {
    let of = |totals: &Totals| totals.received(&plan.cluster, class) as f64;
    let mut last = before.map_or(0.0, of);
    slices.iter().map(|slice| of(slice) - std::mem::replace(&mut last, of(slice))).collect()
}

/// Whether the goodput of every class has settled.
fn is_steady(plan: &ClusterPlan, slices: &[Totals]) -> bool {
    (0..plan.cluster.classes.len()).all(|class| batch::warm_up(&received(plan, None, slices, class)).is_some())
}

fn is_precise(plan: &ClusterPlan, before: &Totals, batches: &[Totals]) -> bool {
    let Length::Precision { relative } = plan.run.length else { return false };
    batches.len() >= crate::run::PRECISION_BATCHES_MIN
        && (0..plan.cluster.classes.len()).all(|class| {
            let found = batch::estimate(&received(plan, Some(before), batches, class), crate::view::CONFIDENCE_GROUPS);
            found.mean == 0.0 || found.half_width <= relative * found.mean
        })
}
