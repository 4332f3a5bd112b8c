//! Merges layers of settings: a preset, a file and overrides, each on top of the previous one.

use crate::code::Code;
use crate::document::{join, parse_toml_value};
use crate::error::{ConfigError, Issue};
use serde_json::{json, Map, Value};

/// Keys that invalidate other keys of a lower layer, as (key, keys that the key replaces). `*` stands for any name.
const REPLACES: &[(&str, &[&str])] = &[
    ("run.duration", &["run.precision", "run.duration_max", "run.until"]),
    ("run.precision", &["run.duration", "run.until"]),
    ("power.governor.kind", &GOVERNOR_KEYS),
    ("nic.attach", &["nic.onchip", "nic.cxl", "nic.dimm"]),
    ("run.until", &["run.duration", "run.precision", "run.warmup"]),
    ("workload.*.job", &["workload.*.jobs"]),
    ("workload.*.jobs", &["workload.*.job"]),
];

/// Keys of a governor that are dropped when an upper layer chooses another kind of governor.
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

/// Merges `upper` into `lower`. Tables are merged key by key; any other value of `upper` replaces that of `lower`.
pub(crate) fn overlay(lower: &mut Value, upper: &Value) {
    settle(lower, upper);
    // A key of a host replaces other keys of this host only.
    for (name, upper) in at(upper, &["host"]).and_then(Value::as_object).into_iter().flatten() {
        if let Some(lower) = lower.get_mut("host").and_then(|hosts| hosts.get_mut(name)) {
            settle(lower, upper);
        }
    }
    merge(lower, upper);
}

/// Removes from the `lower` layer of a server the values that other keys of `upper` replace.
fn settle(lower: &mut Value, upper: &Value) {
    // Dropped before the merge, after which nothing tells the values of the two layers apart.
    for (_, path) in replaced(lower, upper) {
        remove(lower, &keys(&path));
    }
}

/// Describes the values of `lower` that `upper` replaces by other keys, for a server and for every host.
pub(crate) fn replacements(lower: &Value, upper: &Value) -> Vec<String> {
    let said = |lower: &Value, upper: &Value| {
        let value = |tree: &Value, path: &[String]| at(tree, &keys(path)).cloned();
        // A key that `upper` gives as well is no replacement, but a conflict that the rules report.
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

/// Returns the keys of a server's `upper` layer that replace other keys, each paired with one key that it may replace
/// in `lower`.
fn replaced(lower: &Value, upper: &Value) -> Vec<(Vec<String>, Vec<String>)> {
    let mut pairs = Vec::new();
    for (key, others) in REPLACES {
        for name in names_at_star(key, upper) {
            let path = fill(key, &name);
            let given = at(upper, &keys(&path));
            // A value that is equal in both layers replaces nothing.
            if given.is_some() && given != at(lower, &keys(&path)) {
                pairs.extend(others.iter().map(|other| (path.clone(), fill(other, &name))));
            }
        }
    }
    pairs
}

/// Expands shorthands into the keys that they stand for, in a server and in every host: `ssd.bandwidth` into one key
/// per direction, and the name of a governor into its table.
pub(crate) fn expand(layer: &mut Value) -> Result<(), Issue> {
    for (name, host) in layer.get_mut("host").and_then(Value::as_object_mut).into_iter().flatten() {
        expand_server(host).map_err(|issue| issue.within(&join("host", name)))?;
    }
    expand_server(layer)
}

/// Expands a governor that is given by its name alone into a table.
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
    // A direction that is given explicitly takes precedence over `bandwidth`.
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

/// Returns the names that `*` in `key` can stand for; one empty name if `key` has no `*`.
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

/// Returns the value at a path of keys.
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

/// Returns the dotted path of every value in `tree` that is not a table.
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

/// Override of one setting: `a.b=VALUE`.
#[derive(Debug)]
pub(crate) struct Override {
    /// Override as the user wrote it.
    text: String,
    /// Dotted path of the key.
    pub(crate) path: String,
    /// Value, nested in the tables of its path.
    pub(crate) tree: Value,
}

impl Override {
    /// Parses `a.b=VALUE`. A VALUE that is not a TOML value is a string. A bare number is a string, too, if the key
    /// takes a list of numbers or a mask of ways.
    pub(crate) fn parse(text: &str) -> Result<Self, ConfigError> {
        const KEYS_MAX: usize = 12;
        let fail = |code: Code, message: &str| ConfigError {
            code,
            file: show_override(text),
            line: None,
            column: None,
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
        // `1` would be a number in TOML, but a list of cores or ways is a string.
        let value = match parse_toml_value(value) {
            Some(Value::Number(_)) if is_list_of_numbers(&keys) => text_of(),
            value => value.unwrap_or_else(text_of),
        };
        let tree =
            keys.iter().rev().fold(value, |value, key| Value::Object(Map::from_iter([(key.to_string(), value)])));
        let path = keys.iter().fold(String::new(), |path, key| join(&path, key));
        Ok(Override { text: text.to_string(), path, tree })
    }

    /// Returns the override as messages show it.
    pub(crate) fn shown(&self) -> String {
        show_override(&self.text)
    }
}

/// Returns true if a key takes a list of numbers or a mask of ways as a string. A shell removes the quotes of such a
/// value, so a single number on the command line must be read as a string.
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
