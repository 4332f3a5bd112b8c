//! Finds the event at which two runs, or a run and the record of another, diverge.

use crate::plan::Plan;
use crate::run::Failure;
use crate::supervise::supervise;
use hostnet_commands::Status;
use hostnet_sim::{Deviation, Divergence, Epoch, EventRecord, LockstepResult, ReplayVerdict};
use pyo3::prelude::*;
use serde_json::{json, Value};

/// Runs two plans side by side up to the first event that differs, and returns the events around it as JSON.
#[pyfunction]
#[pyo3(signature = (a, b, *, from_ps=0, context=5, progress=None))]
pub(crate) fn first_divergence(
    py: Python<'_>,
    a: &Plan,
    b: &Plan,
    from_ps: u64,
    context: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let plans = [&a.plan, &b.plan];
    let found = supervise(py, progress, |monitor| {
        hostnet_sim::first_divergence(plans, from_ps, context, |status| monitor.publish(Status::from(status)))
    })?;
    Ok(match found.map_err(Failure::Simulation)? {
        LockstepResult::Diverged(divergence) => diverged(&divergence, plans),
        LockstepResult::Same { until_ps } => json!({ "outcome": "same", "until_ns": ns(until_ps) }),
        LockstepResult::Stopped => json!({ "outcome": "stopped" }),
    }
    .to_string())
}

/// Runs a plan again and compares it with `records` of it, each a list of epochs (end in ps and hash). Returns the
/// events of the first epoch that differs from one of the records, as JSON.
#[pyfunction]
#[pyo3(signature = (plan, records, *, context=5, progress=None))]
pub(crate) fn first_deviation(
    py: Python<'_>,
    plan: &Plan,
    records: Vec<Vec<(u64, u64)>>,
    context: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let epoch = |(end_ps, hash)| Epoch { end_ps, hash };
    let records: Vec<Vec<Epoch>> = records.into_iter().map(|record| record.into_iter().map(epoch).collect()).collect();
    let plan = &plan.plan;
    let found = supervise(py, progress, |monitor| {
        hostnet_sim::first_deviation(plan, &records, context, |status| monitor.publish(Status::from(status)))
    })?;
    Ok(match found.map_err(Failure::Simulation)? {
        ReplayVerdict::Deviated(deviation) => deviated(&deviation, plan),
        ReplayVerdict::Same => json!({ "outcome": "same" }),
        ReplayVerdict::Stopped => json!({ "outcome": "stopped" }),
    }
    .to_string())
}

fn diverged(found: &Divergence, [a, b]: [&hostnet_config::Plan; 2]) -> Value {
    let [first, second] = &found.differing;
    json!({
        "outcome": "diverged",
        "events_before": found.events_before,
        "common": events(&found.common, a),
        "a": events(first, a),
        "b": events(second, b),
    })
}

fn deviated(found: &Deviation, plan: &hostnet_config::Plan) -> Value {
    json!({
        "outcome": "deviated",
        "start_ns": ns(found.start_ps),
        "end_ns": ns(found.end_ps),
        "agrees": found.agrees,
        "events_count": found.events_count,
        "events": events(&found.events, plan),
    })
}

fn events(records: &[EventRecord], plan: &hostnet_config::Plan) -> Vec<Value> {
    records.iter().map(|record| record.json(plan)).collect()
}

fn ns(ps: u64) -> f64 {
    ps as f64 / 1000.0
}
