//! Measures tables on several threads.
//!
//! Every simulation of a loaded server has inputs of its own, and its rates have a place of their own. So a table does
//! not depend on which thread measures what, nor on the order. The threads may belong to several runs that need the
//! same table: each of them helps until it is complete.

use super::fill::FilledCaches;
use super::load::{moment, MeasuredRates};
use super::point::{PointSamples, Sample, FULL};
use super::server_load::ServerLoad;
use super::table::TableInputs;
use hostnet_model::params::{FluidParams, FluidPoint, ServerParams};
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Longest time that a thread without work waits before it reports progress.
const WAIT: Duration = Duration::from_millis(100);

/// A table that is being measured.
#[derive(Debug)]
pub(crate) struct Measuring {
    inputs: TableInputs,
    /// Load of each point.
    loads: Vec<ServerLoad>,
    filled: FilledCaches,
    state: Mutex<MeasuringState>,
    /// Signals that a simulation has ended.
    changed: Condvar,
}

#[derive(Debug)]
struct MeasuringState {
    /// Simulations that can begin, by the number of their point. The last one is the next.
    waiting: Vec<(usize, Sample)>,
    samples: Vec<PointSamples>,
    points: Vec<Option<FluidPoint>>,
    table: Option<Arc<FluidParams>>,
}

/// A simulation that a thread has begun.
struct Begun<'a> {
    table: &'a Measuring,
    task: (usize, Sample),
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        // Without the simulation, threads of other runs would wait for ever.
        if std::thread::panicking() {
            self.table.state().waiting.push(self.task);
            self.table.changed.notify_all();
        }
    }
}

impl Measuring {
    /// Begins a table.
    pub(crate) fn new(inputs: TableInputs) -> Self {
        let (server, loads) = (inputs.server(), inputs.loads());
        // Stacked from the last point to the first, so that one thread completes point by point.
        let full = |point| Sample::of_share(FULL, server).map(move |sample| (point, sample));
        let waiting = (0..loads.len()).flat_map(full).rev().collect();
        let samples = loads.iter().map(|_| PointSamples::new(server)).collect();
        let filled = FilledCaches::of(Sample::of_share(FULL, server).map(|sample| sample.seed(server)));
        let state = MeasuringState { waiting, samples, points: vec![None; loads.len()], table: None };
        Self { inputs, loads, filled, state: Mutex::new(state), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, MeasuringState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the number of points that are measured, and that of all points.
    pub(crate) fn progress(&self) -> [usize; 2] {
        [self.state().points.iter().flatten().count(), self.loads.len()]
    }

    /// Returns the table, or `None` while points are missing.
    pub(crate) fn table(&self) -> Option<Arc<FluidParams>> {
        self.state().table.clone()
    }

    /// Runs one simulation. Returns false if none can begin.
    fn step(&self) -> bool {
        let mut state = self.state();
        let Some((point, sample)) = state.waiting.pop() else { return false };
        let load = &self.loads[point];
        let load = ServerLoad { gap: state.samples[point].gap(load, sample.share), ..load.clone() };
        drop(state);
        let begun = Begun { table: self, task: (point, sample) };
        let server = self.inputs.server();
        let seeded = ServerParams { seed: sample.seed(server), ..server.clone() };
        let rates = moment(&seeded, load, sample.span_ps(server), &self.filled);
        drop(begun);
        self.state().add((point, sample), rates, &self.inputs);
        self.changed.notify_all();
        true
    }

    /// Waits until another thread has ended a simulation, but not for long.
    fn wait(&self) {
        let state = self.state();
        if state.waiting.is_empty() && state.table.is_none() {
            let _ = self.changed.wait_timeout(state, WAIT);
        }
    }
}

impl MeasuringState {
    fn add(&mut self, (point, sample): (usize, Sample), rates: MeasuredRates, inputs: &TableInputs) {
        let (server, samples) = (inputs.server(), &mut self.samples[point]);
        samples.add(sample, rates);
        if sample.share == FULL && samples.of_share(FULL).is_some() {
            let others = (0..FULL).flat_map(|share| Sample::of_share(share, server));
            let others: Vec<_> = others.map(|sample| (point, sample)).collect();
            self.waiting.extend(others.into_iter().rev());
        }
        self.points[point] = samples.point(server);
        let points: Option<Vec<FluidPoint>> = self.points.iter().cloned().collect();
        self.table = points.map(|points| Arc::new(inputs.table(&points)));
    }
}

/// Measures tables on `threads` threads. `on_progress` is called after every simulation of the calling thread; if it
/// returns false, the other threads stop as well, and so is the result.
pub(crate) fn measure(tables: &[Arc<Measuring>], threads: usize, on_progress: &mut dyn FnMut() -> bool) -> bool {
    // More threads than cores would need memory and no less time.
    let threads = threads.min(std::thread::available_parallelism().map_or(1, NonZero::get));
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(|| help(tables, &stopped));
        }
        while step(tables) {
            if !on_progress() {
                stopped.store(true, Ordering::Relaxed);
                return false;
            }
        }
        true
    })
}

/// Runs simulations until all tables are complete, or until the calling thread of [`measure`] has stopped.
fn help(tables: &[Arc<Measuring>], stopped: &AtomicBool) {
    while step(tables) {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
    }
}

/// Runs a simulation of any of the tables, or waits for one to end. Returns false if all tables are complete.
fn step(tables: &[Arc<Measuring>]) -> bool {
    if tables.iter().any(|table| table.step()) {
        return true;
    }
    let incomplete = tables.iter().find(|table| table.table().is_none());
    incomplete.inspect(|table| table.wait()).is_some()
}
