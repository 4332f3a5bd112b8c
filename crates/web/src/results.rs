//! Results as a page shows them.

use crate::report::{server_sections, servers_inside};
use hostnet_commands::{explain_run, results_json};
use hostnet_config::Plan;
use hostnet_sim::FinishedRun;
use serde_json::{json, Value};

/// Adds the entries that results of every kind have: those of `head`, which are known before the run, and whether the
/// run is complete.
pub(crate) fn with_head(head: &Value, complete: bool, mut results: Value) -> Value {
    if let (Some(results), Some(head)) = (results.as_object_mut(), head.as_object()) {
        results.extend(head.clone());
        results.insert("complete".to_owned(), json!(complete));
    }
    results
}

/// Returns the results of a run or a prediction with their explanations, and the sections of its report as HTML: all of
/// them for a server without a network, and those of single servers for hosts on a network.
pub(crate) fn with_report(plan: &Plan, run: &FinishedRun) -> Value {
    let mut results = results_json(plan, run);
    results["explanations"] = json!(explain_run(plan, &run.report.summary));
    results["report"] = match plan.server() {
        Some(_) => server_sections(plan, run, &results["explanations"][""]),
        None => servers_inside(plan, run, &results["explanations"]),
    };
    results
}
