//! Starts a run: from the beginning or from a checkpoint, alone or shared with other processes.

use super::checkpoints::join_records;
use super::livelock::LivelockDetector;
use super::observe::RunObserver;
use super::options::Options;
use super::processes::{Processes, SharedExchange};
use super::recording::PacketRecording;
use super::skips::track;
use super::state::RunState;
use super::stuck::ProgressCheck;
use super::window::MeasuringWindow;
use super::Run;
use crate::build::feeds::TraceFeeds;
use crate::build::{self, Preparation};
use crate::read::flows::AllFlowTotals;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint::CheckpointError;
use hostnet_kernel::Time;
use hostnet_model::params::ServerParams;
use hostnet_model::World;

impl Run {
    /// Creates a run from the beginning.
    #[must_use]
    pub fn new(plan: &Plan, options: Options) -> Self {
        Self::prepare(plan, options, |_| true).expect("nobody stops it")
    }

    /// Creates a run from the beginning. Measuring the rates of fluid memories and filling caches takes seconds, so
    /// `on_preparation` is called with the progress. If it returns false, the result is `None`.
    #[must_use]
    pub fn prepare(plan: &Plan, options: Options, mut on_preparation: impl FnMut(Preparation) -> bool) -> Option<Self> {
        Self::prepare_with(plan, options, Processes::ALONE, &mut on_preparation)
    }

    /// Like [`Run::prepare`], but for one of several processes that share the run. Each process calls it with the same
    /// plan and options.
    #[must_use]
    pub fn prepare_across(
        plan: &Plan,
        options: Options,
        way: SharedExchange,
        mut on_preparation: impl FnMut(Preparation) -> bool,
    ) -> Option<Self> {
        Self::prepare_with(plan, options, Processes::of(plan, options, way), &mut on_preparation)
    }

    fn prepare_with(
        plan: &Plan,
        options: Options,
        processes: Processes,
        on_preparation: &mut dyn FnMut(Preparation) -> bool,
    ) -> Option<Self> {
        let servers = build::servers(&plan.cluster);
        let here = |partition| processes.has(partition);
        let (parts, tables) = (options.threads * processes.ranks(), options.tables());
        let built = build::prepared(&plan.cluster, &servers, parts, tables, here, on_preparation);
        // If one process is stopped, none of them has a run.
        let stopped = processes.in_any(built.is_none());
        let (simulation, feeds) = built.filter(|_| !stopped)?;
        let mut state = RunState {
            simulation,
            window: MeasuringWindow::before_warm_up(plan),
            progress: ProgressCheck::default(),
            epochs: Vec::new(),
            done: false,
        };
        track(&mut state);
        let mut run = Self::with(plan, servers, options, state, feeds, processes);
        // Until the window begins, a report covers the time from 0 on.
        let before = AllFlowTotals::read(&run.state.simulation, &plan.cluster, Time::ZERO);
        run.state.window.before =
            run.processes.all_gather(before).into_iter().reduce(|sum, share| sum.plus(&share)).unwrap_or_default();
        Some(run)
    }

    /// Resumes a run from a checkpoint, on as many threads as `options` requests.
    ///
    /// # Errors
    /// Returns an error if the checkpoint is damaged or belongs to another configuration, `series_ps` or
    /// `counters_ps`.
    pub fn resume(plan: &Plan, options: Options, bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::resume_from(plan, options, bytes, &[], None)
    }

    /// Like [`Run::resume`], but from an index and the records of all partitions, in their order. With a `way`, the run
    /// is shared with other processes.
    ///
    /// # Errors
    /// Returns the errors of [`Run::resume`] in any of the processes, and an error if a record is missing or belongs to
    /// another time.
    pub fn resume_from(
        plan: &Plan,
        options: Options,
        index: &[u8],
        records: &[Vec<u8>],
        way: Option<SharedExchange>,
    ) -> Result<Self, CheckpointError> {
        let processes = way.map_or(Processes::ALONE, |way| Processes::of(plan, options, way));
        let state = processes.agree_on(join_records(plan, options, index, records))?;
        // The network is cut anew for the threads of this run, which may differ from those before.
        let mut simulation = build::repartition(state.simulation, &plan.cluster, options.threads * processes.ranks());
        for (partition, part) in simulation.parts_mut().iter_mut().enumerate() {
            // Every process reads the whole checkpoint and drops the partitions of the others.
            if !processes.has(partition) {
                *part = (World::Remote, part.1.elsewhere());
            }
        }
        let servers = build::servers(&plan.cluster);
        let feeds = servers.iter().flatten().map(TraceFeeds::new).collect();
        let state = RunState { simulation, ..state };
        let mut run = Self::with(plan, servers, options, state, feeds, processes);
        // Open files are no part of a checkpoint: readers are opened anew at the step of each core.
        run.feed();
        // In the warm-up the trace starts with the window, as in a new run.
        if run.state.window.is_measuring() {
            run.start_trace();
        }
        Ok(run)
    }

    fn with(
        plan: &Plan,
        servers: Vec<Option<ServerParams>>,
        options: Options,
        state: RunState,
        feeds: Vec<TraceFeeds>,
        processes: Processes,
    ) -> Self {
        Self {
            plan: plan.clone(),
            servers,
            options,
            livelock: LivelockDetector::begin(state.simulation.progress()),
            state,
            feeds,
            checkpoint: None,
            observer: RunObserver::of(options),
            recording: PacketRecording::default(),
            processes,
        }
    }
}
