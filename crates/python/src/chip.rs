//! Configurations and runs of chips.

use crate::errors::{fault_error, simulation_error};
use crate::exchange::{AbortOnPanic, PythonExchange};
use crate::plan::format_of;
use crate::standalone::{plan_class, planned, result_class};
use crate::supervise::supervise;
use hostnet_commands::Status;
use hostnet_sim::chip::{ChipReport, ChipRunStatus, ChipSimulation};
use pyo3::prelude::*;

plan_class! {
    /// A checked and resolved configuration of a chip.
    ChipPlan of hostnet_config::ChipPlan {
        /// Name of the run.
        #[getter]
        fn name(&self) -> &str {
            &self.plan.name
        }

        /// Seed of every random stream.
        #[getter]
        fn seed(&self) -> u64 {
            self.plan.chip.seed
        }

        /// Number of chips that are simulated: those of a rack, or one with its mirror.
        #[getter]
        fn chips(&self) -> u64 {
            self.plan.torus.map_or(1, |torus| torus.chips())
        }
    }
}

/// Checks and resolves a configuration of a chip.
#[pyfunction]
#[pyo3(signature = (text, *, format="toml", file="<text>", base_dir=".", overrides=Vec::new()))]
pub(crate) fn chip_plan(
    text: &str,
    format: &str,
    file: &str,
    base_dir: &str,
    overrides: Vec<String>,
) -> PyResult<ChipPlan> {
    let plan = planned((text, format, file, base_dir), &overrides, hostnet_config::chip_plan)?;
    Ok(ChipPlan { plan })
}

/// Returns True if a text describes a chip.
#[pyfunction]
pub(crate) fn is_chip(text: &str, format: &str) -> PyResult<bool> {
    Ok(hostnet_config::is_chip(text, format_of(format)?))
}

/// Returns the JSON Schema of chip configurations.
#[pyfunction]
pub(crate) fn chip_schema() -> String {
    format!("{:#}", hostnet_config::chip_schema())
}

/// Returns a commented chip configuration to start from.
#[pyfunction]
#[pyo3(signature = (preset=None))]
pub(crate) fn chip_template(preset: Option<&str>) -> PyResult<String> {
    hostnet_config::chip_template(preset).map_err(fault_error)
}

/// Returns the names of the chips that come with hostnet.
#[pyfunction]
pub(crate) fn chips() -> Vec<&'static str> {
    hostnet_config::chips().collect()
}

result_class! {
    /// Result of a run of a chip.
    ChipRunResult of ChipReport, ChipRunStatus {
        /// Number of simulated cycles, including the warm-up.
        #[getter]
        fn cycles(&self) -> u64 {
            self.status.cycles
        }
    }
}

/// Runs a plan of a chip.
///
/// A rack may use several threads, and several processes that all call this function; only the first returns the
/// results.
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
    // The first process returns the result of all.
    let first =
        processes.as_ref().map_or(Ok(true), |group| group.getattr("rank")?.extract().map(|rank: usize| rank == 0))?;
    let way = processes.as_ref().map(PythonExchange::of).transpose()?;
    let alarm = processes.map(Bound::unbind);
    let result = supervise(py, progress, |monitor| {
        let _alarm = AbortOnPanic(alarm);
        let mut simulation = ChipSimulation::with(plan, threads, way);
        while {
            let more = simulation.step()?;
            // All processes stop after the same step, although an interrupt reaches one of them first.
            simulation.agree(more && monitor.publish(Status::from(simulation.status())))
        } {}
        let complete = simulation.complete();
        let result = ChipRunResult { report: simulation.report(), status: simulation.status(), complete };
        Ok(first.then_some(result))
    })?;
    result.map_err(|error: hostnet_sim::SimulationError| simulation_error(&error))
}
