//! Runs a simulation on its own thread, watched by the thread that Python called from.

use crate::errors::{defect, last_panic};
use hostnet_commands::Status;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

/// Interval at which the watcher checks the simulation.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// State shared by the simulation and its watcher.
pub(crate) struct RunMonitor<S> {
    status: Mutex<Option<S>>,
    stop: AtomicBool,
    ended: AtomicBool,
}

impl<S> RunMonitor<S> {
    fn new() -> Self {
        Self { status: Mutex::new(None), stop: AtomicBool::new(false), ended: AtomicBool::new(false) }
    }

    /// Publishes the status of the simulation. Returns false if the simulation should stop.
    pub(crate) fn publish(&self, status: S) -> bool {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status);
        !self.stop.load(Ordering::Relaxed)
    }

    fn take(&self) -> Option<S> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn ask_to_stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn was_asked_to_stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// A status that can be passed to `progress` as a dict.
pub(crate) trait Describe {
    /// Adds the entries of the status to the dict.
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()>;
}

impl Describe for Status {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        entries.set_item("simulated_ps", self.simulated_ps)?;
        for (name, count) in &self.counts {
            entries.set_item(name, count)?;
        }
        entries.set_item("phase", &self.phase)?;
        entries.set_item("progress", self.progress)
    }
}

/// Runs `work` on another thread without the GIL. About ten times a second `progress` is called with the last status,
/// and Python's signal handlers may run. If `progress` returns a false value other than None, `work` is requested to
/// stop and its result is returned.
///
/// # Errors
/// Returns the exception that `progress` or a signal handler raised, once `work` has ended, or a panic of `work` as
/// an exception.
pub(crate) fn supervise<S: Describe + Send, T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&RunMonitor<S>) -> T + Send,
) -> PyResult<T> {
    supervise_or(py, progress, defect, work)
}

/// Like [`supervise`], but with a function that converts a panic of `work` into an exception.
///
/// # Errors
/// See [`supervise`].
pub(crate) fn supervise_or<S: Describe + Send, T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    panicked: fn(String) -> PyErr,
    work: impl FnOnce(&RunMonitor<S>) -> T + Send,
) -> PyResult<T> {
    let monitor = RunMonitor::new();
    let watcher = thread::current();
    let (result, raised) = thread::scope(|scope| {
        let simulation = scope.spawn(|| {
            let result = work(&monitor);
            monitor.ended.store(true, Ordering::Release);
            watcher.unpark();
            result
        });
        let raised = watch(py, &simulation, &monitor, progress.as_ref());
        // The thread waits without the GIL, which callbacks of the simulation may need.
        (py.detach(|| simulation.join()), raised)
    });
    // An exception here, such as an interrupt, goes before the result.
    raised?;
    result.map_err(|_| panicked(last_panic()))
}

/// Watches the simulation until it ends. Returns the first exception; after an exception it only waits for the end.
fn watch<S: Describe + Send, T: Send>(
    py: Python<'_>,
    simulation: &ScopedJoinHandle<'_, T>,
    monitor: &RunMonitor<S>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let mut outcome = Ok(());
    // The thread counts as finished only some time after it has unparked this one, so `ended` is checked as well.
    while !(monitor.ended.load(Ordering::Acquire) || simulation.is_finished()) {
        py.detach(|| thread::park_timeout(LOOK_EVERY));
        // The simulation was asked to stop, which takes effect at its next status.
        if outcome.is_err() {
            continue;
        }
        outcome = py.check_signals().and_then(|()| report(py, monitor, progress));
        if outcome.is_err() {
            monitor.ask_to_stop();
        }
    }
    outcome
}

fn report<S: Describe>(py: Python<'_>, monitor: &RunMonitor<S>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let (Some(progress), Some(status)) = (progress, monitor.take()) else { return Ok(()) };
    if monitor.was_asked_to_stop() {
        return Ok(());
    }
    let entries = PyDict::new(py);
    status.describe(&entries)?;
    let answer = progress.bind(py).call1((entries,))?;
    if !answer.is_none() && !answer.is_truthy()? {
        monitor.ask_to_stop();
    }
    Ok(())
}
