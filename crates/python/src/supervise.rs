//! Runs a simulation on its own thread, watched by the thread that Python called from.

use crate::errors::{defect, last_panic};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

/// Interval at which the watcher checks the simulation.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// State shared by the simulation and its watcher.
pub(crate) struct Desk<S> {
    status: Mutex<Option<S>>,
    stop: AtomicBool,
    ended: AtomicBool,
}

impl<S> Desk<S> {
    fn new() -> Self {
        Self { status: Mutex::new(None), stop: AtomicBool::new(false), ended: AtomicBool::new(false) }
    }

    /// Publishes the status of the simulation. Returns false if the simulation should stop.
    pub(crate) fn tell(&self, status: S) -> bool {
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
    work: impl FnOnce(&Desk<S>) -> T + Send,
) -> PyResult<T> {
    supervise_or(py, progress, defect, work)
}

/// As [`supervise`], with a function that converts a panic of `work` into an exception.
///
/// # Errors
/// See [`supervise`].
pub(crate) fn supervise_or<S: Describe + Send, T: Send>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    panicked: fn(String) -> PyErr,
    work: impl FnOnce(&Desk<S>) -> T + Send,
) -> PyResult<T> {
    let desk = Desk::new();
    let watcher = thread::current();
    let (result, raised) = thread::scope(|scope| {
        let simulation = scope.spawn(|| {
            let result = work(&desk);
            desk.ended.store(true, Ordering::Release);
            watcher.unpark();
            result
        });
        let raised = watch(py, &simulation, &desk, progress.as_ref());
        (py.detach(|| simulation.join()), raised)
    });
    raised?;
    result.map_err(|_| panicked(last_panic()))
}

/// Watches the simulation until it ends. Returns the first exception; after an exception it only waits for the end.
fn watch<S: Describe + Send, T: Send>(
    py: Python<'_>,
    simulation: &ScopedJoinHandle<'_, T>,
    desk: &Desk<S>,
    progress: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let mut outcome = Ok(());
    // The thread counts as finished only some time after it has unparked this one, so `ended` is checked as well.
    while !(desk.ended.load(Ordering::Acquire) || simulation.is_finished()) {
        py.detach(|| thread::park_timeout(LOOK_EVERY));
        if outcome.is_err() {
            continue;
        }
        outcome = py.check_signals().and_then(|()| report(py, desk, progress));
        if outcome.is_err() {
            desk.ask_to_stop();
        }
    }
    outcome
}

fn report<S: Describe>(py: Python<'_>, desk: &Desk<S>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    let (Some(progress), Some(status)) = (progress, desk.take()) else { return Ok(()) };
    if desk.was_asked_to_stop() {
        return Ok(());
    }
    let entries = PyDict::new(py);
    status.describe(&entries)?;
    let answer = progress.bind(py).call1((entries,))?;
    if !answer.is_none() && !answer.is_truthy()? {
        desk.ask_to_stop();
    }
    Ok(())
}
