//! Executes one run: warm-up, measurement, checkpoint.

mod checkpoints;
mod external;
mod forecast;
mod livelock;
mod many;
mod observe;
mod options;
mod pace;
mod processes;
mod recording;
mod results;
mod skips;
mod start;
mod state;
mod stuck;
mod window;

pub use checkpoints::CheckpointPiece;
pub use forecast::Forecast;
pub use many::{run_many, FinishedRun, ManyStatus};
pub use options::{Options, RunStatus};
pub use pace::{epoch_ps, latest_end_ps, EPOCH_PS};
pub use processes::SharedExchange;

use crate::build::feeds::{TraceFeeds, FEED_PS};
use crate::error::SimulationError;
use crate::read::ends::machine;
use crate::read::flows::AllFlowTotals;
use crate::read::host_state::{host_states, HostState};
use crate::read::ports;
use crate::read::sample::reset_world;
use crate::read::{have_finished, in_number_order, PartitionReading, WorldReading};
use checkpoints::{is_checkpoint_due, label, next_checkpoint};
use hostnet_config::Plan;
use hostnet_kernel::{Progress, Time};
use hostnet_model::params::ServerParams;
use hostnet_model::{Packet, World};
use livelock::LivelockDetector;
use observe::RunObserver;
use pace::RunPace;
use processes::Processes;
use recording::PacketRecording;
use state::RunState;
use stuck::{check_pauses, find_last_arrival, stuck_error};
use window::WindowStart;

/// Simulated time that several threads run between two progress reports, in ps: a compromise between frequent
/// progress and the cost of starting the threads.
const PARALLEL_STEP_PS: u64 = 100_000_000;
/// Simulated time for which packets are recorded before they are passed on, in ps: some ten thousand packets at 100
/// Gbps.
const RECORD_STEP_PS: u64 = 200_000_000;

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
    observer: RunObserver,
    recording: PacketRecording,
    /// Detector of livelocks.
    livelock: LivelockDetector,
    processes: Processes,
}

/// Receives recorded packets, and returns false to stop the run.
type PacketCallback<'a> = dyn FnMut(&[(Time, Packet)]) -> bool + 'a;

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

    /// Like [`Run::run`], but also passes to `on_packets` the packets that the host of [`Run::record`] sent and
    /// received, in the order of time. The run stops if that returns false.
    ///
    /// # Errors
    /// Returns the same errors as [`Run::run`].
    pub fn run_recorded(
        &mut self,
        on_status: impl FnMut(RunStatus) -> bool,
        on_packets: impl FnMut(&[(Time, Packet)]) -> bool,
    ) -> Result<bool, SimulationError> {
        self.run_with_checkpoints(on_status, on_packets, |_| true)
    }

    /// Like [`Run::run_recorded`], but also passes each due checkpoint to `on_checkpoint`. The run stops if that
    /// returns false.
    ///
    /// # Errors
    /// Returns the same errors as [`Run::run`].
    pub fn run_with_checkpoints(
        &mut self,
        mut on_status: impl FnMut(RunStatus) -> bool,
        mut on_packets: impl FnMut(&[(Time, Packet)]) -> bool,
        mut on_checkpoint: impl FnMut(CheckpointPiece) -> bool,
    ) -> Result<bool, SimulationError> {
        self.run_calling(&mut on_status, &mut on_packets, &mut on_checkpoint)
    }

    // Not generic: every crate that calls a generic function compiles it again, here with all that events do.
    fn run_calling(
        &mut self,
        on_status: &mut dyn FnMut(RunStatus) -> bool,
        on_packets: &mut PacketCallback<'_>,
        on_checkpoint: &mut dyn FnMut(CheckpointPiece) -> bool,
    ) -> Result<bool, SimulationError> {
        self.processes.agree(self.check_controllers().map_err(SimulationError::Controller))?;
        loop {
            let at = next_checkpoint(self.options, self.state.now());
            if !self.run_until(at, on_status, on_packets)? {
                return Ok(false);
            }
            if self.state.done {
                return Ok(true);
            }
            // Both checkpoints may be due at once: the single one is whole, the periodic one in records.
            if at.ps() == self.options.checkpoint_at_ps {
                let whole = self.checkpoint().is_some_and(|bytes| !on_checkpoint(CheckpointPiece::Whole(bytes)));
                if self.processes.in_any(whole) {
                    return Ok(false);
                }
            }
            if is_checkpoint_due(self.options, at) {
                let label = label(&self.plan, self.options);
                let Self { state, processes, options, .. } = self;
                if !state.hand_over_records(&label, options.observed_server, processes, on_checkpoint) {
                    return Ok(false);
                }
            }
        }
    }

    /// Like [`Run::run_recorded`], but stops at `limit` at the latest.
    pub(crate) fn run_until(
        &mut self,
        limit: Time,
        on_status: &mut dyn FnMut(RunStatus) -> bool,
        on_packets: &mut PacketCallback<'_>,
    ) -> Result<bool, SimulationError> {
        let status_events = RunPace::of(&self.plan).status_events;
        let mut told_events = None;
        while !self.state.done && self.simulated_ps() < limit.ps() {
            // A trace fails while it is fed, which is between two stops, so every round looks for an error.
            let error = self.feeds.iter().find_map(TraceFeeds::error);
            self.processes.agree(error.map_or(Ok(()), |error| Err(error.clone().into())))?;
            let events = self.events();
            // Processes that share a run handle different numbers of events, but must all take part in every
            // exchange.
            if self.processes.are_several() || told_events.is_none_or(|told| events >= told + status_events) {
                told_events = Some(events);
                if self.processes.in_any(!on_status(self.status())) {
                    return Ok(false);
                }
            }
            let stop = self.state.window.next_stop(&self.plan, self.state.now());
            let first = self.pause_before(stop.min(limit));
            let reached = self.advance(first, on_status)?;
            // Packets are passed on even if the run was stopped, so that the recording is complete until then.
            let recorded = self.recording.take(&mut self.state.simulation, &self.processes);
            if self.processes.in_any(!on_packets(&recorded) || !reached) {
                return Ok(false);
            }
            // The pause comes first: an epoch and a checkpoint hold the state before the readings of the stop.
            self.at_pause(first);
            // A pause for traces, packets or epochs is no stop: readings must not depend on these.
            if first == stop {
                self.at_stop(stop)?;
            }
        }
        Ok(true)
    }

    /// Returns the progress of the run.
    #[must_use]
    pub fn status(&self) -> RunStatus {
        RunStatus {
            simulated_ps: self.simulated_ps(),
            target_ps: self.state.window.reported_target_ps(&self.plan),
            events: self.events(),
            measuring: self.state.window.is_measuring(),
        }
    }

    /// Runs to `stop`. Returns false if a callback stopped the run before.
    fn advance(&mut self, stop: Time, on_status: &mut dyn FnMut(RunStatus) -> bool) -> Result<bool, SimulationError> {
        if self.processes.are_several() {
            return Ok(self.advance_parallel(stop, on_status));
        }
        // An observer sees all events in one order, so it needs a single thread.
        if !self.observer.is_watching() && self.options.threads > 1 && self.state.simulation.parts().len() > 1 {
            return Ok(self.advance_parallel(stop, on_status));
        }
        let (target_ps, measuring) =
            (self.state.window.reported_target_ps(&self.plan), self.state.window.is_measuring());
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
            let reached = match self.observer.watch_mut() {
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

    /// Returns the number of pending events.
    fn pending(&self) -> usize {
        self.state.simulation.parts().iter().map(|part| part.1.pending()).sum()
    }

    /// Returns the total that lines and packets have moved so far. Only for runs that no other process shares.
    fn moved(&mut self) -> u64 {
        let now = self.state.settle();
        WorldReading::of(
            vec![PartitionReading::read(&self.state.simulation, &self.plan.cluster, &self.servers, now)],
            now,
        )
        .moved
    }

    fn advance_parallel(&mut self, stop: Time, on_status: &mut dyn FnMut(RunStatus) -> bool) -> bool {
        while self.state.now() < stop {
            let next = self.state.now().saturating_add(PARALLEL_STEP_PS).min(stop);
            self.processes.advance(&mut self.state.simulation, next, self.options.threads);
            if self.processes.in_any(!on_status(self.status())) {
                return false;
            }
        }
        true
    }

    /// Feeds every core that replays a trace with the steps until the next feeding.
    fn feed(&mut self) {
        for (world, feeds) in self.state.simulation.parts_mut().iter_mut().zip(&mut self.feeds) {
            if let World::Server(machine) = &mut world.0 {
                feeds.fill(machine);
            }
        }
    }

    /// Returns the first time up to `stop` at which the run must pause: for the checkpoint, at the end of an epoch or
    /// of the trace, to feed traces to cores, or to pass recorded packets on.
    fn pause_before(&self, stop: Time) -> Time {
        let now = self.state.now();
        let checkpoint = Some(Time::from_ps(self.options.checkpoint_at_ps)).filter(|&at| at > now);
        let recorded = self.recording.is_on().then(|| now.saturating_add(RECORD_STEP_PS));
        // Feeds and epochs lie on a fixed grid, so that a resumed run pauses at the same times.
        let fed = self.is_fed().then(|| Time::from_ps((now.ps() / FEED_PS + 1) * FEED_PS));
        let pauses = [checkpoint, recorded, fed, Some(self.epoch_end()), Some(self.observer.trace_end())];
        pauses.into_iter().flatten().fold(stop, Time::min)
    }

    fn at_pause(&mut self, now: Time) {
        if now == self.epoch_end() {
            self.state.end_epoch(&self.processes);
        }
        if self.is_fed() && now.ps() % FEED_PS == 0 {
            self.feed();
        }
        // The trace ends with areas up to now, so statistics are settled before.
        if now == self.observer.trace_end() {
            self.state.settle();
            self.observer.end_trace(&mut self.state.simulation);
        }
        // Last of all, so that a resumed run has the epoch that ends now.
        let checkpoint_at_ps = self.options.checkpoint_at_ps;
        // A run without a checkpoint has the time 0, which is also that of its first pause.
        if checkpoint_at_ps > 0 && checkpoint_at_ps == now.ps() && self.checkpoint.is_none() {
            self.checkpoint = self.state.write_whole(&self.plan, self.options, &self.processes);
        }
    }

    /// Returns true if cores replay traces.
    fn is_fed(&self) -> bool {
        self.feeds.iter().any(|feeds| !TraceFeeds::is_empty(feeds))
    }

    /// Returns the end of the current epoch.
    fn epoch_end(&self) -> Time {
        Time::from_ps((self.state.epochs.len() as u64 + 1) * epoch_ps(&self.plan))
    }

    /// Acts between events: checks that the world makes progress, and keeps its reading.
    fn at_stop(&mut self, now: Time) -> Result<(), SimulationError> {
        self.state.skip_repetitions(&self.plan, &self.processes, now);
        if self.state.window.restart == now {
            self.start_measuring(now);
        }
        // While ranks are unfinished, a check for jobs needs no reading of the world.
        if self.state.window.is_jobs_check_only(&self.plan, now)
            && self.processes.in_any(!have_finished(&self.state.simulation))
        {
            return Ok(());
        }
        self.state.settle();
        let share = PartitionReading::read(&self.state.simulation, &self.plan.cluster, &self.servers, now);
        let reading = WorldReading::of(self.processes.all_gather(share), now);
        // A PFC deadlock is reported first: it names a cycle, while a stuck run names one full domain only.
        check_pauses(&self.state.simulation, &self.plan.cluster, &self.processes, now)?;
        self.check_progress(&reading, now)?;
        if self.state.window.is_measuring() {
            self.measure(reading, now);
        } else if self.state.window.is_warm(&self.plan, reading, now) {
            self.start_measuring(now);
        }
        Ok(())
    }

    /// Checks that lines or packets move. If credits are held or packets are in flight and nothing has moved for
    /// `stuck_ps`, the world is stuck, unless a pending event will move something.
    fn check_progress(&mut self, reading: &WorldReading, now: Time) -> Result<(), SimulationError> {
        let idle_ps = self.state.progress.idle_ps(reading, now);
        if idle_ps < RunPace::of(&self.plan).stuck_ps {
            return Ok(());
        }
        let simulation = &self.state.simulation;
        match find_last_arrival(simulation, &self.processes) {
            Some(arrival) => self.state.progress.wait_for(arrival),
            None => return Err(stuck_error(simulation, &self.plan.cluster, &self.processes, now, idle_ps)),
        }
        Ok(())
    }

    fn start_measuring(&mut self, now: Time) {
        let (simulation, cluster) = (&mut self.state.simulation, &self.plan.cluster);
        // Counters restart here, but credits in use stay in use (architecture.md, Warm-up).
        simulation.parts_mut().iter_mut().for_each(|part| reset_world(&mut part.0, now));
        let before = self.processes.all_gather(AllFlowTotals::read(simulation, cluster, now));
        let start = WindowStart {
            before: before.into_iter().reduce(|sum, share| sum.plus(&share)).unwrap_or_default(),
            ports: self.processes.gather_ports(ports::totals(&self.state.simulation, cluster, now)),
            host_states: (self.options.series_ps > 0).then(|| self.gather_host_states(now)),
        };
        self.state.window.begin(start, self.options, now);
        self.state.progress.restart(now);
        self.start_trace();
    }

    fn measure(&mut self, reading: WorldReading, now: Time) {
        let RunState { simulation, window, .. } = &mut self.state;
        window.counters.read_at_end(machine(simulation, self.options.observed_server), now);
        let host_states = self.state.window.ends_series_step(now).then(|| self.gather_host_states(now));
        let state = &mut self.state;
        state.done = state.window.measure(&self.plan, self.options.series_ps, reading, host_states, now);
        // The last epoch ends with the run, unless one has just ended.
        if state.done && state.epochs.last().is_none_or(|epoch| epoch.end_ps < now.ps()) {
            state.end_epoch(&self.processes);
        }
    }

    /// Returns the state of every server.
    fn gather_host_states(&self, now: Time) -> Vec<HostState> {
        in_number_order(self.processes.gather_lists(host_states(&self.state.simulation, now)))
    }

    /// Starts the trace, if one was requested.
    fn start_trace(&mut self) {
        let now = self.state.settle();
        if let Some(server) = self.servers.iter().flatten().nth(self.options.observed_server) {
            self.observer.start_trace(&mut self.state.simulation, server, now);
        }
    }
}
