//! Chips: their configurations and runs.

use crate::errors::{ConfigError, SimulationError};
use crate::exchange::{Alarm, Post};
use crate::plan::format_of;
use crate::supervise::{supervise, Describe};
use hostnet_config::Input;
use hostnet_sim::chip::{ChipPhase, ChipReport, ChipRunStatus, ChipSimulation};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::Path;

/// A checked and resolved configuration of a chip.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct ChipPlan {
    plan: hostnet_config::ChipPlan,
}

#[pymethods]
impl ChipPlan {
    /// Name of the run.
    #[getter]
    fn name(&self) -> &str {
        &self.plan.name
    }

    /// Hash of everything that has an influence on the results.
    #[getter]
    fn hash(&self) -> &str {
        &self.plan.hash
    }

    /// Seed of every random stream.
    #[getter]
    fn seed(&self) -> u64 {
        self.plan.chip.seed
    }

    /// Chips that are simulated: those of a rack, or one with its mirror.
    #[getter]
    fn chips(&self) -> u64 {
        self.plan.torus.map_or(1, |torus| torus.chips())
    }

    /// The complete configuration as JSON. Resolving it gives this plan again.
    fn effective_json(&self) -> String {
        format!("{:#}", self.plan.effective)
    }

    fn __repr__(&self) -> String {
        format!("<ChipPlan {} seed {}>", self.plan.name, self.plan.chip.seed)
    }
}

/// Checks a configuration of a chip.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn chip_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<ChipPlan> {
    let input = Input { text, format: format_of(format)?, file, base_dir: Path::new(base_dir), overrides: &overrides };
    let plan = hostnet_config::chip_plan(&input).map_err(|error| ConfigError::new_err(error.to_string()))?;
    Ok(ChipPlan { plan })
}

/// Whether a text describes a chip.
#[pyfunction]
pub(crate) fn is_chip(text: &str, format: &str) -> PyResult<bool> {
    Ok(hostnet_config::is_chip(text, format_of(format)?))
}

/// The JSON Schema of configurations of chips.
#[pyfunction]
pub(crate) fn chip_schema() -> String {
    format!("{:#}", hostnet_config::chip_schema())
}

/// A commented configuration of a chip to start from.
#[pyfunction]
#[pyo3(signature = (preset=None))]
pub(crate) fn chip_template(preset: Option<&str>) -> PyResult<String> {
    hostnet_config::chip_template(preset).map_err(ConfigError::new_err)
}

/// The names of the chips that come with the program.
#[pyfunction]
pub(crate) fn chips() -> Vec<&'static str> {
    hostnet_config::chips().collect()
}

/// What a run of a chip measured.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct ChipRunResult {
    report: ChipReport,
    status: ChipRunStatus,
    complete: bool,
}

#[pymethods]
impl ChipRunResult {
    /// The summary as JSON.
    #[getter]
    fn summary_json(&self) -> String {
        format!("{:#}", self.report.summary)
    }

    /// Whether the run came to its end.
    #[getter]
    fn complete(&self) -> bool {
        self.complete
    }

    /// Cycles that were simulated, those of the warm-up among them.
    #[getter]
    fn cycles(&self) -> u64 {
        self.status.cycles
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
        format!("<ChipRunResult {}>", self.report.result_hash)
    }
}

/// Runs a plan of a chip. A rack may have several threads, and several processes, of which each calls it; the first has
/// the results.
#[pyfunction]
#[pyo3(signature = (plan, *, threads=1, processes=None, progress=None))]
pub(crate) fn run_chip(
    py: Python<'_>,
    plan: &ChipPlan,
    threads: usize,
    processes: Option<Bound<'_, PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<ChipRunResult>> {
    let plan = &plan.plan;
    let first =
        processes.as_ref().map_or(Ok(true), |group| group.getattr("rank")?.extract().map(|rank: usize| rank == 0))?;
    let way = processes.as_ref().map(Post::of).transpose()?;
    let alarm = processes.map(Bound::unbind);
    let result = supervise(py, progress, |desk| {
        let _alarm = Alarm(alarm);
        let mut simulation = ChipSimulation::with(plan, threads, way);
        while {
            let more = simulation.step()?;
            simulation.agree(more && desk.tell(Stand(simulation.status())))
        } {}
        let complete = simulation.complete();
        let result = ChipRunResult { report: simulation.report(), status: simulation.status(), complete };
        Ok(first.then_some(result))
    })?;
    result.map_err(|error: hostnet_sim::SimulationError| SimulationError::new_err(error.to_string()))
}

struct Stand(ChipRunStatus);

impl Describe for Stand {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        let status = self.0;
        entries.set_item("simulated_ps", status.simulated_ps)?;
        entries.set_item("events", status.cycles)?;
        let phase = match status.phase {
            ChipPhase::WarmUp => "warm-up".to_owned(),
            ChipPhase::Window(number) => format!("window {number}"),
        };
        entries.set_item("phase", phase)?;
        entries.set_item("progress", status.progress.min(1.0))
    }
}
