//! Resolves layers of text to a plan.

mod app;
mod arithmetic;
mod attach;
mod cache;
mod change;
mod checked;
mod chip;
mod chip_rack;
mod chip_shape;
mod cluster;
mod context;
mod controller;
mod die;
mod dimm;
mod dram;
mod drives;
mod energy;
mod expander;
mod fidelity;
mod functions;
mod hash;
mod interrupts;
mod io;
mod iommu;
mod memory;
mod memory_run;
mod ncap;
mod net_host;
mod nic_link;
mod noc_run;
mod pool;
mod power;
mod pstates;
mod remote;
mod run;
mod scaling;
mod server;
mod size;
mod sockets;
mod source;
mod stream;
mod workload;

pub use chip::{chip_plan, is_chip};
pub use cluster::{chakra_traces, is_cluster, WrittenTraces};
pub use io::link_bytes_per_s;
pub use memory_run::memory_plan;
pub use noc_run::noc_plan;

use crate::check::{missing, Missing};
use crate::code::Code;
use crate::error::{ConfigError, Issue};
use crate::layers::expand;
use crate::plan::{lone, Input, Plan};
use crate::presets::{self, PartFile};
use crate::schema;
use change::{below_server, stack};
use context::Context;
use hash::hash;
use hostnet_params::{ServerParams, Spec, SsdModeSpec, WorkloadSpec};
use serde_json::Value;
use server::OfFlows;
use source::{preset_of, Source};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Checks a configuration of a server or of a cluster and resolves it to a plan.
///
/// # Errors
/// Returns the first error, with its place.
pub fn resolve(input: &Input) -> Result<Plan, ConfigError> {
    if is_cluster(input.text, input.format) {
        return cluster::resolve(input);
    }
    // A chip fails at its first unknown key, and the name of the right command helps more.
    let source = Source::read(input, schema::complete(), below_server).map_err(|error| of_chip(input, error))?;
    build(&source, input).map_err(|issue| source.locate(issue))
}

/// Returns an error that names the right commands if the configuration is that of a chip, otherwise `error`.
fn of_chip(input: &Input, error: ConfigError) -> ConfigError {
    if !is_chip(input.text, input.format) {
        return error;
    }
    let message = "describes a chip, which only hostnet run, hostnet sweep and hostnet.chip take".to_owned();
    ConfigError {
        code: Code::WrongKind,
        file: input.file.to_owned(),
        line: None,
        column: None,
        path: "chip".to_owned(),
        message,
    }
}

fn plan_error(error: serde_json::Error) -> Issue {
    Issue::new(Code::Defect, "", error.to_string())
}

fn build(source: &Source, input: &Input) -> Result<Plan, Issue> {
    source.check_preset()?;
    let Complete { tree, files, dropped } = complete_tree(source, input.base_dir)?;
    let plan = plan_of(tree, source, input).map_err(|issue| source.claim(issue, &files))?;
    let ignored = [&source.dropped[..], &dropped, &plan.ignored].concat();
    Ok(Plan { ignored, ..plan })
}

fn plan_of(tree: Value, source: &Source, input: &Input) -> Result<Plan, Issue> {
    let context = Context { base_dir: input.base_dir, given: &source.given, workloads_min: 1 };
    let preset = preset_of(&source.merged);
    let resolved = server_of(tree, &context, preset)?;
    if resolved.spec.pool.is_some() {
        let message = "a pool of memory is of servers of a cluster ([host.<name>.pool])";
        return Err(Issue::new(Code::MisplacedKey, "pool", message));
    }
    let unvalidated = checked::left(&resolved, preset, input.base_dir)?;
    let kept = scaling::notes(&resolved, preset, input.base_dir)?;
    let fidelity = fidelity::of_lone(&resolved)?;
    let Resolved { spec, workloads, mut server } = resolved;
    server.control = net_host::control_of_expander(&spec, &server.workloads)?;
    let run = run::resolve(&spec.run, workloads.ramp_ps)?;
    run::check_jobs(&run, 0)?;
    server.seed = run.seed;
    let name = run::name(&spec.run, input.file)?;
    let mut ignored = workloads.ignored;
    ignored.extend(run::ignored(&spec.run, workloads.ramp_ps));
    ignored.extend(io::one_at_a_time(&server.socket().pcie).filter(|_| server.socket().ssd.count > 0));
    ignored.extend(io::capped(server.socket()).filter(|_| server.socket().ssd.count > 0));
    ignored.extend(sockets::notes_of_each(&spec, &server, io::narrow_links)?);
    ignored.extend(power::notes(&server, fidelity));
    ignored.extend(fidelity::note(fidelity));
    ignored.extend(kept);
    ignored.extend(size::check(&spec.run, size::of_server(&server), &["cache", "core.count", "workload"])?);
    let written =
        Spec { run: run::effective(&run, &name, &spec.run), ..effective(&spec, &workloads.effective, &server) };
    Ok(Plan {
        effective: serde_json::to_value(&written).map_err(plan_error)?,
        name,
        hash: fidelity::hash(&server, &run, fidelity)?,
        cluster: Arc::new(lone(server, fidelity)),
        run,
        ignored,
        unvalidated,
        given: source.given.clone(),
    })
}

/// A server with its workloads, before its network is attached and its seed is set.
struct Resolved {
    spec: Spec,
    workloads: workload::Workloads,
    server: ServerParams,
}

fn server_of(tree: Value, context: &Context, preset: Option<&str>) -> Result<Resolved, Issue> {
    // serde would name a missing key, but not what it takes.
    if let Some(missing) = missing(schema::complete(), &tree, "") {
        return Err(absent(missing, preset));
    }
    let mut spec: Spec = serde_json::from_value(tree).map_err(plan_error)?;
    // Before any socket is derived, as each takes its own copy of the specification.
    interrupts::complete(&mut spec, context)?;
    die::complete(&mut spec, context);
    let sockets = sockets::each(&spec)?;
    let upi = sockets::ways(&spec, &sockets)?;
    let mut workloads = workload::resolve(&spec, &sockets, context)?;
    let mut params = Vec::new();
    for (number, of_socket) in sockets.iter().enumerate() {
        let within = |issue: Issue| match spec.socket.contains_key(&number.to_string()) {
            true => issue.within(&format!("socket.{number}")),
            false => issue,
        };
        let cache = cache::resolve(of_socket, &workloads.effective).map_err(within)?;
        params.push(server::socket(of_socket, context, cache).map_err(within)?);
    }
    // With cores of sockets that are not simulated there is one socket only (`sockets::ways`).
    params[0].remote = remote::remote(&spec, &workloads.effective)?;
    params[0].dma = io::resolve_dma(&spec, &workloads.resolved);
    sockets::check_clients(&workloads.resolved, &sockets)?;
    let resolved = std::mem::take(&mut workloads.resolved);
    let mut server = ServerParams {
        sockets: params,
        upi,
        octo_drives: spec.ssd.mode == SsdModeSpec::Octo,
        workloads: resolved,
        stack: None,
        control: None,
        energy: spec.energy.as_ref().map(energy::params),
        power: power::params(&spec)?,
        moderation: None,
        ncap: None,
        seed: 0,
    };
    workloads.ignored.extend(iommu::ignored(&spec));
    workloads.ignored.extend(io::without_dma(&spec, &server));
    die::place(&mut server, &mut spec, context)?;
    // Traces share what is left, so that the following check holds all needs.
    server::share_memory(&mut server, OfFlows::default())?;
    server::check_footprint(&server, OfFlows::default())?;
    Ok(Resolved { spec, workloads, server })
}

/// A complete configuration: the preset, the device, the profile and the user's values, merged.
struct Complete {
    tree: Value,
    /// The user's files that were read.
    files: Vec<PartFile>,
    /// Values of the preset that the user overrides without naming them.
    dropped: Vec<String>,
}

fn complete_tree(source: &Source, base_dir: &Path) -> Result<Complete, Issue> {
    complete_server(&source.merged, preset_of(&source.merged), base_dir)
}

/// Merges a preset and the user's values of a server.
fn complete_server(given: &Value, preset: Option<&str>, base_dir: &Path) -> Result<Complete, Issue> {
    let mut all = complete_tables(given, preset, base_dir)?;
    let files = sockets::complete(&mut all.tree, given, preset, base_dir)?;
    all.files.extend(files);
    Ok(all)
}

/// Like [`complete_server`], but leaves the tables of sockets unresolved.
fn complete_tables(given: &Value, preset: Option<&str>, base_dir: &Path) -> Result<Complete, Issue> {
    let mut tree = match preset {
        Some(name) => presets::preset(name)?,
        None => Value::Object(Default::default()),
    };
    // Shorthands of the preset are expanded first, so that a single direction of the user replaces one value of two.
    expand(&mut tree)?;
    let dropped = stack(&mut tree, given, below_server);
    presets::fill_apps(&mut tree)?;
    presets::fill_energy(&mut tree)?;
    presets::fill_power(&mut tree)?;
    let files = presets::fill_memory(&mut tree, schema::complete(), base_dir)?;
    Ok(Complete { tree, files, dropped })
}

fn absent(missing: Missing, preset: Option<&str>) -> Issue {
    let path = &missing.path;
    if path == "workload" {
        return Issue::new(
            Code::MissingKey,
            path,
            "missing; at least one workload is wanted, such as [workload.stream]",
        );
    }
    if path.starts_with("workload.") {
        return missing.issue();
    }
    if let Some(preset) = preset {
        return absent_from(preset, missing);
    }
    let names: Vec<String> = presets::presets().into_iter().map(|preset| preset.name).collect();
    let rule = format!("missing, and {path} is not given; name a preset ({}) or give every value", names.join(", "));
    Issue::new(Code::MissingKey, "server.preset", rule)
}

/// Returns the issue of a missing key of a table. If the preset has no such table, the issue names the presets that
/// do.
fn absent_from(preset: &str, missing: Missing) -> Issue {
    let table = missing.path.split('.').next().unwrap_or_default();
    let has = |name: &str| presets::preset(name).is_ok_and(|tree| tree.get(table).is_some());
    if has(preset) {
        return missing.issue();
    }
    let others: Vec<String> =
        presets::presets().into_iter().map(|preset| preset.name).filter(|name| has(name)).collect();
    let start = if others.is_empty() { String::new() } else { format!(", or the preset {}", others.join(" or ")) };
    let message = format!("missing; the preset {preset} has no [{table}], so that all of its keys are wanted{start}");
    Issue::new(Code::MissingKey, &missing.path, message)
}

/// Returns the server's configuration with every value in the user's terms, without the run.
fn effective(spec: &Spec, workloads: &BTreeMap<String, WorkloadSpec>, server: &ServerParams) -> Spec {
    let memory = memory::effective(&spec.memory, &server.socket().memory);
    let mut written = Spec { workload: workloads.clone(), memory, ..spec.clone() };
    for (name, own) in &mut written.socket {
        let params = name.parse().ok().and_then(|number: usize| server.sockets.get(number));
        own.memory = memory::effective(&own.memory, &params.expect("every table is of a socket").memory);
    }
    written
}
