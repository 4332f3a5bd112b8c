//! Results of runs and predictions as JSON.

use crate::plan::check_predictable;
use hostnet_config::{Fault, Plan};
use hostnet_sim::{FinishedRun, Table};
use serde_json::{json, Map, Value};

/// Predicts the results of a plan without simulating it, from a fixed point of closed forms.
///
/// # Errors
/// Returns the part of the plan that predictions do not cover.
pub fn predict(plan: &Plan) -> Result<FinishedRun, Fault> {
    check_predictable(plan)?;
    let report = hostnet_sim::predict(plan).expect("it is a server");
    let epochs = hostnet_sim::epochs_table(&[]);
    Ok(FinishedRun { report, complete: true, events: 0, simulated_ps: 0, pending_max: 0, epochs })
}

/// Returns a finished run as one JSON object: its hashes, its cost, its summary, and the tables of its run directory,
/// each with its columns by name.
#[must_use]
pub fn results_json(plan: &Plan, run: &FinishedRun) -> Value {
    let tables = run.report.tables.iter().chain([&run.epochs]);
    json!({
        "name": plan.name,
        "config_hash": plan.hash,
        "result_hash": run.report.result_hash,
        "complete": run.complete,
        "events": run.events,
        "simulated_ns": run.simulated_ps as f64 / 1000.0,
        "summary": run.report.summary,
        "tables": tables.map(|table| (table.name.to_owned(), columns(table))).collect::<Map<_, _>>(),
    })
}

/// Returns the columns of a table by name, each as a list.
fn columns(table: &Table) -> Value {
    let column = |(index, (name, _)): (usize, &(&str, _))| {
        let cells = table.rows.iter().map(|row| Value::from(&row[index]));
        ((*name).to_owned(), cells.collect())
    };
    table.columns.iter().enumerate().map(column).collect::<Map<_, _>>().into()
}
