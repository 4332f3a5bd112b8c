//! Detects servers that differ from the validated configuration of their preset.

use super::context::Context;
use super::{complete_server, effective, plan_error, server_of, Resolved};
use crate::error::Issue;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Tables of the hardware of a server. Its workloads and the length of the run are up to the user.
const TABLES: [&str; 16] = [
    "core", "cha", "cache", "prefetch", "ddio", "memory", "chiplets", "expander", "pool", "iio", "iommu", "pcie",
    "ssd", "fio", "nic", "stack",
];
/// Keys that were validated both on and off, or that have an effect only if the user enables them.
const SWITCHES: [&str; 5] = ["cache.enabled", "prefetch.", "ddio.", "nic.", "stack."];
/// Maximum number of differing keys that a message names.
const NAMED: usize = 3;

/// Returns the reason why results of a server are not validated: that of its preset, and the differences from it.
/// `None` if there are neither.
pub(super) fn left(resolved: &Resolved, preset: Option<&str>, base_dir: &Path) -> Result<Option<String>, Issue> {
    let own = resolved.spec.server.unvalidated.clone();
    let Some(name) = preset else { return Ok(own) };
    let (before, now) = (written(&untouched(name, base_dir)?)?, written(resolved)?);
    let mut keys = Vec::new();
    differences(&before["server"]["sockets"], &now["server"]["sockets"], "server.sockets", &mut keys);
    TABLES.iter().for_each(|table| differences(&before[table], &now[table], table, &mut keys));
    // Another device changes most values of its table, and its name says so at once.
    if keys.iter().any(|key| key == "memory.device") {
        keys.retain(|key| !key.starts_with("memory.dram."));
    }
    let more = match keys.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (named, verb) = (keys[..keys.len().min(NAMED)].join(", "), if keys.len() == 1 { "differs" } else { "differ" });
    Ok(match own {
        own if keys.is_empty() => own,
        None => Some(format!("unvalidated: {named}{more} {verb} from what {name} was checked on")),
        Some(own) => Some(format!("{own}; {named}{more} {verb} from the preset")),
    })
}

/// Returns the server of a preset without workloads.
pub(super) fn untouched(preset: &str, base_dir: &Path) -> Result<Resolved, Issue> {
    let mut tree = complete_server(&json!({ "server": { "preset": preset } }), Some(preset), base_dir)?.tree;
    tree["workload"] = json!({});
    server_of(tree, &Context { base_dir, given: &[], workloads_min: 0 }, Some(preset))
}

/// Returns the complete configuration of a server without its workloads.
fn written(resolved: &Resolved) -> Result<Value, Issue> {
    let Resolved { spec, server, .. } = resolved;
    serde_json::to_value(effective(spec, &BTreeMap::new(), server)).map_err(plan_error)
}

/// Collects the keys whose values differ, except for switches that were validated both on and off.
fn differences(before: &Value, now: &Value, path: &str, keys: &mut Vec<String>) {
    match (before, now) {
        (Value::Object(before), Value::Object(now)) => {
            for (key, value) in now {
                differences(before.get(key).unwrap_or(&Value::Null), value, &format!("{path}.{key}"), keys);
            }
        }
        (_, Value::Null) => {}
        (_, Value::Bool(_)) if SWITCHES.iter().any(|switch| path.starts_with(switch)) => {}
        _ if before != now => keys.push(path.to_owned()),
        _ => {}
    }
}
