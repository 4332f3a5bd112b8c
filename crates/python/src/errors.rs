//! The exceptions, and the conversion of errors and panics into exceptions.

use hostnet_config::{Code, Fault};
use hostnet_traffic::TraceError;
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use std::fmt::Display;
use std::io;
use std::sync::{Mutex, PoisonError};

pyo3::import_exception!(hostnet.errors, ConfigError);
pyo3::import_exception!(hostnet.errors, SimulationError);
pyo3::import_exception!(hostnet.errors, CheckpointError);

/// Returns the codes of all errors, each with its meaning and its remedy.
#[pyfunction]
pub(crate) fn error_table() -> Vec<(&'static str, &'static str, &'static str)> {
    Code::ALL.iter().map(|code| (code.name(), code.meaning(), code.fix())).collect()
}

/// Creates the exception for a mistake in the input.
pub(crate) fn config_error(code: Code, message: impl Display) -> PyErr {
    ConfigError::new_err((code.name(), message.to_string()))
}

/// Creates the exception for a value whose position the message names.
pub(crate) fn fault_error(fault: Fault) -> PyErr {
    config_error(fault.code, fault.message)
}

/// Creates the exception for a configuration, with the position of the mistake.
pub(crate) fn refused(error: hostnet_config::ConfigError) -> PyErr {
    let message = error.to_string();
    let hostnet_config::ConfigError { code, file, line, path, .. } = error;
    ConfigError::new_err((code.name(), message, file, line, Some(path).filter(|path| !path.is_empty())))
}

/// Creates the exception for a trace, with the position of the mistake.
pub(crate) fn wrong_trace(error: &TraceError) -> PyErr {
    refused(hostnet_commands::trace_error(error))
}

/// Converts the error of a run into an exception: a bad trace or controller is the user's fault, anything else is a
/// state of the simulated machine.
pub(crate) fn simulation_error(error: &hostnet_sim::SimulationError) -> PyErr {
    match error {
        hostnet_sim::SimulationError::Trace(error) => wrong_trace(error),
        // Controllers and governors are user input like the configuration.
        hostnet_sim::SimulationError::Controller(error) => config_error(error.code, format!("host {error}")),
        _ => SimulationError::new_err((error.code().name(), error.to_string())),
    }
}

/// Creates the exception for a checkpoint that a run cannot continue.
pub(crate) fn checkpoint_error(error: &hostnet_sim::CheckpointError) -> PyErr {
    let code = match error {
        hostnet_sim::CheckpointError::Foreign | hostnet_sim::CheckpointError::Damaged(_) => Code::BadCheckpoint,
        hostnet_sim::CheckpointError::Version { .. } => Code::OtherVersion,
        hostnet_sim::CheckpointError::Label { .. } => Code::OtherConfiguration,
    };
    CheckpointError::new_err((code.name(), error.to_string()))
}

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// Installs a panic hook that stores message and location for [`last_panic`] instead of printing them. It affects
/// only this library.
pub(crate) fn record_panics() {
    std::panic::set_hook(Box::new(|info| {
        let mut last = LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner);
        // Later panics, such as those of other threads, follow from the first.
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
    let message = format!(
        "the checkpoint holds a state that no run comes to ({panic}); if hostnet wrote it, please report this line"
    );
    CheckpointError::new_err((Code::BadCheckpoint.name(), message))
}
