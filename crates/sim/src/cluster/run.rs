//! A run of a cluster.

mod window;

use super::build::{self, Preparation};
use super::moment::{self, Moment};
use super::queues::PortTotals;
use super::read::{Received, Totals};
use super::report::View;
use crate::error::SimulationError;
use crate::report::Report;
use crate::run::{Status, BATCHES, BATCH_MIN_PS};
use hostnet_config::{ClusterPlan, Length};
use hostnet_kernel::checkpoint::{self, CheckpointError};
use hostnet_kernel::{Progress, Scheduler, Simulation, Time};
use hostnet_model::ether::World;
use hostnet_model::params::{ClusterParams, ServerParams};
use hostnet_model::{Packet, Payload};
use serde::{Deserialize, Serialize};

/// Simulated time that several threads run without a report: a compromise between progress and their start.
const PARALLEL_STEP_PS: u64 = 100_000_000;
/// Simulated time for which packets are recorded before they are handed on: some ten thousand at 100 Gbps.
const RECORD_STEP_PS: u64 = 200_000_000;
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
    WarmUp { slices: Vec<Received> },
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
    batches: Vec<Received>,
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
    ///
    /// # Panics
    /// Never: nobody stops it.
    #[must_use]
    pub fn new(plan: &ClusterPlan, options: Options) -> Self {
        Self::prepare(plan, options, |_| true).expect("nobody stops it")
    }

    /// A run from the start. Where memories have rates, measuring those takes seconds: `on_rates` is told how far they
    /// are, and there is no run if it returns false.
    #[must_use]
    pub fn prepare(plan: &ClusterPlan, options: Options, on_rates: impl FnMut(Preparation) -> bool) -> Option<Self> {
        let servers = build::servers(&plan.cluster);
        let simulation = build::prepared(&plan.cluster, &servers, on_rates)?;
        let before = Totals::read(&simulation, &plan.cluster);
        let batch_ps = match plan.run.length {
            Length::Duration { ps } => (ps / BATCHES).max(BATCH_MIN_PS),
            Length::Precision { .. } => window::SLICE_PS,
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
        Some(Self { plan: plan.clone(), servers, options, state, recorded: None, checkpoint: None })
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

    /// Runs to the end. Several times a second `on_status` is told how it stands; when that returns false the run
    /// stops, and its report is of what was measured. Returns whether the run is complete.
    ///
    /// # Errors
    /// When the world is stuck, pauses wait for each other, or a controller is missing.
    pub fn run(&mut self, on_status: impl FnMut(Status) -> bool) -> Result<bool, SimulationError> {
        self.run_recorded(on_status, |_| true)
    }

    /// As [`Run::run`]; `on_packets` is handed what the host of [`Run::record`] sent and received, in order of time.
    /// When it returns false the run stops.
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
        self.state.simulation.parts_mut().iter_mut().for_each(|part| moment::settle(&mut part.0, now));
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
