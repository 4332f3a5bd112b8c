//! The exceptions, and the conversion of errors and panics into exceptions.

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

/// Converts the error of a run into an exception: a bad trace or controller is the user's fault, anything else is a
/// state of the simulated machine.
pub(crate) fn simulation_error(error: &hostnet_sim::SimulationError) -> PyErr {
    match error {
        hostnet_sim::SimulationError::Trace(error) => ConfigError::new_err(error.to_string()),
        // Controllers and governors are user input like the configuration.
        hostnet_sim::SimulationError::Controller(error) => ConfigError::new_err(format!("host {error}")),
        _ => SimulationError::new_err(error.to_string()),
    }
}

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Installs a panic hook that stores message and location for [`last_panic`] instead of printing them. It affects
/// only this library.
pub(crate) fn record_panics() {
    std::panic::set_hook(Box::new(|info| {
        let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        last.get_or_insert_with(|| info.to_string());
    }));
}

/// Converts an error of a file operation into an exception; the caller adds the name of the file.
pub(crate) fn os_error(error: &io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// Takes message and location of the first panic since the last call.
pub(crate) fn last_panic() -> String {
    let last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).take();
    last.unwrap_or_else(|| "the simulation ended without a result".to_owned())
}

/// Converts a panic into an exception: a panic is a broken invariant of the simulator, never the user's fault.
pub(crate) fn defect(panic: String) -> PyErr {
    PyRuntimeError::new_err(panic)
}

/// Converts a panic of a run that continues from a checkpoint, whose state is not checked, into an exception.
pub(crate) fn impossible_state(panic: String) -> PyErr {
    let panic = panic.split_whitespace().collect::<Vec<_>>().join(" ");
    CheckpointError::new_err(format!(
        "the checkpoint holds a state that no run comes to ({panic}); if hostnet wrote it, please report this line"
    ))
}
