//! Controls of a page: values of a server that it moves, and the text of the configuration with one of them changed.

use crate::edit::{edited, Edit};
use crate::problem::Problem;
use hostnet_config::{Code, Plan};
use serde::Serialize;
use serde_json::{json, Value};
use std::collections::BTreeSet;

/// Drives that a page offers at most, unless the server has more.
const DRIVES_MAX: u64 = 8;
/// Memory channels that a page offers at most, unless the server has more.
const CHANNELS_MAX: u64 = 12;
/// Steps between no loads and loads only.
const READS_STEP: f64 = 0.05;
/// Kinds of workloads whose cores a page moves.
const CORE_KINDS: [&str; 2] = ["stream", "app"];

/// A value that a page moves.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Control {
    /// Name, for [`set`].
    name: &'static str,
    /// Label with the name of the workload if it concerns one.
    label: String,
    /// Key that it changes.
    key: String,
    /// Value now: a number, or one of the options.
    value: Value,
    /// Smallest and largest number, and the step between two; none for a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<[f64; 3]>,
    /// Values to choose from, each with its label; empty for a number.
    options: Vec<(String, String)>,
}

/// Returns the controls of a server without a network; none for other plans.
pub(crate) fn list(plan: &Plan) -> Vec<Control> {
    if plan.server().is_none() {
        return Vec::new();
    }
    let config = &plan.effective;
    [preset(config), cores(config), reads(config), drives(config), channels(config), caches(config)]
        .into_iter()
        .flatten()
        .collect()
}

/// Returns the text of a configuration in TOML with the value of a control changed. Comments and order are kept.
///
/// # Errors
/// Returns an error if the plan has no such control, or the value is none of its values.
pub(crate) fn set(text: &str, plan: &Plan, name: &str, value: &Value) -> Result<String, Problem> {
    let control = list(plan).into_iter().find(|control| control.name == name);
    let control = control.ok_or_else(|| Problem::new(Code::UnknownName, format!("control \"{name}\"")))?;
    let valid = match control.range {
        Some([least, most, _]) => value.as_f64().is_some_and(|number| (least..=most).contains(&number)),
        None => control.options.iter().any(|(option, _)| value == option),
    };
    if !valid {
        return Err(Problem::new(Code::OutOfRange, format!("control \"{name}\": {value}")));
    }
    edited(text, edits(&plan.effective, &control, value))
}

fn edits(config: &Value, control: &Control, value: &Value) -> Vec<Edit> {
    let count = value.as_f64().unwrap_or(0.0).round() as u64;
    match control.name {
        "cores" => vec![Edit::set(&control.key, json!(ranges(free_cores(config).into_iter().take(count as usize))))],
        "drives" => drive_edits(config, control, count),
        "channels" => vec![Edit::set(&control.key, json!(count))],
        "caches" => vec![
            Edit::set("cache.enabled", json!(value != "off")),
            Edit::set("ddio.enabled", json!(value != "no-ddio")),
        ],
        _ => vec![Edit::set(&control.key, value.clone())],
    }
}

fn preset(config: &Value) -> Option<Control> {
    let value = config["server"]["preset"].as_str()?;
    let options = hostnet_config::presets().into_iter().map(|preset| (preset.name.to_owned(), preset.name.to_owned()));
    let options: Vec<_> = options.collect();
    // A server of the user's own file is none of these.
    options.iter().any(|(name, _)| name == value).then(|| Control {
        options,
        range: None,
        ..Control::number("preset", "Server".to_owned(), "server.preset", json!(value), [0.0; 3])
    })
}

fn cores(config: &Value) -> Option<Control> {
    let (name, workload) = workload_of(config, &CORE_KINDS)?;
    let used = numbers(&workload["cores"]).len();
    let most = free_cores(config).len();
    let key = format!("workload.{name}.cores");
    (most > 1).then(|| Control::number("cores", format!("Cores of {name}"), &key, json!(used), [1.0, most as f64, 1.0]))
}

fn reads(config: &Value) -> Option<Control> {
    let (name, workload) = workload_of(config, &["stream"])?;
    let (label, key) = (format!("Read share of {name}"), format!("workload.{name}.reads"));
    Some(Control::number("reads", label, &key, json!(workload["reads"].as_f64()?), [0.0, 1.0, READS_STEP]))
}

fn drives(config: &Value) -> Option<Control> {
    let (name, workload) = workload_of(config, &["fio"])?;
    let most = config["ssd"]["count"].as_u64().unwrap_or(1).max(DRIVES_MAX);
    let (label, key) = (format!("Drives of {name}"), format!("workload.{name}.jobs"));
    let used = drives_of(workload).len();
    Some(Control::number("drives", label, &key, json!(used), [1.0, most as f64, 1.0]))
}

fn channels(config: &Value) -> Option<Control> {
    let now = config["memory"]["channels"].as_u64()?;
    let range = [1.0, now.max(CHANNELS_MAX) as f64, 1.0];
    Some(Control::number("channels", "Memory channels".to_owned(), "memory.channels", json!(now), range))
}

fn caches(config: &Value) -> Option<Control> {
    let (caches, ddio) = (config["cache"]["enabled"].as_bool()?, config["ddio"]["enabled"].as_bool()?);
    let now = match (caches, ddio) {
        (false, _) => "off",
        (true, true) => "ddio",
        (true, false) => "no-ddio",
    };
    let options = [("off", "no caches"), ("ddio", "caches and DDIO"), ("no-ddio", "caches, DDIO off")];
    let options = options.map(|(name, label)| (name.to_owned(), label.to_owned())).to_vec();
    let control = Control::number("caches", "Caches".to_owned(), "cache.enabled", json!(now), [0.0; 3]);
    Some(Control { options, range: None, ..control })
}

/// Returns the edits after which a workload uses `count` drives. Each drive has the jobs of the first one.
fn drive_edits(config: &Value, control: &Control, count: u64) -> Vec<Edit> {
    let Some((name, workload)) = workload_of(config, &["fio"]) else { return Vec::new() };
    let first = drives_of(workload).first().copied().unwrap_or(0);
    let jobs = workload["jobs"].as_array().into_iter().flatten();
    let of_first = jobs.filter(|job| numbers(&job["ssd"]).contains(&first)).filter_map(Value::as_object);
    let on_all = of_first.map(|job| {
        let mut job = job.clone();
        job.remove("core");
        job.insert("ssd".to_owned(), json!(ranges(0..count)));
        Value::Object(job)
    });
    let mut edits =
        vec![Edit::Remove(format!("workload.{name}.job")), Edit::set(&control.key, on_all.collect::<Value>())];
    if config["ssd"]["count"].as_u64().is_some_and(|there| there < count) {
        edits.push(Edit::set("ssd.count", json!(count)));
    }
    edits
}

impl Control {
    fn number(name: &'static str, label: String, key: &str, value: Value, range: [f64; 3]) -> Self {
        Self { name, label, key: key.to_owned(), value, range: Some(range), options: Vec::new() }
    }
}

/// Returns the first workload of one of these kinds, with its name.
fn workload_of<'a>(config: &'a Value, kinds: &[&str]) -> Option<(&'a str, &'a Value)> {
    let mut workloads = config["workload"].as_object()?.iter();
    let found = workloads.find(|(_, workload)| workload["kind"].as_str().is_some_and(|kind| kinds.contains(&kind)))?;
    Some((found.0.as_str(), found.1))
}

/// Returns the drives that a workload uses.
fn drives_of(workload: &Value) -> BTreeSet<u64> {
    workload["jobs"].as_array().into_iter().flatten().flat_map(|job| numbers(&job["ssd"])).collect()
}

/// Returns the cores that no workload uses but the one whose cores a page moves.
fn free_cores(config: &Value) -> Vec<u64> {
    let moved = workload_of(config, &CORE_KINDS).map(|(name, _)| name);
    let others = config["workload"].as_object().into_iter().flatten().filter(|(name, _)| Some(name.as_str()) != moved);
    let used: BTreeSet<u64> = others.flat_map(|(_, workload)| numbers(&workload["cores"])).collect();
    (0..config["core"]["count"].as_u64().unwrap_or(0)).filter(|core| !used.contains(core)).collect()
}

/// Reads a list such as "0-3", "0,2,4-5", a number, or a list of numbers.
fn numbers(value: &Value) -> BTreeSet<u64> {
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        Some(first.trim().parse().ok()?..=last.trim().parse().ok()?)
    };
    match value {
        Value::String(text) => text.split(',').filter_map(range).flatten().collect(),
        Value::Array(all) => all.iter().filter_map(Value::as_u64).collect(),
        _ => value.as_u64().into_iter().collect(),
    }
}

/// Writes numbers in ascending order as a list such as "0-3,6".
fn ranges(numbers: impl IntoIterator<Item = u64>) -> String {
    let mut found: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => found.push((number, number)),
        }
    }
    let written = found.iter().map(|(first, last)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    });
    written.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples;
    use crate::request::{Planned, Request};
    use std::collections::BTreeMap;

    fn plan(text: &str) -> Option<Box<Plan>> {
        examples::mount_files();
        let request = Request::read(&json!({ "text": text }).to_string()).expect("it is a request");
        match request.resolve() {
            Ok(Planned::Hosts(plan)) => Some(plan),
            _ => None,
        }
    }

    fn values(control: &Control) -> Vec<Value> {
        match control.range {
            Some([least, most, step]) => [least, least + step, most].map(|number| json!(number)).to_vec(),
            None => control.options.iter().map(|(name, _)| json!(name)).collect(),
        }
    }

    fn by_name(plan: &Plan) -> BTreeMap<&'static str, Value> {
        list(plan).into_iter().map(|control| (control.name, control.value)).collect()
    }

    #[test]
    fn a_control_that_is_set_has_that_value_and_moves_no_other() {
        let mut moved = 0;
        for name in ["quadrant3.toml", "quadrant1.toml", "stream.toml", "redis.toml", "ddio.toml"] {
            let text = examples::text(name).expect("it is an example");
            let before = plan(text).expect("it is valid");
            for control in list(&before).iter().filter(|control| control.name != "preset") {
                for value in values(control) {
                    let changed = set(text, &before, control.name, &value).expect("it is valid");
                    assert!(changed.starts_with(text.lines().next().expect("it has a title")), "{changed}");
                    // Applications and cores that read what drives wrote need caches.
                    let Some(after) = plan(&changed) else {
                        assert_eq!(value, json!("off"), "{name}: {changed}");
                        continue;
                    };
                    let (mut expected, found) = (by_name(&before), by_name(&after));
                    expected.insert(control.name, value.clone());
                    let equal = |(name, value): (&&str, &Value)| found[*name].as_f64() == value.as_f64();
                    assert!(expected.iter().all(equal), "{name}: {control:?} {value}: {found:?}");
                    moved += 1;
                }
            }
        }
        assert!(moved > 50, "{moved}");
    }

    #[test]
    fn values_and_controls_that_are_not_there_are_refused() {
        let text = examples::text("quadrant3.toml").expect("it is an example");
        let plan = plan(text).expect("it is valid");
        for (name, value) in [("wheels", json!(1)), ("cores", json!(7)), ("reads", json!(1.5)), ("preset", json!("x"))]
        {
            assert!(set(text, &plan, name, &value).is_err(), "{name}");
        }
    }

    #[test]
    fn lists_are_read_as_they_are_written() {
        for text in ["0", "0-5", "0,2,4-5"] {
            assert_eq!(ranges(numbers(&json!(text))), text);
        }
        assert_eq!(ranges(numbers(&json!([3, 1, 2]))), "1-3");
    }
}
