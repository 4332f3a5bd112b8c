//! Decides which values that were set over a DRAM device or a controller profile survive when another device or
//! profile takes its place.

use super::memory::written_out;
use crate::layers::{at, leaves, overlay};
use crate::presets::{is_path, part, preset, Part, PARTS};
use serde_json::{Map, Value};

/// Keys of `memory.dram` that depend on the board and on the controller, not on the device. Their values stay when
/// the device changes.
const OF_THE_BOARD: [&str; 3] = ["ranks", "timing.rank_switch", "timing.read_to_write"];

/// Largest number of dropped values that one message lists.
const NAMED_MAX: usize = 4;

/// Function that returns the layer below `lower`, given `lower` and `upper`.
pub(super) type Below = fn(&Value, &Value) -> Value;

/// Merges `upper` into `lower`, for a server or for hosts. Returns a message for each device or profile named by
/// `upper` that drops values of `lower`.
pub(super) fn stack(lower: &mut Value, upper: &Value, below: Below) -> Vec<String> {
    let mut dropped = change(lower, upper, below);
    for (name, upper) in at(upper, &["host"]).and_then(Value::as_object).into_iter().flatten() {
        if let Some(lower) = lower.get_mut("host").and_then(|hosts| hosts.get_mut(name)) {
            dropped.extend(change(lower, upper, below).into_iter().map(|text| format!("host.{name}: {text}")));
        }
    }
    overlay(lower, upper);
    dropped
}

/// Returns the layer below the layers of a server: the values of its preset. Null if no preset is known.
pub(super) fn below_server(lower: &Value, upper: &Value) -> Value {
    let name = |tree| at(tree, &["server", "preset"]).or_else(|| at(tree, &["preset"])).and_then(Value::as_str);
    let name = name(upper).or_else(|| name(lower));
    name.and_then(|name| preset(name).ok()).unwrap_or_default()
}

fn change(lower: &mut Value, upper: &Value, below: Below) -> Vec<String> {
    let below = below(lower, upper);
    let named = |tree: &Value, key: &str| at(tree, &["memory", key]).and_then(Value::as_str).map(str::to_string);
    // Both names are read before any table changes, as the values of a profile depend on the device.
    let before = PARTS.each_ref().map(|part| named(lower, part.key).or_else(|| named(&below, part.key)));
    let mut dropped = Vec::new();
    for (index, Part { key, table, .. }) in PARTS.iter().enumerate() {
        let Some(after) = named(upper, key).filter(|after| before[index].as_ref() != Some(after)) else {
            continue;
        };
        let Some(values) = lower.pointer_mut(&format!("/memory/{table}")).filter(|values| values.is_object()) else {
            continue;
        };
        let own = own_values(index, &before);
        let mut lost = Vec::new();
        let mut kept = Value::Object(Map::new());
        for path in leaves(values) {
            let keys: Vec<&str> = path.split('.').collect();
            let value = at(values, &keys).cloned().unwrap_or_default();
            // A value that equals the default of the old part is not the user's choice, so it is dropped silently.
            if value.is_null() || own.iter().any(|own| at(own, &keys) == Some(&value)) {
                continue;
            }
            if !own.is_empty() && *key == "device" && OF_THE_BOARD.contains(&path.as_str()) {
                put(&mut kept, &keys, value);
            } else if at(upper, &[&["memory", *table], &keys[..]].concat()).is_none() {
                lost.push(format!("memory.{table}.{path} = {value}"));
            }
        }
        *values = kept;
        dropped.extend(sentence(key, &after, before[index].as_deref(), &lost));
    }
    dropped
}

/// Returns the default values of a part (device or profile): as its embedded file gives them, and as a complete
/// configuration writes them out. Empty for a file of the user.
fn own_values(index: usize, before: &[Option<String>; 2]) -> Vec<Value> {
    let file = |index: usize| {
        let name = before[index].as_deref().filter(|name| !is_path(name))?;
        part(&PARTS[index], name).ok()
    };
    let written = written_out(file(0), file(1));
    file(index).into_iter().chain(written.into_iter().nth(index).flatten()).collect()
}

fn put(tree: &mut Value, keys: &[&str], value: Value) {
    match keys {
        [] => *tree = value,
        [first, rest @ ..] => {
            if !tree.is_object() {
                *tree = Value::Object(Map::new());
            }
            put(&mut tree[*first], rest, value);
        }
    }
}

fn sentence(key: &str, after: &str, before: Option<&str>, lost: &[String]) -> Option<String> {
    if lost.is_empty() {
        return None;
    }
    let more = match lost.len().saturating_sub(NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = lost.iter().take(NAMED_MAX).cloned().collect::<Vec<_>>().join(", ");
    let before = before.map_or_else(|| format!("another {key}"), crate::units::shorten);
    let after = crate::units::shorten(after);
    Some(format!("memory.{key} = {after} drops what was set over {before}: {named}{more}"))
}
