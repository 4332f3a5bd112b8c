//! Configurations and runs of the memory alone.

use crate::command_file::CommandFile;
use crate::errors::{config_error, os_error};
use crate::standalone::{plan_class, planned, result_class};
use crate::supervise::supervise;
use hostnet_commands::Status;
use hostnet_config::Requests;
use hostnet_sim::memory::{MemoryError, MemoryReport, MemorySimulation, MemoryStatus};
use pyo3::prelude::*;
use std::io;
use std::path::PathBuf;

plan_class! {
    /// A checked and resolved configuration of the memory alone.
    MemoryPlan of hostnet_config::MemoryPlan {
        /// Path of the trace if the requests come from one, else None.
        #[getter]
        fn trace(&self) -> Option<PathBuf> {
            match &self.plan.requests {
                Requests::Trace { path, .. } => Some(path.clone()),
                Requests::Traffic(_) => None,
            }
        }
    }
}

/// Checks and resolves a configuration of the memory alone.
#[pyfunction]
#[pyo3(signature = (text="", *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn memory_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<MemoryPlan> {
    let plan = planned((text, format, file, base_dir), &overrides, hostnet_config::memory_plan)?;
    Ok(MemoryPlan { plan })
}

/// Returns the JSON Schema of configurations of the memory alone.
#[pyfunction]
pub(crate) fn memory_schema() -> String {
    format!("{:#}", hostnet_config::memory_schema())
}

/// Returns the names of the memory controller profiles.
#[pyfunction]
pub(crate) fn profiles() -> Vec<String> {
    hostnet_config::profiles()
}

result_class! {
    /// Result of a run of the memory alone.
    MemoryRunResult of MemoryReport, MemoryStatus {
        /// Number of requests that the memory accepted, including the warm-up.
        #[getter]
        fn requests(&self) -> u64 {
            self.status.requests
        }
    }
}

enum Failure {
    Memory(MemoryError),
    Commands(io::Error),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Memory(error) => config_error(error.code(), error),
            Failure::Commands(error) => os_error(&error),
        }
    }
}

/// Runs a plan of the memory alone.
///
/// With `commands`, the DRAM commands are written to that file, compressed if `compression` is "gzip" or "zstd".
#[pyfunction]
#[pyo3(signature = (plan, *, commands=None, compression="none", progress=None))]
pub(crate) fn run_memory(
    py: Python<'_>,
    plan: &MemoryPlan,
    commands: Option<PathBuf>,
    compression: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<MemoryRunResult> {
    let plan = &plan.plan;
    let result = supervise(py, progress, |monitor| {
        let file = commands.map(|path| CommandFile::create(&path, compression)).transpose();
        let file = file.map_err(Failure::Commands)?;
        run(plan, file, |status| monitor.publish(Status::from(status)))
    })?;
    result.map_err(|failure: Failure| failure.into())
}

fn run(
    plan: &hostnet_config::MemoryPlan,
    mut file: Option<CommandFile>,
    publish: impl Fn(MemoryStatus) -> bool,
) -> Result<MemoryRunResult, Failure> {
    let mut simulation = MemorySimulation::new(plan, file.is_some(), &publish).map_err(Failure::Memory)?;
    // The closure cannot return an error, so the first one is kept.
    let mut written = Ok(());
    while simulation
        .step(|record| {
            if let (Some(file), Ok(())) = (&mut file, &written) {
                written = file.write(&record);
            }
        })
        .map_err(Failure::Memory)?
        && written.is_ok()
        && publish(simulation.status())
    {}
    written.and_then(|()| file.map_or(Ok(()), CommandFile::finish)).map_err(Failure::Commands)?;
    let complete = simulation.complete();
    Ok(MemoryRunResult { report: simulation.report(), status: simulation.status(), complete })
}
