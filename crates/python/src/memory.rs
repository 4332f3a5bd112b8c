//! The memory alone: its configurations and runs.

use crate::commands::CommandFile;
use crate::errors::{os_error, ConfigError};
use crate::plan::format_of;
use crate::supervise::{supervise, Describe};
use hostnet_config::{Input, Requests};
use hostnet_sim::memory::{MemoryError, MemoryPhase, MemoryReport, MemorySimulation, MemoryStatus};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::io;
use std::path::{Path, PathBuf};

/// A checked and resolved configuration of the memory alone.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct MemoryPlan {
    pub(crate) plan: hostnet_config::MemoryPlan,
}

#[pymethods]
impl MemoryPlan {
    /// Hash of everything that has an influence on the results, except what a trace holds.
    #[getter]
    fn hash(&self) -> &str {
        &self.plan.hash
    }

    /// The trace, if the requests come from one.
    #[getter]
    fn trace(&self) -> Option<PathBuf> {
        match &self.plan.requests {
            Requests::Trace { path, .. } => Some(path.clone()),
            Requests::Traffic(_) => None,
        }
    }

    /// The complete configuration as JSON. Resolving it gives this plan again.
    fn effective_json(&self) -> String {
        format!("{:#}", self.plan.effective)
    }

    fn __repr__(&self) -> String {
        format!("<MemoryPlan {}>", self.plan.hash)
    }
}

/// Checks a configuration of the memory alone.
#[pyfunction]
#[pyo3(signature = (text="", *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn memory_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<MemoryPlan> {
    let input = Input { text, format: format_of(format)?, file, base_dir: Path::new(base_dir), overrides: &overrides };
    let plan = hostnet_config::memory_plan(&input).map_err(|error| ConfigError::new_err(error.to_string()))?;
    Ok(MemoryPlan { plan })
}

/// The JSON Schema of configurations of the memory alone.
#[pyfunction]
pub(crate) fn memory_schema() -> String {
    format!("{:#}", hostnet_config::memory_schema())
}

/// The names of the controller profiles.
#[pyfunction]
pub(crate) fn profiles() -> Vec<String> {
    hostnet_config::profiles()
}

/// What a run of the memory alone measured.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct MemoryRunResult {
    report: MemoryReport,
    status: MemoryStatus,
    complete: bool,
}

#[pymethods]
impl MemoryRunResult {
    /// The summary as JSON.
    #[getter]
    fn summary_json(&self) -> String {
        format!("{:#}", self.report.summary)
    }

    /// Whether all requests were served.
    #[getter]
    fn complete(&self) -> bool {
        self.complete
    }

    /// Requests that the memory took, those of the warm-up among them.
    #[getter]
    fn requests(&self) -> u64 {
        self.status.requests
    }

    /// Simulated time in ps.
    #[getter]
    fn simulated_ps(&self) -> u64 {
        self.status.simulated_ps
    }

    /// Hash over everything that was measured.
    #[getter]
    fn result_hash(&self) -> &str {
        &self.report.result_hash
    }

    fn __repr__(&self) -> String {
        format!("<MemoryRunResult {}>", self.report.result_hash)
    }
}

enum Failure {
    Memory(MemoryError),
    Commands(io::Error),
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Memory(error) => ConfigError::new_err(error.to_string()),
            Failure::Commands(error) => os_error(&error),
        }
    }
}

/// Runs a plan of the memory alone. With `commands` the DRAM commands are written to that file, compressed if
/// `compression` is "gzip" or "zstd".
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
    let result = supervise(py, progress, |desk| {
        let file = commands.map(|path| CommandFile::create(&path, compression)).transpose();
        let file = file.map_err(Failure::Commands)?;
        run(plan, file, |status| desk.tell(Memory(status)))
    })?;
    result.map_err(|failure: Failure| failure.into())
}

fn run(
    plan: &hostnet_config::MemoryPlan,
    mut file: Option<CommandFile>,
    tell: impl Fn(MemoryStatus) -> bool,
) -> Result<MemoryRunResult, Failure> {
    let mut simulation = MemorySimulation::new(plan, file.is_some(), &tell).map_err(Failure::Memory)?;
    let mut written = Ok(());
    while simulation
        .step(|record| {
            if let (Some(file), Ok(())) = (&mut file, &written) {
                written = file.write(&record);
            }
        })
        .map_err(Failure::Memory)?
        && written.is_ok()
        && tell(simulation.status())
    {}
    written.and_then(|()| file.map_or(Ok(()), CommandFile::finish)).map_err(Failure::Commands)?;
    let complete = simulation.complete();
    Ok(MemoryRunResult { report: simulation.report(), status: simulation.status(), complete })
}

struct Memory(MemoryStatus);

impl Describe for Memory {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        let status = self.0;
        entries.set_item("simulated_ps", status.simulated_ps)?;
        entries.set_item("requests", status.requests)?;
        let phase = match status.phase {
            MemoryPhase::Counting => "count",
            MemoryPhase::WarmUp => "warm-up",
            MemoryPhase::Measuring => "measure",
        };
        entries.set_item("phase", phase)?;
        let share = status.total.map(|total| status.requests as f64 / total.max(1) as f64);
        entries.set_item("progress", share.unwrap_or(0.0).min(1.0))
    }
}
