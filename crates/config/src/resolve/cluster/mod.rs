//! The configuration of a cluster.

mod attached;
mod cables;
mod capped;
mod classes;
mod compress;
mod cores;
mod datagrams;
mod dimms;
mod draft;
mod drawn;
mod fabric;
mod files;
mod flows;
mod forward;
mod gradients;
mod host_keys;
mod host_names;
mod hosts;
mod idle_cores;
mod islands;
mod jobs;
mod learning;
mod message_level;
mod moves;
mod named_cables;
mod needs;
mod packets;
mod pairs;
mod places;
mod replay;
mod servers;
mod service;
mod size_file;
mod sizes;
mod sums;
mod switch_keys;
mod switches;
mod topology;
mod transport;
mod ways;

use super::change::below_server;
use super::source::Source;
use super::{hash::hash_cluster, plan_error, pool, run, size};
use crate::check::{missing, Missing};
use crate::code::Code;
use crate::document::{parse_json, parse_toml, Format};
use crate::error::{ConfigError, Issue};
use crate::plan::{Input, Plan};
use crate::schema;
use attached::Attached;
use hostnet_params::{ClusterParams, ClusterSpec, FlowParams, PacketsParams, Traffic};
pub use jobs::{chakra_traces, WrittenTraces};
use serde_json::Value;
use std::sync::Arc;

/// Returns true if a text describes a cluster: it can be parsed and has a table of hosts.
pub fn is_cluster(text: &str, format: Format) -> bool {
    let document = match format {
        Format::Toml => parse_toml(text),
        Format::Json => parse_json(text),
    };
    document.is_ok_and(|document| document.tree.get("host").is_some())
}

/// Checks a configuration of hosts and resolves it to a plan.
pub(super) fn resolve(input: &Input) -> Result<Plan, ConfigError> {
    let source = Source::read(input, schema::complete_cluster(), below_server)?;
    build(&source, input).map_err(|issue| source.locate(issue))
}

fn build(source: &Source, input: &Input) -> Result<Plan, Issue> {
    let mut tree = source.merged.clone();
    transport::fill(&mut tree)?;
    if let Some(missing) = missing(schema::complete_cluster(), &tree, "") {
        return Err(absent(missing));
    }
    let mut spec: ClusterSpec = serde_json::from_value(tree).map_err(plan_error)?;
    let fidelity = message_level::resolve(&spec)?;
    let mut ignored = source.dropped.clone();
    let mut hosts = hosts::resolve(&spec, source, input.base_dir, &mut ignored)?;
    let mut fabric = fabric::resolve(&mut spec, &hosts.names, &hosts.dimms)?;
    pool::check_switches(&hosts.servers.of_pool(&hosts.names), &fabric.switches)?;
    let ramp_ps = hosts.servers.ramp_ps();
    let run = run::resolve(&spec.run, ramp_ps)?;
    run::check_jobs(&run, spec.job.len())?;
    let mut flows = flows::resolve(&mut spec, &mut hosts, &fabric, input.base_dir, &run)?;
    let slow_fabrics = fabric.slow_fabrics();
    let Attached { params: hosts, ignored: of_hosts, unvalidated, effective } =
        attached::attach(&hosts, &spec, &flows, fabric.forwarding_ports, run.seed, input.base_dir)?;
    // The regions of the pool are known only after `attach` has handed out its pages.
    pool::tell_switches(&hosts, &mut fabric.switches)?;
    ignored.extend(of_hosts);
    ignored.extend(run::ignored(&spec.run, ramp_ps));
    let name = run::name(&spec.run, input.file)?;
    let mut cluster = ClusterParams {
        hosts,
        switches: fabric.switches,
        cables: fabric.cables,
        jobs: std::mem::take(&mut flows.jobs),
        flows: seeded(flows.params, run.seed),
        classes: flows.classes,
        seed: run.seed,
        fidelity,
    };
    // Engines are numbered after all hosts (`Engines::new`), so they are added last.
    flows.engines.add(&mut cluster, &spec.network);
    spec.host = effective;
    ignored.extend(capped::notes(&cluster, &source.given));
    ignored.extend(run::short_of_a_round_trip(&run, cluster.round_trip_ps()));
    ignored.extend(slow_fabrics);
    ignored.extend(message_level::note(cluster.fidelity));
    ignored.extend(transport::mistyped(&spec, &source.given));
    ignored.extend(idle_cores::of_jobs(&spec, &cluster.jobs));
    ignored.append(&mut flows.notes);
    ignored.extend(size::check(&spec.run, size::of_cluster(&cluster), &["flow", "job", "host"])?);
    spec.run = run::effective(&run, &name, &spec.run);
    Ok(Plan {
        hash: hash_cluster(&mut cluster, &run)?,
        effective: serde_json::to_value(&spec).map_err(plan_error)?,
        name,
        cluster: Arc::new(cluster),
        run,
        ignored,
        unvalidated: (!unvalidated.is_empty()).then(|| unvalidated.join("; ")),
        given: source.given.clone(),
    })
}

fn absent(missing: Missing) -> Issue {
    match missing.path.as_str() {
        "host" => Issue::new(Code::MissingKey, missing.path, "missing; hosts are wanted, such as [host.receiver]"),
        _ => missing.issue(),
    }
}

/// Returns the path of the table of a named item.
fn table(kind: &str, name: &str) -> String {
    crate::document::join(kind, name)
}

/// Returns the tables under a key of a tree; empty if there are none.
fn tables<'a>(tree: &'a mut Value, key: &str) -> impl Iterator<Item = (&'a String, &'a mut Value)> {
    tree.get_mut(key).and_then(Value::as_object_mut).into_iter().flatten()
}

/// Sets the seeds of flows that draw the kinds of their requests from the seed of the run.
fn seeded(mut flows: Vec<FlowParams>, seed: u64) -> Vec<FlowParams> {
    // There may be a million of them, and runs keep them.
    flows.shrink_to_fit();
    // The number gives each flow its own stream of random numbers.
    for (number, flow) in (0..).zip(&mut flows) {
        match &mut flow.traffic {
            Traffic::Rpc { other: Some(other), .. } => other.seed = seed.rotate_left(32) ^ number,
            Traffic::Packets(packets) => {
                if let PacketsParams::Drawn { seed: own, .. } = &mut **packets {
                    *own = seed.rotate_left(32) ^ number;
                }
            }
            Traffic::Service(service) => {
                service.seed = seed.rotate_left(32) ^ number;
                service.first = service.first.of_host(seed, service.number, flow.from);
            }
            _ => {}
        }
    }
    flows
}
