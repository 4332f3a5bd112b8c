//! Runs many independent plans on all cores.

use crate::{Options, Report, Run, SimulationError, Table};
use hostnet_config::Plan;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Progress of a set of runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ManyStatus {
    /// Runs that have ended.
    pub done: usize,
    /// Number of runs.
    pub total: usize,
    /// Simulated time of all runs together, in ps.
    pub simulated_ps: u64,
    /// Events of all runs together.
    pub events: u64,
}

/// Outcome of one run: its report, its completeness and its cost.
#[derive(Clone, Debug)]
pub struct FinishedRun {
    /// Results of the run.
    pub report: Report,
    /// True if the run reached its end.
    pub complete: bool,
    /// Events handled.
    pub events: u64,
    /// Simulated time, in ps.
    pub simulated_ps: u64,
    /// Maximum number of events pending at once.
    pub pending_max: usize,
    /// Epochs of the run; see [`crate::epochs_table`].
    pub epochs: Table,
}

impl FinishedRun {
    /// Reads the outcome of a run that has ended. `complete` is true if it reached its end.
    #[must_use]
    pub fn of(run: &mut Run, complete: bool) -> Self {
        Self {
            report: run.report(),
            complete,
            events: run.events(),
            simulated_ps: run.simulated_ps(),
            pending_max: run.pending_max(),
            epochs: run.epochs_table(),
        }
    }
}

struct RunPool<'a, F> {
    plans: &'a [Plan],
    options: Options,
    next: AtomicUsize,
    done: AtomicUsize,
    stopped: AtomicBool,
    simulated_ps: AtomicU64,
    events: AtomicU64,
    on_status: Mutex<F>,
    results: Vec<Mutex<Option<Result<FinishedRun, SimulationError>>>>,
}

/// Runs every plan on `threads` threads, and returns the results in the order of the plans. `on_status` is called
/// several times a second with the progress. When it returns false, all runs stop where they are.
///
/// # Errors
/// The error of the first run, in the order of the plans, that failed.
pub fn run_many(
    plans: &[Plan],
    options: Options,
    threads: usize,
    on_status: impl FnMut(ManyStatus) -> bool + Send,
) -> Result<Vec<FinishedRun>, SimulationError> {
    let pool = RunPool {
        plans,
        options,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        stopped: AtomicBool::new(false),
        simulated_ps: AtomicU64::new(0),
        events: AtomicU64::new(0),
        on_status: Mutex::new(on_status),
        results: plans.iter().map(|_| Mutex::new(None)).collect(),
    };
    std::thread::scope(|scope| {
        // The calling thread works as well, so one thread fewer is spawned.
        for _ in 1..threads.clamp(1, plans.len().max(1)) {
            scope.spawn(|| pool.work());
        }
        pool.work();
    });
    let results = pool.results.into_iter();
    results.map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner).expect("every plan was run")).collect()
}

impl<F: FnMut(ManyStatus) -> bool> RunPool<'_, F> {
    fn work(&self) {
        loop {
            // Plans differ in cost, so each thread takes the next one instead of a fixed share.
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(plan) = self.plans.get(index) else { return };
            let result = self.one(plan);
            *self.results[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            self.done.fetch_add(1, Ordering::Relaxed);
            self.report_progress();
        }
    }

    fn one(&self, plan: &Plan) -> Result<FinishedRun, SimulationError> {
        let mut run = Run::new(plan, self.options);
        let (mut told_ps, mut told_events) = (0, 0);
        let complete = run.run(|status| {
            self.simulated_ps.fetch_add(status.simulated_ps - told_ps, Ordering::Relaxed);
            self.events.fetch_add(status.events - told_events, Ordering::Relaxed);
            (told_ps, told_events) = (status.simulated_ps, status.events);
            self.report_progress()
        })?;
        // The time since the last progress report of this run is still missing.
        self.simulated_ps.fetch_add(run.simulated_ps() - told_ps, Ordering::Relaxed);
        self.events.fetch_add(run.events() - told_events, Ordering::Relaxed);
        Ok(FinishedRun::of(&mut run, complete))
    }

    /// Reports the progress. Returns false if the runs must stop.
    fn report_progress(&self) -> bool {
        let status = ManyStatus {
            done: self.done.load(Ordering::Relaxed),
            total: self.plans.len(),
            simulated_ps: self.simulated_ps.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
        };
        let mut on_status = self.on_status.lock().unwrap_or_else(PoisonError::into_inner);
        // A caller that has stopped the runs is not called again.
        if !self.stopped.load(Ordering::Relaxed) && !on_status(status) {
            self.stopped.store(true, Ordering::Relaxed);
        }
        !self.stopped.load(Ordering::Relaxed)
    }
}
