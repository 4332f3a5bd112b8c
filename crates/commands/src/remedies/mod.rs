//! Remedies: steps that raise each limit of a server, and their predicted effect on every workload.

mod raise;
mod storage;

pub use raise::{raise_path, raise_value, Raised};

use crate::plan::{raised_plans, resolve};
use crate::results::predict;
use hostnet_analysis::limits::{Key, Limit, Scale, LIMITS, RAISE};
use hostnet_config::{ConfigError, Fault, Format, Input, Plan};
use hostnet_report::numbers::format_general;
use raise::raise_key;
use serde::Serialize;
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;
use storage::{with_reduced_load, LOAD_FACTOR};

/// Load that each storage workload offers, in GB/s, by its name.
pub type Loads = BTreeMap<String, f64>;

/// Factors by which every limit is raised.
const FACTORS: [f64; 3] = [RAISE, 2.0, 4.0];
/// Kinds of workloads whose traffic is that of cores.
const CORE_KINDS: [&str; 2] = ["stream", "app"];
/// Prefixes of keys that an absent part or workload leaves unused, beside those that depend on the kinds of workloads.
const DRIVE_KEYS: [&str; 4] = ["ssd.", "fio.", "rate", "iodepth"];
/// Prefixes of keys that servers without devices leave unused.
const DEVICE_KEYS: [&str; 3] = ["iio.", "pcie.", "iommu."];
/// Mark of a prediction that has not converged and is meaningless.
const UNSETTLED: &str = "rates and waits that have not settled";

/// A configuration key that can raise a limit of a server.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LimitKey {
    /// Name of the limit.
    pub limit: &'static str,
    /// The key.
    #[serde(flatten)]
    pub key: Key,
}

/// Returns each configuration key that can raise a limit of a server.
#[must_use]
pub fn limit_keys() -> Vec<LimitKey> {
    let keys = LIMITS.iter().flat_map(|limit| limit.keys.iter().map(|&key| LimitKey { limit: limit.name, key }));
    keys.filter(|way| way.key.scale != Scale::Asked).collect()
}

/// A change of a server and its effect.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Description of the value that is changed.
    pub what: String,
    /// Key that is changed, or a name of the change.
    pub path: String,
    /// Value before, in words; empty if no key makes the change.
    pub before: String,
    /// Value after, in words; empty if no key makes the change.
    pub after: String,
    /// Factor by which a limit was raised; 1 for changes that are no multiple.
    pub factor: f64,
    /// Name of the limit in answers; `None` if the step raises none.
    pub limit: Option<&'static str>,
    /// Factor that the raise by a quarter by which limits are judged amounts to in whole numbers and packets; `None`
    /// for other steps.
    pub reach: Option<f64>,
    /// Relative change of the throughput of each workload.
    pub gains: BTreeMap<String, f64>,
    /// Load that each storage workload offers after the change, in GB/s.
    pub offered: Loads,
}

impl Step {
    fn of(what: &str, path: &str, before: String, after: String) -> Self {
        Self {
            what: what.to_owned(),
            path: path.to_owned(),
            before,
            after,
            factor: 1.0,
            limit: None,
            reach: None,
            gains: BTreeMap::new(),
            offered: Loads::new(),
        }
    }

    /// Returns the gain of a workload, 0 if it has none.
    fn gain(&self, workload: &str) -> f64 {
        self.gains.get(workload).copied().unwrap_or(0.0)
    }
}

/// Predicts the effect of every step that the configuration of a plan allows. The steps of the limit whose first step
/// `workload` gains most from come first.
///
/// `offered` is the load that each storage workload offers, and `base_dir` the folder that paths in the configuration
/// are relative to.
///
/// # Errors
/// Returns the part of the plan that predictions do not cover.
pub fn find_remedies(plan: &Plan, workload: &str, offered: &Loads, base_dir: &Path) -> Result<Vec<Step>, Fault> {
    let config = &plan.effective;
    let present = predicted(plan)?;
    let valid = candidates(config, offered, base_dir).into_iter().filter_map(|(step, changed)| {
        let plan = resolve_complete(&changed, base_dir).ok()?;
        Some((step, plan))
    });
    let found = valid.chain(inner_raises(plan, config));
    let steps = found.map(|(step, plan)| Ok(with_gains(step, &present, predicted(&plan)?)));
    let mut steps = steps.collect::<Result<Vec<Step>, Fault>>()?;
    sort_by_gain(&mut steps, workload);
    Ok(steps)
}

/// Predicted throughput and offered load of each workload, in GB/s; no throughput if the prediction has not converged.
struct Predicted {
    rates: BTreeMap<String, f64>,
    offered: Loads,
}

fn predicted(plan: &Plan) -> Result<Predicted, Fault> {
    let summary = predict(plan)?.report.summary;
    let loads = summary["offered_gb_per_s"].as_object().into_iter().flatten();
    let offered = loads.filter_map(|(name, load)| Some((name.clone(), load.as_f64()?))).collect();
    let mut reasons = summary["uncertainty"]["outside"].as_array().into_iter().flatten();
    if reasons.any(|reason| reason == UNSETTLED) {
        return Ok(Predicted { rates: BTreeMap::new(), offered });
    }
    let rate = |row: &Value| Some((row["workload"].as_str()?.to_owned(), row["app_gb_per_s"].as_f64().unwrap_or(0.0)));
    let rates = summary["workloads"].as_array().into_iter().flatten().filter_map(rate).collect();
    Ok(Predicted { rates, offered })
}

/// Adds the gains of a step, from the predictions without and with it.
fn with_gains(step: Step, now: &Predicted, then: Predicted) -> Step {
    let moving = now.rates.iter().filter(|(_, &rate)| rate > 0.0);
    let gains = moving.filter_map(|(name, rate)| Some((name.clone(), then.rates.get(name)? / rate - 1.0))).collect();
    Step { gains, offered: then.offered, ..step }
}

/// Sorts steps by the gain of the first step of their limit, in descending order.
fn sort_by_gain(steps: &mut [Step], workload: &str) {
    let mut first: BTreeMap<String, f64> = BTreeMap::new();
    for step in steps.iter() {
        first.entry(step.path.clone()).or_insert_with(|| step.gain(workload));
    }
    steps.sort_by(|a, b| {
        let by_gain = first[&b.path].total_cmp(&first[&a.path]);
        by_gain.then_with(|| a.path.cmp(&b.path)).then(a.factor.total_cmp(&b.factor))
    });
}

/// Returns all steps in every limit that the workloads of a complete configuration use, each with the changed
/// configuration, valid or not. `offered` is the load that each storage workload offers.
#[must_use]
pub fn candidates(config: &Value, offered: &Loads, base_dir: &Path) -> Vec<(Step, Value)> {
    let unused = unused_prefixes(config);
    let keys = LIMITS.iter().flat_map(|limit| limit.keys.iter().map(move |key| (limit, key)));
    let used = keys.filter(|(_, key)| !unused.iter().any(|prefix| key.path.starts_with(prefix)));
    let mut found: Vec<_> = used.flat_map(|(limit, key)| steps_of(config, limit, key, base_dir)).collect();
    found.extend(without_iommu(config).filter(|_| !unused.contains(&"iommu.")));
    if let Some(changed) = with_reduced_load(config, offered, base_dir) {
        let before: f64 = offered.values().sum();
        let [before, after] = [before, before * LOAD_FACTOR].map(|load| format_general(load, 3));
        found.push((Step::of("slower storage in GB/s", "rate of storage", before, after), changed));
    }
    found
}

/// Returns raises by a quarter that no single key of a configuration achieves, as predictions make them: faster buses
/// and links with nothing else changed, and higher demand of workloads. `now` is the plan of the configuration.
#[must_use]
pub fn inner_raises(now: &Plan, config: &Value) -> Vec<(Step, Plan)> {
    let unused = unused_prefixes(config);
    let keys = || LIMITS.iter().flat_map(|limit| limit.keys.iter().map(|key| (limit.name, key)));
    let by_number = |path: &str| keys().any(|(_, key)| key.path == path && is_number(key.scale));
    let is_wanted = |path: &str| !by_number(path) && !unused.iter().any(|prefix| path.starts_with(prefix));
    let raises = raised_plans(now, RAISE).into_iter().filter(|raise| is_wanted(raise.key));
    let step = |raise: crate::RaisedPlan| {
        let asked = |key: &Key| key.path == raise.key && key.scale != Scale::Asked;
        let path = keys().find(|(_, key)| asked(key)).map_or(raise.key, |(name, _)| name);
        let step = Step::of(&raise.words, path, String::new(), String::new());
        (Step { factor: RAISE, limit: Some(raise.limit), reach: Some(raise.factor), ..step }, raise.plan)
    };
    raises.map(step).collect()
}

/// Returns true for scales by which a single key raises its limit by a quarter, in whole numbers where it is a count.
fn is_number(scale: Scale) -> bool {
    matches!(scale, Scale::Count | Scale::Rate | Scale::Less)
}

/// Returns the prefixes of keys that nothing in a configuration uses.
fn unused_prefixes(config: &Value) -> Vec<&'static str> {
    let workloads = config["workload"].as_object().into_iter().flatten();
    let kinds: Vec<&str> = workloads.filter_map(|(_, workload)| workload["kind"].as_str()).collect();
    let mut unused = Vec::new();
    if !kinds.contains(&"fio") {
        unused.extend(DRIVE_KEYS);
    }
    if !kinds.contains(&"fio") && !kinds.contains(&"dma") {
        unused.extend(DEVICE_KEYS);
    }
    if !kinds.iter().any(|kind| CORE_KINDS.contains(kind)) {
        unused.push("core.");
    }
    if config["server"]["sockets"].as_u64().unwrap_or(1) <= 1 {
        unused.push("upi.");
    }
    if !kinds.contains(&"remote") {
        unused.push("remote.");
    }
    // The credits of prefetchers are those of the L2 with caches, and those of streams without.
    unused.push(if config["cache"]["enabled"] == json!(true) { "prefetch.stream_credits" } else { "prefetch.credits" });
    if !kinds.contains(&"app") {
        unused.push("core.frequency");
    }
    unused
}

/// Returns the steps in one limit. The next faster device changes everything that depends on the device.
fn steps_of(config: &Value, limit: &Limit, key: &Key, base_dir: &Path) -> Vec<(Step, Value)> {
    if key.scale == Scale::Grade {
        let step = |(before, after, changed): (String, String, Value)| {
            (Step { limit: Some(limit.name), ..Step::of(key.what, key.path, before, after) }, changed)
        };
        return faster_device(config, base_dir).map(step).into_iter().collect();
    }
    let step = |factor: f64| {
        let raised = raise_key(config, key, factor)?;
        // More channels also add queues and banks, and lanes are whole numbers, so inner raises judge these limits.
        let judges = factor == RAISE && is_number(key.scale);
        let reach = judges.then(|| raise::effective_factor(key, &raised));
        let step = Step::of(key.what, key.path, in_words(&raised.before), in_words(&raised.after));
        Some((Step { factor, limit: Some(limit.name), reach, ..step }, raised.config))
    };
    FACTORS.into_iter().filter_map(step).collect()
}

/// Returns the step to addresses of devices that are not translated, if they are.
fn without_iommu(config: &Value) -> Option<(Step, Value)> {
    let mode = config["iommu"]["mode"].as_str().filter(|mode| *mode != "off")?;
    let mut changed = config.clone();
    changed["iommu"]["mode"] = json!("off");
    let step = Step::of("mode of the IOMMU", "iommu.mode", mode.to_owned(), "off".to_owned());
    Some((Step { limit: Some("IOMMU walk"), ..step }, changed))
}

/// Returns a value of a configuration as a text without quotes.
#[must_use]
pub fn in_words(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the next faster DRAM of the same standard: both names, and the changed configuration.
fn faster_device(config: &Value, base_dir: &Path) -> Option<(String, String, Value)> {
    let before = config["memory"]["device"].as_str()?;
    let (standard, speed) = speed_of(before)?;
    let devices = hostnet_config::devices();
    let known = devices.iter().filter_map(|name| Some((speed_of(name)?, name)));
    let faster = known.filter(|((other, rate), _)| *other == standard && *rate > speed);
    let after = faster.min_by_key(|((_, rate), name)| (*rate, *name))?.1;
    let overrides = [format!("memory.device={after}")];
    let text = config.to_string();
    let input = Input { overrides: &overrides, ..input_of(&text, base_dir) };
    let memory = resolve(&input).ok()?.effective["memory"].take();
    let mut changed = config.clone();
    changed["memory"] = memory;
    Some((before.to_owned(), after.clone(), changed))
}

/// Parses standard and data rate from the name of a device, such as `DDR4_2933`.
fn speed_of(device: &str) -> Option<(&str, u64)> {
    let (standard, rate) = device.rsplit_once('_')?;
    Some((standard, rate.parse().ok()?))
}

/// Resolves a complete configuration.
fn resolve_complete(config: &Value, base_dir: &Path) -> Result<Plan, ConfigError> {
    resolve(&input_of(&config.to_string(), base_dir))
}

fn input_of<'a>(text: &'a str, base_dir: &'a Path) -> Input<'a> {
    Input { text, format: Format::Json, file: "<step>", base_dir, overrides: &[] }
}
