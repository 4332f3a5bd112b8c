//! Storage with less load: the rate of each workload at which its drives offer three quarters of their load.

use super::{resolve_complete, Loads};
use crate::results::predict;
use hostnet_report::numbers::format_general;
use serde_json::{json, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Factor on the load of devices in one step down.
pub(super) const LOAD_FACTOR: f64 = 0.75;
/// Largest relative deviation of the load from that of the step.
const TOLERANCE: f64 = 0.01;
/// Bisection steps for a rate: they narrow its range to a thousandth of the widest one.
const HALVINGS: u32 = 12;
/// Significant digits of a rate.
const DIGITS: usize = 6;

/// Returns the configuration with each storage workload at three quarters of its load; `None` if that is impossible.
///
/// The rate of a workload is divided evenly among its drives. If drives offer different loads, the rate limits the
/// faster ones more, and is higher than the load. `offered` is the load that each storage workload offers, in GB/s.
pub(super) fn with_reduced_load(config: &Value, offered: &Loads, base_dir: &Path) -> Option<Value> {
    if offered.values().sum::<f64>() == 0.0 {
        return None;
    }
    let wanted: Loads = offered.iter().map(|(name, load)| (name.clone(), load * LOAD_FACTOR)).collect();
    let changed = with_rates(config, &wanted);
    let Some(loads) = predicted_loads(&changed, base_dir) else {
        return wanted.keys().all(|name| has_equal_drives(config, name)).then_some(changed);
    };
    if are_within_tolerance(&loads, &wanted) {
        return Some(changed);
    }
    let rates = wanted.iter().map(|(name, &load)| (name.clone(), rate_for(config, name, load, base_dir))).collect();
    let changed = with_rates(config, &rates);
    let loads = predicted_loads(&changed, base_dir)?;
    are_within_tolerance(&loads, &wanted).then_some(changed)
}

/// Returns the configuration with rates of storage workloads, in GB/s.
fn with_rates(config: &Value, rates: &Loads) -> Value {
    let mut changed = config.clone();
    for (name, &rate) in rates {
        changed["workload"][name]["rate"] = json!(format!("{} GB/s", format_general(rate, DIGITS)));
    }
    changed
}

/// Predicts the offered load of each storage workload, in GB/s; `None` if predictions do not cover the server.
fn predicted_loads(config: &Value, base_dir: &Path) -> Option<Loads> {
    let plan = resolve_complete(config, base_dir).ok()?;
    let summary = predict(&plan).ok()?.report.summary;
    serde_json::from_value(summary["offered_gb_per_s"].clone()).ok()
}

/// Returns true if all loads are close to the wanted ones.
fn are_within_tolerance(loads: &Loads, wanted: &Loads) -> bool {
    wanted.iter().all(|(name, load)| (loads.get(name).unwrap_or(&0.0) - load).abs() <= TOLERANCE * load)
}

/// Returns the rate at which a workload offers a load, by bisection.
fn rate_for(config: &Value, name: &str, wanted: f64, base_dir: &Path) -> f64 {
    // The upper bound covers a single drive that offers the whole load.
    let (mut low, mut high) = (wanted, wanted * jobs(config, name).len() as f64);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        let rates = BTreeMap::from([(name.to_owned(), middle)]);
        let loads = predicted_loads(&with_rates(config, &rates), base_dir).unwrap_or_default();
        if *loads.get(name).unwrap_or(&0.0) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// Returns true if all drives of a workload are of one kind and have the same jobs.
fn has_equal_drives(config: &Value, name: &str) -> bool {
    let mut sockets = config["socket"].as_object().into_iter().flatten();
    if sockets.any(|(_, table)| table.get("ssd").is_some()) {
        return false;
    }
    let mut drives: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for job in jobs(config, name) {
        let mut does = job.clone();
        if let Some(keys) = does.as_object_mut() {
            keys.retain(|key, _| key != "ssd" && key != "core");
        }
        drives.entry(job["ssd"].to_string()).or_default().push(does.to_string());
    }
    drives.values_mut().for_each(|jobs| jobs.sort());
    drives.values().collect::<BTreeSet<_>>().len() == 1
}

fn jobs<'a>(config: &'a Value, name: &str) -> &'a [Value] {
    config["workload"][name]["jobs"].as_array().map_or(&[], Vec::as_slice)
}
