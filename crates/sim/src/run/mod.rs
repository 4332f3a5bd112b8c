//! Executes one run: warm-up, measurement, checkpoint.

mod checkpoints;
mod external;
mod forecast;
mod livelock;
mod many;
mod observe;
mod pace;
mod processes;
mod start;
mod stuck;
mod window;

pub use checkpoints::CheckpointPiece;
pub use forecast::Forecast;
pub use many::{run_many, FinishedRun, ManyStatus};
pub use pace::{epoch_ps, latest_end_ps, EPOCH_PS};
pub use start::SharedExchange;

use crate::build::feeds::TraceFeeds;
use crate::error::SimulationError;
use crate::read::flows::AllFlowTotals;
use crate::read::ports::PortTotals;
use crate::read::units::{UnitRecorder, Units};
use crate::read::{in_number_order, samples, PartitionReading, ReadingHistory, WorldReading};
use crate::report::view::WorldView;
use crate::report::Report;
use crate::watch::epochs::Epoch;
use crate::watch::trace::Trace;
use crate::watch::EventObserver;
use hostnet_config::Plan;
use hostnet_kernel::{Progress, Simulation, Time};
use hostnet_model::params::ServerParams;
use hostnet_model::Packet;
use hostnet_model::World;
use livelock::LivelockDetector;
use pace::RunPace;
use processes::Processes;
use serde::{Deserialize, Serialize};

/// Simulated time that several threads run between two progress reports, in ps: a compromise between frequent
/// progress and the cost of starting the threads.
const PARALLEL_STEP_PS: u64 = 100_000_000;
/// Simulated time for which packets are recorded before they are passed on, in ps: some ten thousand packets at 100
/// Gbps.
const RECORD_STEP_PS: u64 = 200_000_000;

/// Options of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Threads that share the partitions, at least 1. A server is one partition; the network between servers is cut
    /// between switches.
    pub threads: usize,
    /// Interval of the time series, in ps; 0 = none.
    pub series_ps: u64,
    /// Simulated time of the checkpoint, in ps; 0 = none.
    pub checkpoint_at_ps: u64,
    /// Simulated time between two checkpoints in records, in ps; 0 = none.
    pub checkpoint_every_ps: u64,
    /// Interval at which the counters of every unit of a server are read, in ps; 0 = never.
    pub counters_ps: u64,
    /// Duration for which the trace follows every line of a server, in ps; 0 = no trace. The trace starts at the end
    /// of the warm-up, or where the run resumes if that is later.
    pub trace_ps: u64,
    /// Server that counters and trace observe, by its number among the servers.
    pub observed_server: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            threads: 1,
            series_ps: 0,
            checkpoint_at_ps: 0,
            checkpoint_every_ps: 0,
            counters_ps: 0,
            trace_ps: 0,
            observed_server: 0,
        }
    }
}

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunStatus {
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Simulated time at which the run will end, as far as known, in ps; 0 for a run that ends when its jobs have
    /// finished.
    pub target_ps: u64,
    /// Events handled.
    pub events: u64,
    /// False during the warm-up.
    pub measuring: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum RunPhase {
    WarmUp { slices: ReadingHistory },
    Measure,
}

/// State of a run that a checkpoint holds.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RunState {
    simulation: Simulation<World>,
    phase: RunPhase,
    window_start: Time,
    /// Totals of flows and ports at the start of the window.
    before: AllFlowTotals,
    ports_before: Vec<PortTotals>,
    next_batch: Time,
    batch_ps: u64,
    batches: ReadingHistory,
    next_series: Time,
    series: ReadingHistory,
    counters: UnitRecorder,
    moved_at: Time,
    moved: u64,
    epochs: Vec<Epoch>,
    done: bool,
}

/// A run of a world: of one server, or of hosts on a network.
#[derive(Clone, Debug)]
pub struct Run {
    plan: Plan,
    /// Hosts that are servers, at the fidelity that they are simulated with.
    servers: Vec<Option<ServerParams>>,
    options: Options,
    state: RunState,
    /// Traces of each server.
    feeds: Vec<TraceFeeds>,
    checkpoint: Option<Vec<u8>>,
    /// Observer of every event, if there is one.
    watch: Option<EventObserver>,
    trace: Option<Trace>,
    /// Partition with the host whose packets are recorded, if this process simulates it.
    recorded: Option<usize>,
    /// True if the packets of a host are recorded, in any process.
    records: bool,
    /// Detector of livelocks.
    livelock: LivelockDetector,
    /// Processes that share the run, if there are several.
    processes: Option<Processes>,
}

impl Run {
    /// Runs to the end. `on_status` is called several times a second with the progress. When it returns false the run
    /// stops, and its report covers the time until then. Returns true if the run is complete.
    ///
    /// # Errors
    /// Returns an error if the world is stuck, if pauses deadlock, if a controller is missing, or if a trace that a
    /// core replays is invalid.
    pub fn run(&mut self, on_status: impl FnMut(RunStatus) -> bool) -> Result<bool, SimulationError> {
        self.run_recorded(on_status, |_| true)
    }

    /// As [`Run::run`], but also passes to `on_packets` the packets that the host of [`Run::record`] sent and
    /// received, in the order of time. The run stops if that returns false.
    ///
    /// # Errors
    /// As [`Run::run`].
    pub fn run_recorded(
        &mut self,
        on_status: impl FnMut(RunStatus) -> bool,
        on_packets: impl FnMut(&[(Time, Packet)]) -> bool,
    ) -> Result<bool, SimulationError> {
        self.run_with_checkpoints(on_status, on_packets, |_| true)
    }

    /// As [`Run::run_recorded`], but stops at `limit` at the latest.
    pub(crate) fn run_until(
        &mut self,
        limit: Time,
        mut on_status: impl FnMut(RunStatus) -> bool,
        mut on_packets: impl FnMut(&[(Time, Packet)]) -> bool,
    ) -> Result<bool, SimulationError> {
        let status_events = RunPace::of(&self.plan).status_events;
        let mut told_events = None;
        while !self.state.done && self.simulated_ps() < limit.ps() {
            let error = self.feeds.iter().find_map(TraceFeeds::error);
            self.agree(error.map_or(Ok(()), |error| Err(error.clone().into())))?;
            let events = self.events();
            // Processes that share a run handle different numbers of events, but must all take part in every
            // exchange.
            if self.processes.is_some() || told_events.is_none_or(|gather_all| events >= gather_all + status_events) {
                told_events = Some(events);
                if self.in_any_process(!on_status(self.status())) {
                    return Ok(false);
                }
            }
            let stop = self.next_stop();
            let first = self.pause_before(stop.min(limit));
            let reached = self.advance(first, &mut on_status)?;
            let recorded = self.take_recorded();
            if self.in_any_process(!on_packets(&recorded) || !reached) {
                return Ok(false);
            }
            self.at_pause(first);
            if first == stop {
                self.at_stop(stop)?;
            }
        }
        Ok(true)
    }

    fn status(&self) -> RunStatus {
        RunStatus {
            simulated_ps: self.simulated_ps(),
            target_ps: self.reported_target_ps(),
            events: self.events(),
            measuring: self.is_measuring(),
        }
    }

    /// Runs to `stop`. Returns false if a callback stopped the run before.
    fn advance(&mut self, stop: Time, on_status: &mut impl FnMut(RunStatus) -> bool) -> Result<bool, SimulationError> {
        if self.processes.is_some() {
            return Ok(self.advance_parallel(stop, on_status));
        }
        // An observer sees all events in one order, so it needs a single thread.
        if self.watch.is_none() && self.options.threads > 1 && self.state.simulation.parts().len() > 1 {
            return Ok(self.advance_parallel(stop, on_status));
        }
        let (target_ps, measuring) = (self.reported_target_ps(), self.is_measuring());
        loop {
            let (mut creeps, pending) = (false, self.pending());
            let livelock = &mut self.livelock;
            let on_slice = |progress: Progress| {
                creeps = livelock.is_creeping(progress, pending);
                let status =
                    RunStatus { simulated_ps: progress.time.ps(), target_ps, events: progress.events, measuring };
                on_status(status) && !creeps
            };
            let simulation = &mut self.state.simulation;
            let reached = match &mut self.watch {
                None => simulation.run_until(stop, on_slice),
                Some(watch) => simulation.run_until_observed(stop, watch, on_slice),
            };
            if !creeps {
                return Ok(reached);
            }
            // Counting what has moved reads the whole world, so it is only done when time creeps.
            let moved = self.moved();
            if !self.livelock.still_moves(self.state.simulation.progress(), moved) {
                return Err(SimulationError::Livelock { at_ps: self.simulated_ps() });
            }
        }
    }

    fn advance_parallel(&mut self, stop: Time, on_status: &mut impl FnMut(RunStatus) -> bool) -> bool {
        while self.state.simulation.progress().time < stop {
            let next = self.state.simulation.progress().time.saturating_add(PARALLEL_STEP_PS).min(stop);
            match self.processes {
                Some(_) => self.advance_across(next),
                None => self.state.simulation.run_until_parallel(next, self.options.threads),
            }
            if self.in_any_process(!on_status(self.status())) {
                return false;
            }
        }
        true
    }

    fn is_measuring(&self) -> bool {
        matches!(self.state.phase, RunPhase::Measure)
    }

    /// Feeds every core that replays a trace with the steps until the next feeding.
    fn feed(&mut self) {
        for (world, feeds) in self.state.simulation.parts_mut().iter_mut().zip(&mut self.feeds) {
            if let World::Server(machine) = &mut world.0 {
                feeds.fill(machine);
            }
        }
    }

    /// Returns the plan.
    #[must_use]
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the simulation for inspection.
    #[must_use]
    pub fn simulation(&self) -> &Simulation<World> {
        &self.state.simulation
    }

    /// Returns the events handled so far.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.state.simulation.progress().events
    }

    /// Returns the simulated time so far, in ps.
    #[must_use]
    pub fn simulated_ps(&self) -> u64 {
        self.state.simulation.progress().time.ps()
    }

    /// Returns the number of pending events.
    fn pending(&self) -> usize {
        self.state.simulation.parts().iter().map(|part| part.1.pending()).sum()
    }

    /// Returns the total that lines and packets have moved so far. Only for runs that no other process shares.
    fn moved(&mut self) -> u64 {
        let now = self.settle();
        WorldReading::of(
            vec![PartitionReading::read(&self.state.simulation, &self.plan.cluster, &self.servers, now)],
            now,
        )
        .moved
    }

    /// Returns the maximum number of events that were pending at once in a partition.
    #[must_use]
    pub fn pending_max(&self) -> usize {
        self.state.simulation.parts().iter().map(|part| part.1.pending_max()).max().unwrap_or(0)
    }

    /// Returns the counts of every counting unit of a server at the end of each interval, and now. Returns `None`
    /// without `counters_ps` or before the measurement has begun.
    #[must_use]
    pub fn units(&mut self) -> Option<Vec<Units>> {
        let now = self.settle();
        self.state.counters.finish(self.observed_server()?, now)
    }

    /// Returns the results so far.
    #[must_use]
    pub fn report(&mut self) -> Report {
        let now = self.settle();
        let state = &self.state;
        let flows = AllFlowTotals::read(&state.simulation, &self.plan.cluster, now);
        let samples = in_number_order(samples(&state.simulation, &self.servers, now));
        let view = WorldView {
            plan: &self.plan,
            servers: &self.servers,
            simulation: &state.simulation,
            flows: &flows,
            samples: &samples,
            before: &state.before,
            ports_before: &state.ports_before,
            batches: &state.batches,
            series: &state.series,
            window_start: state.window_start,
            now,
            complete: state.done,
        };
        let (summary, tables) = view.build_results();
        Report::new(summary, tables)
    }

    /// Brings the statistics of all parts up to now, and returns the time.
    fn settle(&mut self) -> Time {
        let now = self.state.simulation.progress().time;
        let parts = self.state.simulation.parts_mut();
        parts.iter_mut().for_each(|part| crate::read::sample::settle_world(&mut part.0, now));
        now
    }
}
