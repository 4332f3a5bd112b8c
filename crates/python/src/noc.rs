//! The network on a chip alone: its configurations and runs.

use crate::alone::{plan_class, planned, result_class, Stand};
use crate::errors::ConfigError;
use crate::supervise::supervise;
use hostnet_config::Packets;
use hostnet_sim::noc::{NocFault, NocPhase, NocReport, NocSimulation, NocStatus};
use pyo3::prelude::*;
use std::path::PathBuf;

plan_class! {
    /// A checked and resolved configuration of the network alone.
    NocPlan of hostnet_config::NocPlan {
        /// The trace, if the packets come from one.
        #[getter]
        fn trace(&self) -> Option<PathBuf> {
            match &self.plan.packets {
                Packets::Trace { path } => Some(path.clone()),
                Packets::Traffic(_) => None,
            }
        }
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
    let plan = planned((text, format, file, base_dir), &overrides, hostnet_config::noc_plan)?;
    Ok(NocPlan { plan })
}

/// The JSON Schema of configurations of the network alone.
#[pyfunction]
pub(crate) fn noc_schema() -> String {
    format!("{:#}", hostnet_config::noc_schema())
}

result_class! {
    /// What a run of the network alone measured.
    NocRunResult of NocReport, NocStatus {}
}

/// Runs a plan of the network alone.
#[pyfunction]
#[pyo3(signature = (plan, *, progress=None))]
pub(crate) fn run_noc(py: Python<'_>, plan: &NocPlan, progress: Option<Py<PyAny>>) -> PyResult<NocRunResult> {
    let plan = &plan.plan;
    let result = supervise(py, progress, |desk| run(plan, |status| desk.tell(stand(status))))?;
    result.map_err(|fault: NocFault| ConfigError::new_err(fault.to_string()))
}

fn run(plan: &hostnet_config::NocPlan, tell: impl Fn(NocStatus) -> bool) -> Result<NocRunResult, NocFault> {
    let mut simulation = NocSimulation::new(plan, &tell)?;
    while simulation.step() && tell(simulation.status()) {}
    tell(simulation.status());
    let complete = simulation.complete();
    Ok(NocRunResult { report: simulation.report(), status: simulation.status(), complete })
}

fn stand(status: NocStatus) -> Stand {
    let NocStatus { phase, packets, cycles, simulated_ps, done_ppm } = status;
    let phase = match phase {
        NocPhase::Reading => "read",
        NocPhase::WarmUp => "warm-up",
        NocPhase::Measuring => "measure",
        NocPhase::Draining => "drain",
    };
    let counts = vec![("cycles", cycles), ("packets", packets)];
    Stand { simulated_ps, phase: phase.to_owned(), counts, progress: f64::from(done_ppm) / 1e6 }
}
