//! Configurations and runs of the network on a chip alone.

use crate::errors::config_error;
use crate::standalone::{plan_class, planned, result_class};
use crate::supervise::supervise;
use hostnet_commands::Status;
use hostnet_config::Packets;
use hostnet_sim::noc::{NocReport, NocRunError, NocSimulation, NocStatus};
use pyo3::prelude::*;
use std::path::PathBuf;

plan_class! {
    /// A checked and resolved configuration of the network on a chip alone.
    NocPlan of hostnet_config::NocPlan {
        /// Path of the trace if the packets come from one, else None.
        #[getter]
        fn trace(&self) -> Option<PathBuf> {
            match &self.plan.packets {
                Packets::Trace { path } => Some(path.clone()),
                Packets::Traffic(_) => None,
            }
        }
    }
}

/// Checks and resolves a configuration of the network on a chip alone.
#[pyfunction]
#[pyo3(signature = (text="", *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn noc_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<NocPlan> {
    let plan = planned((text, format, file, base_dir), &overrides, hostnet_config::noc_plan)?;
    Ok(NocPlan { plan })
}

/// Returns the JSON Schema of configurations of the network on a chip alone.
#[pyfunction]
pub(crate) fn noc_schema() -> String {
    format!("{:#}", hostnet_config::noc_schema())
}

result_class! {
    /// Result of a run of the network on a chip alone.
    NocRunResult of NocReport, NocStatus {}
}

/// Runs a plan of the network on a chip alone.
#[pyfunction]
#[pyo3(signature = (plan, *, progress=None))]
pub(crate) fn run_noc(py: Python<'_>, plan: &NocPlan, progress: Option<Py<PyAny>>) -> PyResult<NocRunResult> {
    let plan = &plan.plan;
    let result = supervise(py, progress, |monitor| run(plan, |status| monitor.publish(Status::from(status))))?;
    result.map_err(|fault: NocRunError| config_error(fault.code(), fault))
}

fn run(plan: &hostnet_config::NocPlan, publish: impl Fn(NocStatus) -> bool) -> Result<NocRunResult, NocRunError> {
    let mut simulation = NocSimulation::new(plan, &publish)?;
    while simulation.step() && publish(simulation.status()) {}
    publish(simulation.status());
    let complete = simulation.complete();
    Ok(NocRunResult { report: simulation.report(), status: simulation.status(), complete })
}
