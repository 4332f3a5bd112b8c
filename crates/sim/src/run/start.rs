//! Starts a run: from the beginning or from a checkpoint, alone or shared with other processes.

use super::checkpoints::{label, record_label};
use super::livelock::LivelockDetector;
use super::pace::RunPace;
use super::processes::Processes;
use super::{Options, Run, RunPhase, RunState};
use crate::build::feeds::TraceFeeds;
use crate::build::{self, Preparation};
use crate::read::flows::AllFlowTotals;
use crate::read::units::UnitRecorder;
use crate::read::ReadingHistory;
use hostnet_config::Plan;
use hostnet_kernel::checkpoint::{self, CheckpointError};
use hostnet_kernel::{Exchange, Scheduler, Time};
use hostnet_model::params::ServerParams;
use hostnet_model::{Payload, World};
use std::sync::{Arc, Mutex};

/// Connection to the other processes of a run.
pub type SharedExchange = Arc<Mutex<dyn Exchange>>;

impl Run {
    /// Creates a run from the beginning.
    ///
    /// # Panics
    /// Never, as the preparation is not stopped.
    #[must_use]
    pub fn new(plan: &Plan, options: Options) -> Self {
        Self::prepare(plan, options, |_| true).expect("nobody stops it")
    }

    /// Creates a run from the beginning. Measuring the rates of fluid memories and filling caches takes seconds, so
    /// `on_preparation` is called with the progress. If it returns false, the result is `None`.
    #[must_use]
    pub fn prepare(plan: &Plan, options: Options, on_preparation: impl FnMut(Preparation) -> bool) -> Option<Self> {
        Self::prepare_with(plan, options, None, on_preparation)
    }

    /// As [`Run::prepare`], but for one of several processes that share the run. Each process calls it with the same
    /// plan and options.
    #[must_use]
    pub fn prepare_across(
        plan: &Plan,
        options: Options,
        way: SharedExchange,
        on_preparation: impl FnMut(Preparation) -> bool,
    ) -> Option<Self> {
        Self::prepare_with(plan, options, Some(Processes::of(plan, options, way)), on_preparation)
    }

    fn prepare_with(
        plan: &Plan,
        options: Options,
        processes: Option<Processes>,
        on_preparation: impl FnMut(Preparation) -> bool,
    ) -> Option<Self> {
        let servers = build::servers(&plan.cluster);
        let ranks = processes.as_ref().map_or(1, Processes::ranks);
        let here = |partition| processes.as_ref().is_none_or(|processes| processes.has(partition));
        let built = build::prepared(&plan.cluster, &servers, options.threads * ranks, here, on_preparation);
        // If one process is stopped, none of them has a run.
        let stopped = processes.as_ref().map(|processes| processes.gather_all(&built.is_none()));
        let (simulation, feeds) = built.filter(|_| !stopped.unwrap_or_default().contains(&true))?;
        let state = RunState {
            before: AllFlowTotals::default(),
            simulation,
            phase: RunPhase::WarmUp { slices: ReadingHistory::default() },
            window_start: Time::ZERO,
            ports_before: Vec::new(),
            next_batch: Time::MAX,
            batch_ps: RunPace::of(plan).batch_ps(plan.run.length),
            batches: ReadingHistory::default(),
            next_series: Time::MAX,
            series: ReadingHistory::default(),
            counters: UnitRecorder::idle(),
            moved_at: Time::ZERO,
            moved: 0,
            epochs: Vec::new(),
            done: false,
        };
        let mut run = Self { processes, ..Self::with(plan, servers, options, state, feeds) };
        let before = AllFlowTotals::read(&run.state.simulation, &plan.cluster, Time::ZERO);
        run.state.before = run.gather_all(before).into_iter().reduce(|sum, share| sum.plus(&share)).unwrap_or_default();
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

    /// As [`Run::resume`], but from an index and the records of all partitions, in their order. With a `way`, the run
    /// is shared with other processes.
    ///
    /// # Errors
    /// As [`Run::resume`], in any of the processes. Also returns an error if a record is missing or belongs to
    /// another time.
    pub fn resume_from(
        plan: &Plan,
        options: Options,
        index: &[u8],
        records: &[Vec<u8>],
        way: Option<SharedExchange>,
    ) -> Result<Self, CheckpointError> {
        let processes = way.map(|way| Processes::of(plan, options, way));
        let state = join_records(plan, options, index, records);
        let state = match &processes {
            None => state?,
            Some(processes) => processes.agree_on(state)?,
        };
        let ranks = processes.as_ref().map_or(1, Processes::ranks);
        let mut simulation = build::recut(state.simulation, &plan.cluster, options.threads * ranks);
        for (partition, part) in simulation.parts_mut().iter_mut().enumerate() {
            // Every process reads the whole checkpoint and drops the partitions of the others.
            if processes.as_ref().is_some_and(|processes| !processes.has(partition)) {
                *part = (World::Remote, part.1.elsewhere());
            }
        }
        let servers = build::servers(&plan.cluster);
        let feeds = servers.iter().flatten().map(TraceFeeds::new).collect();
        let state = RunState { simulation, ..state };
        let mut run = Self { processes, ..Self::with(plan, servers, options, state, feeds) };
        run.feed();
        if run.is_measuring() {
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
    ) -> Self {
        Self {
            plan: plan.clone(),
            servers,
            options,
            livelock: LivelockDetector::begin(state.simulation.progress()),
            state,
            feeds,
            checkpoint: None,
            watch: None,
            trace: None,
            recorded: None,
            records: false,
            processes: None,
        }
    }
}

/// Joins an index and the records of all partitions to a state.
fn join_records(plan: &Plan, options: Options, index: &[u8], records: &[Vec<u8>]) -> Result<RunState, CheckpointError> {
    let label = label(plan, options);
    let mut state: RunState = checkpoint::read(&label, index)?;
    let at_ps = state.simulation.progress().time.ps();
    let parts = state.simulation.parts_mut();
    if !records.is_empty() && records.len() != parts.len() {
        let (found, wanted) = (records.len(), parts.len());
        return Err(CheckpointError::Damaged(format!("it has {found} records of {wanted} partitions")));
    }
    for (partition, (place, record)) in parts.iter_mut().zip(records).enumerate() {
        *place = checkpoint::read::<(World, Scheduler<Payload>)>(&record_label(&label, at_ps, partition), record)?;
    }
    if parts.iter().any(|part| matches!(part.0, World::Remote)) {
        return Err(CheckpointError::Damaged("records of its partitions are missing".to_owned()));
    }
    Ok(state)
}
