//! Running plans.

use crate::errors::{defect, impossible_state, os_error, simulation_error, CheckpointError, ConfigError};
use crate::perfetto;
use crate::plan::Plan;
use crate::result::RunResult;
use crate::supervise::{supervise, supervise_or, Describe};
use hostnet_config::{Length, WarmUp};
use hostnet_sim::{Finished, Many, Options, Run, Status};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::num::NonZero;

/// What an automatic warm-up takes at least, in ps: good enough to tell the progress of many runs.
const WARM_UP_GUESS_PS: u64 = 40_000_000;

pub(crate) enum Failure {
    Simulation(hostnet_sim::SimulationError),
    Checkpoint(hostnet_sim::CheckpointError),
    Host(hostnet_sim::cluster::HostError),
    File(std::io::Error),
    /// It was stopped before there was anything to keep.
    Stopped,
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Simulation(error) => simulation_error(&error),
            Failure::Checkpoint(error) => CheckpointError::new_err(error.to_string()),
            Failure::Host(error) => ConfigError::new_err(format!("host {error}")),
            Failure::File(error) => os_error(&error),
            Failure::Stopped => PyKeyboardInterrupt::new_err("stopped"),
        }
    }
}

/// Runs a plan. The results do not depend on `threads`: one server is one partition, which one thread runs.
#[expect(clippy::too_many_arguments, reason = "they are the keywords of a Python function")]
#[pyfunction]
#[pyo3(signature = (plan, *, threads=1, series_ps=0, counters_ps=0, checkpoint_at_ps=0, trace_ps=0, checkpoint=None, progress=None))]
pub(crate) fn run(
    py: Python<'_>,
    plan: &Plan,
    threads: usize,
    series_ps: u64,
    counters_ps: u64,
    checkpoint_at_ps: u64,
    trace_ps: u64,
    checkpoint: Option<&[u8]>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunResult> {
    let _ = threads;
    let options = Options { series_ps, checkpoint_at_ps, counters_ps, trace_ps };
    let panicked = if checkpoint.is_some() { impossible_state } else { defect };
    let result = supervise_or(py, progress, panicked, |desk| {
        let mut run = start(&plan.plan, options, checkpoint)?;
        let complete = run.run(|status| desk.tell(One(status))).map_err(Failure::Simulation)?;
        Ok(finish(&mut run, complete))
    })?;
    result.map_err(|failure: Failure| failure.into())
}

/// Predicts what a plan does, without running it: a fixed point of closed forms.
#[pyfunction]
pub(crate) fn predict(plan: &Plan) -> PyResult<RunResult> {
    plan.check_predictable()?;
    let report = hostnet_sim::predict(&plan.plan);
    let epochs = hostnet_sim::epochs_table(&[]);
    let finished = Finished { report, complete: true, events: 0, simulated_ps: 0, pending_max: 0, epochs };
    Ok(RunResult::new(finished, None, None))
}

fn start(plan: &hostnet_config::Plan, options: Options, checkpoint: Option<&[u8]>) -> Result<Run, Failure> {
    match checkpoint {
        None => Ok(Run::new(plan, options)),
        Some(bytes) => Run::resume(plan, options, bytes).map_err(Failure::Checkpoint),
    }
}

fn finish(run: &mut Run, complete: bool) -> RunResult {
    let finished = Finished {
        report: run.report(),
        complete,
        events: run.events(),
        simulated_ps: run.simulated_ps(),
        pending_max: run.pending_max(),
        epochs: run.epochs_table(),
    };
    let units = run.units();
    let trace = run.take_trace().map(|trace| perfetto::file(&trace, run.plan()));
    RunResult::new(finished, run.checkpoint().map(<[u8]>::to_vec), units).with_trace(trace)
}

/// Runs plans, `threads` at a time (0: as many as there are cores), and returns their results in the same order.
#[pyfunction]
#[pyo3(signature = (plans, *, threads=0, series_ps=0, progress=None))]
pub(crate) fn run_many(
    py: Python<'_>,
    plans: Vec<PyRef<'_, Plan>>,
    threads: usize,
    series_ps: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Vec<RunResult>> {
    let plans: Vec<hostnet_config::Plan> = plans.iter().map(|plan| plan.plan.clone()).collect();
    let threads = if threads == 0 { std::thread::available_parallelism().map_or(1, NonZero::get) } else { threads };
    let options = Options { series_ps, ..Options::default() };
    let expected_ps = plans.iter().map(expected_ps).sum();
    let finished = supervise(py, progress, |desk| {
        hostnet_sim::run_many(&plans, options, threads, |status| desk.tell(All { status, expected_ps }))
    })?;
    let finished = finished.map_err(Failure::Simulation)?;
    Ok(finished.into_iter().map(|finished| RunResult::new(finished, None, None)).collect())
}

/// About how long a plan will be simulated.
fn expected_ps(plan: &hostnet_config::Plan) -> u128 {
    let warm_up_ps = match plan.run.warm_up {
        WarmUp::Auto => WARM_UP_GUESS_PS,
        WarmUp::Fixed { ps } => ps,
    };
    let length_ps = match plan.run.length {
        Length::Duration { ps } => ps,
        Length::Precision { .. } => plan.run.duration_max_ps,
    };
    u128::from(warm_up_ps) + u128::from(length_ps)
}

pub(crate) struct One(pub(crate) Status);

impl Describe for One {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        let status = self.0;
        entries.set_item("simulated_ps", status.simulated_ps)?;
        entries.set_item("target_ps", status.target_ps)?;
        entries.set_item("events", status.events)?;
        entries.set_item("phase", if status.measuring { "measure" } else { "warm-up" })?;
        entries.set_item("progress", share(status.simulated_ps.into(), status.target_ps.into()))
    }
}

struct All {
    status: Many,
    expected_ps: u128,
}

impl Describe for All {
    fn describe(&self, entries: &Bound<'_, PyDict>) -> PyResult<()> {
        let status = self.status;
        entries.set_item("done", status.done)?;
        entries.set_item("total", status.total)?;
        entries.set_item("simulated_ps", status.simulated_ps)?;
        entries.set_item("events", status.events)?;
        let runs = share(status.done as u128, status.total as u128);
        entries.set_item("progress", runs.max(share(status.simulated_ps.into(), self.expected_ps)))
    }
}

fn share(part: u128, whole: u128) -> f64 {
    if whole == 0 {
        1.0
    } else {
        (part as f64 / whole as f64).min(1.0)
    }
}
