//! Loads the embedded servers, DRAM devices, controller profiles, applications and counters, and the files of the
//! user that take their place.

use crate::check::check;
use crate::code::Code;
use crate::document::{parse_toml, read_text, Document, TextPlace};
use crate::error::{suggestion, Issue};
use crate::layers::{at, overlay};
use crate::units::shorten;
use hostnet_params::{AppName, SizePoint, SizesFile};
use serde_json::{json, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// Default energy profile.
const ENERGY_PROFILE: &str = "server";
/// Default profile of core frequencies and C-states.
const POWER_PROFILE: &str = "i7-3770";

include!(concat!(env!("OUT_DIR"), "/specs.rs"));

/// Preset of a server, as listed to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetInfo {
    /// Name to give as `server.preset`.
    pub name: String,
    /// Description of the server.
    pub description: String,
    /// Reason why results of this server are not validated against measurements. `None` if they are validated.
    pub unvalidated: Option<String>,
}

/// Returns every server preset.
pub fn presets() -> Vec<PresetInfo> {
    let info = |(name, _): &(&str, &str)| {
        let tree = preset(name).unwrap_or_default();
        let word = |key: &str| tree["server"][key].as_str().map(str::to_string);
        let description = word("description").unwrap_or_default();
        PresetInfo { name: name.to_string(), description, unvalidated: word("unvalidated") }
    };
    SERVERS.iter().map(info).collect()
}

/// Returns the names of the embedded DRAM devices.
pub fn devices() -> Vec<String> {
    DEVICES.iter().map(|(name, _)| name.to_string()).collect()
}

/// Returns the names of the embedded profiles of memory controllers.
pub fn profiles() -> Vec<String> {
    PROFILES.iter().map(|(name, _)| name.to_string()).collect()
}

/// Application that a workload of kind "app" can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppInfo {
    /// Name to give as `app` of a workload.
    pub name: &'static str,
    /// Description of the application.
    pub description: String,
}

/// Returns every application.
pub fn apps() -> Vec<AppInfo> {
    let describe = |name: &str| {
        let profile = embedded(APPS, name, "app", "application").unwrap_or_default();
        profile["app"][DESCRIPTION].as_str().unwrap_or_default().to_string()
    };
    AppName::ALL.into_iter().map(|app| AppInfo { name: app.name(), description: describe(app.name()) }).collect()
}

/// Returns what the profile of an application sets in a workload: the keys of all its tables, merged into one.
fn app_values(name: &str, path: &str) -> Result<Value, Issue> {
    let profile = embedded(APPS, name, path, "application")?;
    let tables = profile.as_object().into_iter().flat_map(|tables| tables.values());
    let keys = tables.filter_map(Value::as_object).flatten().filter(|(key, _)| *key != DESCRIPTION);
    Ok(Value::Object(keys.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

/// Returns the profile of a kind of job, which gives the instructions that cores execute for each step.
pub(crate) fn job_profile(kind: &str) -> Result<Value, Issue> {
    embedded(JOBS, kind, "job", "profile of jobs")
}

/// Key of a profile that holds the description of the application.
pub(crate) const DESCRIPTION: &str = "description";

/// Returns the profile of an application as TOML, or an empty text if the application has none.
pub(crate) fn app_profile(name: &str) -> &'static str {
    APPS.iter().find(|(known, _)| *known == name).map_or("", |(_, text)| text)
}

/// Fills in the profile of the application under every workload of kind "app" in `tree`.
pub(crate) fn fill_apps(tree: &mut Value) -> Result<(), Issue> {
    let workloads = tree.get_mut("workload").and_then(Value::as_object_mut);
    for (name, workload) in workloads.into_iter().flatten() {
        if workload["kind"] != "app" {
            continue;
        }
        // An unknown application is left to the check against the schema.
        if let Some((known, _)) = APPS.iter().find(|(known, _)| workload["app"] == *known) {
            let mut values = app_values(known, &format!("workload.{name}.app"))?;
            // Keys of the user go on top of those of the profile.
            overlay(&mut values, workload);
            *workload = values;
        }
    }
    Ok(())
}

/// Fills in the values of the energy profile under `energy` of `tree`, if that table exists.
pub(crate) fn fill_energy(tree: &mut Value) -> Result<(), Issue> {
    let Some(meter) = tree.get_mut("energy").filter(|meter| meter.is_object()) else { return Ok(()) };
    let name = meter.get("profile").map_or(Some(ENERGY_PROFILE), Value::as_str);
    // A value of another type is left to the check against the schema.
    let Some(name) = name else { return Ok(()) };
    let mut values = embedded(ENERGY, name, "energy.profile", "energy profile")?["energy"].take();
    overlay(&mut values, meter);
    *meter = values;
    Ok(())
}

/// Fills in the values of the power profile under `power` of `tree`, if that table exists.
pub(crate) fn fill_power(tree: &mut Value) -> Result<(), Issue> {
    let Some(power) = tree.get_mut("power").filter(|power| power.is_object()) else { return Ok(()) };
    let name = power.get("profile").map_or(Some(POWER_PROFILE), Value::as_str);
    // A value of another type is left to the check against the schema.
    let Some(name) = name else { return Ok(()) };
    let mut values = embedded(POWER, name, "power.profile", "power profile")?;
    overlay(&mut values, &json!({ "power": power.take() }));
    *power = values["power"].take();
    Ok(())
}

/// Returns the names of the embedded profiles of core frequencies and C-states.
pub fn power_profiles() -> impl Iterator<Item = &'static str> {
    POWER.iter().map(|(name, _)| *name)
}

/// Returns the names of the embedded energy profiles.
pub fn energy_profiles() -> impl Iterator<Item = &'static str> {
    ENERGY.iter().map(|(name, _)| *name)
}

/// Returns the hardware counters of every known microarchitecture, as (name, TOML file).
pub fn counters() -> &'static [(&'static str, &'static str)] {
    COUNTERS
}

/// Returns the settings of an embedded transport.
pub(crate) fn transport(name: &str, path: &str) -> Result<Value, Issue> {
    embedded(TRANSPORTS, name, path, "transport")
}

/// Returns the names of the embedded transports.
pub fn transports() -> impl Iterator<Item = &'static str> {
    TRANSPORTS.iter().map(|(name, _)| *name)
}

/// Returns the points of an embedded distribution of flow sizes.
pub(crate) fn flow_sizes(name: &str) -> Option<Vec<SizePoint>> {
    sizes_of(FLOW_SIZES, name)
}

/// Returns the points of an embedded distribution of packet sizes.
pub(crate) fn packet_sizes(name: &str) -> Option<Vec<SizePoint>> {
    sizes_of(PACKET_SIZES, name)
}

/// Returns the kinds of jobs that have an embedded profile of their work on cores.
pub fn job_profiles() -> impl Iterator<Item = &'static str> {
    JOBS.iter().map(|(name, _)| *name)
}

/// Returns the names of the embedded distributions of packet sizes.
pub fn packet_sizes_names() -> impl Iterator<Item = &'static str> {
    PACKET_SIZES.iter().map(|(name, _)| *name)
}

fn sizes_of(all: &[(&str, &str)], name: &str) -> Option<Vec<SizePoint>> {
    let (_, text) = all.iter().find(|(known, _)| *known == name)?;
    let file: SizesFile = serde_json::from_value(parse_toml(text).ok()?.tree).ok()?;
    Some(file.sizes)
}

/// Returns the names of the embedded distributions of flow sizes.
pub fn flow_sizes_names() -> impl Iterator<Item = &'static str> {
    FLOW_SIZES.iter().map(|(name, _)| *name)
}

/// Returns the settings of a preset. If its file names another preset, the settings of the file go on top of those.
pub(crate) fn preset(name: &str) -> Result<Value, Issue> {
    let mut own = embedded(SERVERS, name, "server.preset", "preset")?;
    // Removed, so that it does not replace the name that the user gives.
    let lower = own["server"].as_object_mut().and_then(|server| server.remove("preset"));
    let Some(lower) = lower.as_ref().and_then(Value::as_str) else { return Ok(own) };
    let mut settings = preset(lower)?;
    overlay(&mut settings, &own);
    Ok(settings)
}

/// Returns the values of an embedded chip.
pub(crate) fn chip(name: &str) -> Result<Value, Issue> {
    embedded(CHIPS, name, "chip.preset", "chip")
}

/// Returns the names of the embedded chips.
pub fn chips() -> impl Iterator<Item = &'static str> {
    CHIPS.iter().map(|(name, _)| *name)
}

/// Returns the map of an embedded die.
pub(crate) fn die(name: &str) -> Option<&'static str> {
    DIES.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// Returns the names of the embedded dies.
pub fn dies() -> impl Iterator<Item = &'static str> {
    DIES.iter().map(|(name, _)| *name)
}

/// Part of the memory configuration that has its values in a file of its own: the DRAM device or the controller
/// profile.
pub(crate) struct Part {
    /// Key under `memory` that names the file. Messages call the part by this key.
    pub(crate) key: &'static str,
    /// Table under `memory` that takes the values of the file.
    pub(crate) table: &'static str,
    embedded: &'static [(&'static str, &'static str)],
}

pub(crate) const PARTS: [Part; 2] = [
    Part { key: "device", table: "dram", embedded: DEVICES },
    Part { key: "profile", table: "controller", embedded: PROFILES },
];

/// Returns the values of an embedded device or profile.
pub(crate) fn part(part: &Part, name: &str) -> Result<Value, Issue> {
    embedded(part.embedded, name, &format!("memory.{}", part.key), part.key)
}

/// Returns true if the name of a device or profile is the path of a file of the user.
pub(crate) fn is_path(name: &str) -> bool {
    name.contains(['/', '\\']) || name.ends_with(".toml")
}

/// File of the user that gave the values of a table.
#[derive(Debug)]
pub(crate) struct PartFile {
    /// Dotted path of the table in the configuration.
    table: String,
    file: String,
    places: BTreeMap<String, TextPlace>,
}

impl PartFile {
    /// Redirects an issue to this file if one of its keys lies in the table of the file; other issues stay unchanged.
    pub(crate) fn claim(&self, issue: Issue) -> Issue {
        let local = issue.paths.iter().filter_map(|path| path.strip_prefix(&self.table)?.strip_prefix('.'));
        let local: Vec<&str> = local.collect();
        // A path with a line is the more exact place, so it is preferred to the first path.
        let found = local.iter().find_map(|path| Some((*path, Some(self.places.get(*path)?.line))));
        let Some((path, line)) = found.or_else(|| Some((*local.first()?, None))) else {
            return issue;
        };
        Issue::in_file(issue.code, &self.file, line, path, issue.message)
    }
}

/// Returns the values of an embedded DRAM device.
pub(crate) fn device(name: &str) -> Result<Value, Issue> {
    part(&PARTS[0], name)
}

/// Fills in the values of the device and of the profile under `memory` of `tree`, below the values that are already
/// there. `schema` is the schema of the whole tree. Returns the files of the user that were read.
pub(crate) fn fill_memory(tree: &mut Value, schema: &Value, base_dir: &Path) -> Result<Vec<PartFile>, Issue> {
    let mut files = Vec::new();
    for known in &PARTS {
        let Part { key, table, .. } = known;
        let Some(name) = at(tree, &["memory", key]).and_then(Value::as_str) else {
            continue;
        };
        let path = format!("memory.{key}");
        let mut values = match is_path(name) {
            false => part(known, name)?,
            true => {
                let document = own(name, &path, &schema["properties"]["memory"]["properties"][table], base_dir)?;
                files.push(PartFile {
                    table: format!("memory.{table}"),
                    file: name.to_string(),
                    places: document.places,
                });
                document.tree
            }
        };
        if let Some(given) = at(tree, &["memory", table]) {
            overlay(&mut values, given);
        }
        tree["memory"][table] = values;
    }
    Ok(files)
}

fn own(file: &str, path: &str, schema: &Value, base_dir: &Path) -> Result<Document, Issue> {
    let text = read_text(base_dir, file, path, "a TOML file")?;
    let document = parse_toml(&text).map_err(|error| {
        let error = error.in_file(file);
        Issue::in_file(error.code, file, error.line, &error.path, error.message)
    })?;
    check(schema, &document.tree, "").map_err(|issue| {
        let line = issue.paths.first().and_then(|path| document.places.get(path)).map(|place| place.line);
        Issue { elsewhere: Some((file.to_string(), line)), ..issue }
    })?;
    Ok(document)
}

fn embedded(files: &[(&str, &str)], name: &str, path: &str, what: &str) -> Result<Value, Issue> {
    let Some((_, text)) = files.iter().find(|(known, _)| *known == name) else {
        let names = files.iter().map(|(name, _)| *name);
        let message = format!("{} is not a known {what}; {}", shorten(name), suggestion(name, names));
        return Err(Issue::new(Code::UnknownName, path, message));
    };
    let broken = |_| Issue::new(Code::Defect, path, format!("the {what} {} is damaged", shorten(name)));
    parse_toml(text).map(|document| document.tree).map_err(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::missing;
    use crate::layers::leaves;
    use crate::schema;
    use hostnet_params::COMMON_KEYS;

    #[test]
    fn every_embedded_file_fits_the_schema() {
        for (name, _) in SERVERS {
            let tree = preset(name).unwrap();
            assert_eq!(check(schema::complete(), &tree, ""), Ok(()), "{name}");
        }
        for Part { key, table, embedded: files } in PARTS {
            let schema = &schema::complete()["properties"]["memory"]["properties"][table];
            for (name, _) in files {
                let tree = embedded(files, name, key, key).unwrap();
                assert_eq!(check(schema, &tree, ""), Ok(()), "{name}");
                assert_eq!(missing(schema, &tree, ""), None, "{name} is complete");
            }
        }
    }

    #[test]
    fn every_profile_of_an_application_has_its_keys_and_no_others() {
        assert_eq!(APPS.len(), AppName::ALL.len());
        for app in AppName::ALL {
            let tree = app_values(app.name(), "app").unwrap();
            let kinds = &schema::complete()["properties"]["workload"]["additionalProperties"]["oneOf"];
            let is_app = |kind: &&Value| kind["properties"]["kind"]["const"] == "app";
            let schema = kinds.as_array().unwrap().iter().find(is_app).unwrap();
            assert_eq!(check(schema, &tree, ""), Ok(()), "{}", app.name());
            let mut wanted = [&COMMON_KEYS, app.keys()].concat();
            wanted.sort_unstable();
            assert_eq!(leaves(&tree), wanted, "{}", app.name());
        }
        assert!(apps().iter().all(|app| !app.description.is_empty()));
    }

    #[test]
    fn every_counter_has_its_source_and_counts_on_a_unit_that_is_known() {
        for (name, text) in COUNTERS {
            let Ok(document) = parse_toml(text) else { panic!("{name} is no TOML") };
            let tree = document.tree;
            let events = tree["event"].as_object().unwrap();
            for (event, about) in events {
                assert!(about["source"].as_str().is_some_and(|source| source.len() >= 4), "{name}: no source: {event}");
                assert!(tree["pmu"][about["pmu"].as_str().unwrap()].is_object(), "{name}: no such unit: {event}");
            }
            let ways = tree["quantity"].as_object().unwrap().values().flat_map(|ways| ways.as_array().unwrap());
            for event in ways.flat_map(|way| way.as_array().unwrap()) {
                let event = event.as_str().unwrap().trim_end_matches(" >=");
                assert!(events.contains_key(event), "{name}: no such event: {event}");
            }
        }
    }

    #[test]
    fn every_number_in_an_embedded_file_has_its_source() {
        for (name, text) in SERVERS
            .iter()
            .chain(DEVICES)
            .chain(PROFILES)
            .chain(APPS)
            .chain(COUNTERS)
            .chain(TRANSPORTS)
            .chain(CHIPS)
            .chain(POWER)
        {
            for line in text.lines().filter(|line| line.contains('=') && !line.trim_start().starts_with('#')) {
                let (setting, source) = line.split_once(" # ").unwrap_or((line, ""));
                let value = setting.split_once('=').map_or("", |(_, value)| value).trim().trim_start_matches('"');
                let has_number = value.starts_with(|first: char| first.is_ascii_digit());
                assert!(!has_number || source.len() >= 4, "{name}: no source: {line}");
            }
        }
    }
}
