//! The network on a chip alone: its configurations and runs.

use crate::errors::ConfigError;
use crate::plan::format_of;
use crate::supervise::{supervise, Describe};
use hostnet_config::{Input, Packets};
use hostnet_sim::noc::{NocFault, NocPhase, NocReport, NocSimulation, NocStatus};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::{Path, PathBuf};

/// A checked and resolved configuration of the network alone.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct NocPlan {
    plan: hostnet_config::NocPlan,
}

#[pymethods]
impl NocPlan {
    /// Hash of everything that has an influence on the results, except what a trace holds.
    #[getter]
    fn hash(&self) -> &str {
        &self.plan.hash
    }

    /// The trace, if the packets come from one.
    #[getter]
    fn trace(&self) -> Option<PathBuf> {
        match &self.plan.packets {
            Packets::Trace { path } => Some(path.clone()),
            Packets::Traffic(_) => None,
        }
    }

    /// The complete configuration as JSON. Resolving it gives this plan again.
    fn effective_json(&self) -> String {
        format!("{:#}", self.plan.effective)
    }

    fn __repr__(&self) -> String {
        format!("<NocPlan {}>", self.plan.hash)
    }
}

/// Checks a configuration of the network alone.
#[pyfunction]
#[pyo3(signature = (text="", *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn noc_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<NocPlan> {
    let input = Input { text, format: format_of(format)?, file, base_dir: Path::new(base_dir), overrides: &overrides };
    let plan = hostnet_config::noc_plan(&input).map_err(|error| ConfigError::new_err(error.to_string()))?;
    Ok(NocPlan { plan })
}

/// The JSON Schema of configurations of the network alone.
#[pyfunction]
pub(crate) fn noc_schema() -> String {
    format!("{:#}", hostnet_config::noc_schema())
}

/// What a run of the network alone measured.
#[pyclass(module = "hostnet._core", frozen)]
pub(crate) struct NocRunResult {
    report: NocReport,
    complete: bool,
}

#[pymethods]
impl NocRunResult {
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

    /// Hash over everything that was measured.
    #[getter]
    fn result_hash(&self) -> &str {
        &self.report.result_hash
    }

    fn __repr__(&self) -> String {
        format!("<NocRunResult {}>", self.report.result_hash)
    }
}

/// Runs a plan of the network alone.
#[pyfunction]
#[pyo3(signature = (plan, *, progress=None))]
pub(crate) fn run_noc(py: Python<'_>, plan: &NocPlan, progress: Option<Py<PyAny>>) -> PyResult<NocRunResult> {
    let plan = &plan.plan;
    let result = supervise(py, progress, |desk| run(plan, |status| desk.tell(Noc(status))))?;
    result.map_err(|fault: NocFault| ConfigError::new_err(fault.to_string()))
}

fn run(plan: &hostnet_config::NocPlan, tell: impl Fn(NocStatus) -> bool) -> Result<NocRunResult, NocFault> {
    let mut simulation = NocSimulation::new(plan, &tell)?;
    while simulation.step() && tell(simulation.status()) {}
    tell(simulation.status());
    Ok(NocRunResult { report: simulation.report(), complete: simulation.complete() })
}

struct Noc(NocStatus);

impl Describe for Noc {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        let NocStatus { phase, packets, cycles, simulated_ps, done_ppm } = self.0;
        let phase = match phase {
            NocPhase::Reading => "read",
            NocPhase::WarmUp => "warm-up",
            NocPhase::Measuring => "measure",
            NocPhase::Draining => "drain",
        };
        entries.set_item("simulated_ps", simulated_ps)?;
        entries.set_item("cycles", cycles)?;
        entries.set_item("packets", packets)?;
        entries.set_item("phase", phase)?;
        entries.set_item("progress", f64::from(done_ppm) / 1e6)
    }
}
