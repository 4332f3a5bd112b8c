//! From layers of text to a plan.

mod app;
mod cache;
mod controller;
mod dram;
mod io;
mod memory;
mod memory_run;
mod run;
mod server;
mod source;
mod workload;

pub use memory_run::memory_plan;

use crate::check::missing;
use crate::error::{ConfigError, Issue};
use crate::layers::{expand, overlay};
use crate::plan::{Input, Plan, RunPlan};
use crate::presets::{self, PartFile};
use crate::schema;
use crate::spec::{Spec, WorkloadSpec};
use hostnet_model::params::ServerParams;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use source::{preset_of, Source};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Checks a configuration and resolves it to a plan. The error is the first thing that is wrong.
pub fn resolve(input: &Input) -> Result<Plan, ConfigError> {
    let source = Source::read(input, schema::complete())?;
    build(&source, input).map_err(|issue| source.locate(issue))
}

fn plan_error(error: serde_json::Error) -> Issue {
    Issue::new("", error.to_string())
}

fn build(source: &Source, input: &Input) -> Result<Plan, Issue> {
    source.check_preset()?;
    let (tree, files) = complete_tree(source, input.base_dir)?;
    plan_of(tree, source, input).map_err(|issue| source.claim(issue, &files))
}

fn plan_of(tree: Value, source: &Source, input: &Input) -> Result<Plan, Issue> {
    let preset = preset_of(&source.merged);
    if let Some(path) = missing(schema::complete(), &tree, "") {
        return Err(absent(path, preset));
    }
    let spec: Spec = serde_json::from_value(tree).map_err(plan_error)?;
    let context = Context { base_dir: input.base_dir, given: &source.given };
    let workloads = workload::resolve(&spec, &context)?;
    let run = run::resolve(&spec, workloads.ramp_ps)?;
    let cache = cache::resolve(&spec, &workloads.effective)?;
    let server = server::resolve(&spec, &context, cache, workloads.resolved, run.seed)?;
    server::check_footprint(&server)?;
    let name = run::name(&spec, input.file)?;
    let mut ignored = workloads.ignored;
    ignored.extend(run::ignored(&spec, workloads.ramp_ps));
    Ok(Plan {
        effective: effective(&spec, &workloads.effective, &server, &run, &name)?,
        name,
        hash: hash(&(&server, &run))?,
        server,
        run,
        ignored,
        unvalidated: spec.server.unvalidated.clone(),
        given: source.given.clone(),
    })
}

/// What the rules need to know beside the specification.
struct Context<'a> {
    base_dir: &'a Path,
    given: &'a [String],
}

impl Context<'_> {
    fn is_given(&self, path: &str) -> bool {
        self.given.iter().any(|given| given == path)
    }
}

/// The preset, the device, the profile and what the user wrote, as one, and the files of the user's that were read.
fn complete_tree(source: &Source, base_dir: &Path) -> Result<(Value, Vec<PartFile>), Issue> {
    let mut tree = match preset_of(&source.merged) {
        Some(name) => presets::preset(name)?,
        None => Value::Object(Default::default()),
    };
    expand(&mut tree)?;
    overlay(&mut tree, &source.merged);
    presets::fill_apps(&mut tree)?;
    let files = presets::fill_memory(&mut tree, schema::complete(), base_dir)?;
    Ok((tree, files))
}

fn absent(path: String, preset: Option<&str>) -> Issue {
    if path == "workload" {
        return Issue::new(path, "missing; at least one workload is wanted, such as [workload.stream]");
    }
    if preset.is_some() || path.starts_with("workload.") {
        return Issue::new(path, "missing");
    }
    let names: Vec<String> = presets::presets().into_iter().map(|preset| preset.name).collect();
    let rule = format!("missing, and {path} is not given; name a preset ({}) or give every value", names.join(", "));
    Issue::new("server.preset", rule)
}

/// The complete configuration in the user's terms.
fn effective(
    spec: &Spec,
    workloads: &BTreeMap<String, WorkloadSpec>,
    server: &ServerParams,
    run: &RunPlan,
    name: &str,
) -> Result<Value, Issue> {
    let spec = Spec {
        workload: workloads.clone(),
        run: run::effective(run, name),
        memory: memory::effective(&spec.memory, &server.memory),
        ..spec.clone()
    };
    serde_json::to_value(&spec).map_err(plan_error)
}

/// Hexadecimal SHA-256 of the canonical JSON of a value.
fn hash(value: &impl Serialize) -> Result<String, Issue> {
    let tree = serde_json::to_value(value).map_err(plan_error)?;
    let mut text = String::new();
    canonical(&tree, &mut text);
    Ok(Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    }))
}

/// JSON without spaces and with the keys of every object in order.
fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                let _ = write!(text, "{}{}:", if at > 0 { "," } else { "" }, Value::String(key.clone()));
                canonical(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                canonical(item, text);
            }
            text.push(']');
        }
        scalar => {
            let _ = write!(text, "{scalar}");
        }
    }
}
