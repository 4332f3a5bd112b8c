//! Layers of settings: preset, file and overrides on top of each other.

use crate::code::Code;
use crate::document::{join, parse_toml_value};
use crate::error::{ConfigError, Issue};
use serde_json::{json, Map, Value};

/// Keys that settle what other keys of a lower layer said: (key, what it replaces). `*` stands for any name.
const REPLACES: &[(&str, &[&str])] = &[
    ("run.duration", &["run.precision", "run.duration_max", "run.until"]),
    ("run.precision", &["run.duration", "run.until"]),
    ("power.governor.kind", &GOVERNOR_KEYS),
    ("nic.attach", &["nic.onchip", "nic.cxl", "nic.dimm"]),
    ("run.until", &["run.duration", "run.precision", "run.warmup"]),
    ("workload.*.job", &["workload.*.jobs"]),
    ("workload.*.jobs", &["workload.*.job"]),
];

/// What another governor has no use for.
const GOVERNOR_KEYS: [&str; 8] = [
    "power.governor.variant",
    "power.governor.period",
    "power.governor.cost",
    "power.governor.up_threshold",
    "power.governor.down_threshold",
    "power.governor.step",
    "power.governor.frequency",
    "power.governor.name",
];

/// Puts `upper` over `lower`. Tables are merged, everything else is replaced.
pub(crate) fn overlay(lower: &mut Value, upper: &Value) {
    settle(lower, upper);
    for (name, upper) in at(upper, &["host"]).and_then(Value::as_object).into_iter().flatten() {
        if let Some(lower) = lower.get_mut("host").and_then(|hosts| hosts.get_mut(name)) {
            settle(lower, upper);
        }
    }
    merge(lower, upper);
}

/// Removes from a server's `lower` layer what its `upper` one replaces without naming it.
fn settle(lower: &mut Value, upper: &Value) {
    for (_, path) in replaced(lower, upper) {
        remove(lower, &keys(&path));
    }
}

/// Says which values of a `lower` layer its `upper` one replaces by other keys, of a server and of every host.
pub(crate) fn replacements(lower: &Value, upper: &Value) -> Vec<String> {
    let said = |lower: &Value, upper: &Value| {
        let value = |tree: &Value, path: &[String]| at(tree, &keys(path)).cloned();
        let pairs = replaced(lower, upper).into_iter().filter(|(_, path)| value(upper, path).is_none());
        let pairs = pairs.filter_map(|(key, path)| {
            let (new, old) = (value(upper, &key)?, value(lower, &path)?);
            Some(format!("{} = {new} replaces {} = {old}", key.join("."), path.join(".")))
        });
        pairs.collect::<Vec<_>>()
    };
    let mut all = said(lower, upper);
    for (name, upper) in at(upper, &["host"]).and_then(Value::as_object).into_iter().flatten() {
        let lower = at(lower, &["host", name]).map(|lower| said(lower, upper));
        all.extend(lower.into_iter().flatten().map(|text| format!("host.{name}: {text}")));
    }
    all
}

/// The keys of a server's `upper` layer that replace others, each with one that it replaces in `lower`.
fn replaced(lower: &Value, upper: &Value) -> Vec<(Vec<String>, Vec<String>)> {
    let mut pairs = Vec::new();
    for (key, others) in REPLACES {
        for name in names_at_star(key, upper) {
            let path = fill(key, &name);
            let given = at(upper, &keys(&path));
            // What is said again replaces nothing.
            if given.is_some() && given != at(lower, &keys(&path)) {
                pairs.extend(others.iter().map(|other| (path.clone(), fill(other, &name))));
            }
        }
    }
    pairs
}

/// Replaces what stands for several keys of one layer by these keys: `ssd.bandwidth` by both directions, and the name
/// of a governor by its table, of a server or of every host.
pub(crate) fn expand(layer: &mut Value) -> Result<(), Issue> {
    for (name, host) in layer.get_mut("host").and_then(Value::as_object_mut).into_iter().flatten() {
        expand_server(host).map_err(|issue| issue.within(&join("host", name)))?;
    }
    expand_server(layer)
}

/// The same of a governor that is given by its name alone.
fn expand_governor(layer: &mut Value) {
    if let Some(governor) = layer.get_mut("power").and_then(|power| power.get_mut("governor")) {
        if governor.is_string() {
            *governor = json!({ "kind": governor.take() });
        }
    }
}

fn expand_server(layer: &mut Value) -> Result<(), Issue> {
    expand_governor(layer);
    const DIRECTIONS: [&str; 2] = ["read_bandwidth", "write_bandwidth"];
    let Some(ssd) = layer.get_mut("ssd").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    let Some(bandwidth) = ssd.remove("bandwidth") else {
        return Ok(());
    };
    if DIRECTIONS.iter().all(|direction| ssd.contains_key(*direction)) {
        let message = "has no effect beside read_bandwidth and write_bandwidth; leave one of the three out";
        return Err(Issue::new(Code::ConflictingKeys, "ssd.bandwidth", message));
    }
    for direction in DIRECTIONS {
        ssd.entry(direction).or_insert_with(|| bandwidth.clone());
    }
    Ok(())
}

fn merge(lower: &mut Value, upper: &Value) {
    match (lower, upper) {
        (Value::Object(lower), Value::Object(upper)) => {
            for (key, value) in upper {
                match lower.get_mut(key) {
                    Some(present) => merge(present, value),
                    None => {
                        lower.insert(key.clone(), value.clone());
                    }
                }
            }
        }
        (lower, upper) => *lower = upper.clone(),
    }
}

/// The names that `*` in `key` can stand for.
fn names_at_star(key: &str, tree: &Value) -> Vec<String> {
    match key.split_once(".*") {
        None => vec![String::new()],
        Some((table, _)) => {
            at(tree, &[table]).and_then(Value::as_object).map(|map| map.keys().cloned().collect()).unwrap_or_default()
        }
    }
}

fn fill(key: &str, name: &str) -> Vec<String> {
    key.split('.').map(|part| if part == "*" { name } else { part }.to_owned()).collect()
}

fn keys(path: &[String]) -> Vec<&str> {
    path.iter().map(String::as_str).collect()
}

/// The value at a path of keys.
pub(crate) fn at<'a>(tree: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(tree, |value, key| value.as_object()?.get(*key))
}

fn remove(tree: &mut Value, path: &[&str]) {
    if let Some((last, parents)) = path.split_last() {
        let parent = parents.iter().try_fold(tree, |value, key| value.as_object_mut()?.get_mut(*key));
        if let Some(map) = parent.and_then(Value::as_object_mut) {
            map.remove(*last);
        }
    }
}

/// The dotted paths of everything that is set in `tree`.
pub(crate) fn leaves(tree: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect_leaves(tree, "", &mut found);
    found
}

fn collect_leaves(value: &Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| collect_leaves(value, &join(path, key), found)),
        _ => found.push(path.to_string()),
    }
}

/// One `a.b=VALUE`.
#[derive(Debug)]
pub(crate) struct Override {
    /// What the user wrote.
    text: String,
    /// The dotted path.
    pub(crate) path: String,
    /// The value under its tables.
    pub(crate) tree: Value,
}

impl Override {
    /// Reads `a.b=VALUE`. A VALUE that is not a TOML value is taken as a string, and so is the number of a way, a drive
    /// or, for flows and chips, a core.
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        const KEYS_MAX: usize = 12;
        let fail = |code: Code, message: &str| ConfigError {
            code,
            file: show_override(text),
            line: None,
            path: String::new(),
            message: message.to_string(),
        };
        let (path, value) =
            text.split_once('=').ok_or_else(|| fail(Code::Syntax, "\"=\" is missing; write memory.channels=4"))?;
        let keys: Vec<&str> = path.trim().split('.').map(str::trim).collect();
        if keys.len() > KEYS_MAX || keys.iter().any(|key| key.is_empty()) {
            return Err(fail(Code::Syntax, "not a dotted path before \"=\"; write memory.channels=4"));
        }
        if let Some((list, _)) = path.split_once('[') {
            return Err(fail(Code::MalformedValue, &format!("a list is set as a whole: {list}=[...]")));
        }
        let value = value.trim();
        let text_of = || Value::String(value.to_string());
        let value = match parse_toml_value(value) {
            Some(Value::Number(_)) if is_list_of_numbers(&keys) => text_of(),
            value => value.unwrap_or_else(text_of),
        };
        let tree =
            keys.iter().rev().fold(value, |value, key| Value::Object(Map::from_iter([(key.to_string(), value)])));
        let path = keys.iter().fold(String::new(), |path, key| join(&path, key));
        Ok(Override { text: text.to_string(), path, tree })
    }

    /// How messages name it.
    pub(crate) fn shown(&self) -> String {
        show_override(&self.text)
    }
}

/// Whether a key holds a list or a mask, so that a number on the command line, where quotes get lost, is one.
fn is_list_of_numbers(keys: &[&str]) -> bool {
    let keys = if let ["host", _, keys @ ..] = keys { keys } else { keys };
    let names_cores = ["cores", "from_cores", "to_cores", "sockets"];
    matches!(keys, ["ddio", "ways" | "off"] | ["workload", _, "llc_ways" | "sockets"] | ["workload", "cores"])
        || matches!(keys, ["flow", _, key] | ["stack", key] if names_cores.contains(key))
}

fn show_override(text: &str) -> String {
    const LENGTH_MAX: usize = 100;
    if text.len() <= LENGTH_MAX && !text.contains(char::is_control) {
        return format!("--set {text}");
    }
    format!("--set {}", crate::units::shorten(text))
}
