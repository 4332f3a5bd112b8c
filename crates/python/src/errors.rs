//! Exceptions, and what becomes of a panic.

use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::PyErr;
use std::io;
use std::sync::{Mutex, PoisonError};

create_exception!(
    hostnet._core,
    ConfigError,
    PyValueError,
    "The configuration is wrong; the message says where, what and what would be right."
);
create_exception!(
    hostnet._core,
    SimulationError,
    PyRuntimeError,
    "The run could not go on; the message names the domain that is stuck."
);
create_exception!(
    hostnet._core,
    CheckpointError,
    PyValueError,
    "The checkpoint is damaged or belongs to another configuration."
);

/// The exception for a run that could not go on: a wrong trace is the user's, the rest is of the simulated machine.
pub(crate) fn simulation_error(error: &hostnet_sim::SimulationError) -> PyErr {
    match error {
        hostnet_sim::SimulationError::Trace(error) => ConfigError::new_err(error.to_string()),
        // Whoever decides from outside is given, as a configuration is.
        hostnet_sim::SimulationError::Controller(error) => ConfigError::new_err(format!("host {error}")),
        _ => SimulationError::new_err(error.to_string()),
    }
}

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Keeps the message and place of a panic for [`last_panic`], instead of printing it. Concerns this library only.
pub(crate) fn record_panics() {
    std::panic::set_hook(Box::new(|info| {
        let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        last.get_or_insert_with(|| info.to_string());
    }));
}

/// The exception for a file that cannot be read or written; the caller knows its name.
pub(crate) fn os_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// Message and place of the last panic.
pub(crate) fn last_panic() -> String {
    let last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    last.unwrap_or_else(|| "the simulation ended without a result".to_owned())
}

/// The exception for a panic: a broken invariant of the simulator, never the user's fault.
pub(crate) fn defect(panic: String) -> PyErr {
    PyRuntimeError::new_err(panic)
}

/// The exception for a panic of a run that goes on from a checkpoint, whose state is taken as it is.
pub(crate) fn impossible_state(panic: String) -> PyErr {
    let panic = panic.split_whitespace().collect::<Vec<_>>().join(" ");
    CheckpointError::new_err(format!(
        "the checkpoint holds a state that no run comes to ({panic}); if hostnet wrote it, please report this line"
    ))
}
