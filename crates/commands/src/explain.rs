//! Explanations of servers.

use crate::plan::server_of;
use hostnet_analysis::explain::{from_counters, Explanation, WorkloadFacts};
use hostnet_analysis::regime::Regime;
use hostnet_analysis::Counters;
use hostnet_config::{Fault, Plan};
use serde_json::Value;
use std::collections::BTreeMap;

/// Explains counters of the server of a plan, or of its server `host`.
///
/// Without `facts` about the workloads, they are derived from the counters. `regime` is the regime of contention if it
/// is known.
///
/// # Errors
/// Returns an error if there is no such server, or several and no name.
pub fn explain(
    plan: &Plan,
    host: Option<&str>,
    counters: &Counters,
    facts: Option<Vec<WorkloadFacts>>,
    regime: Option<Regime>,
) -> Result<Explanation, Fault> {
    let server = server_of(plan, host)?;
    let facts = facts.unwrap_or_else(|| from_counters(counters, &server));
    Ok(hostnet_analysis::explain::explain(server.socket(), counters, &facts, regime))
}

/// Explains each server of a run that was simulated line by line, by the name of its host; "" is the name of a server
/// without a network. `summary` is that of the run.
#[must_use]
pub fn explain_run(plan: &Plan, summary: &Value) -> BTreeMap<String, Explanation> {
    if plan.server().is_some() {
        return explain_part(plan, None, summary).map(|found| (String::new(), found)).into_iter().collect();
    }
    let servers = summary["servers"].as_object().into_iter().flatten();
    servers.filter_map(|(host, part)| Some((host.clone(), explain_part(plan, Some(host), part)?))).collect()
}

/// Explains a server from its part of a summary. Returns `None` for a server without counters, such as one whose
/// memory is fluid.
fn explain_part(plan: &Plan, host: Option<&str>, part: &Value) -> Option<Explanation> {
    let counters = serde_json::from_value(part["counters"].clone()).ok()?;
    let facts = serde_json::from_value(part["binding"].clone()).ok()?;
    let regime = serde_json::from_value(part["regime"].clone()).ok()?;
    explain(plan, host, &counters, Some(facts), Some(regime)).ok()
}
