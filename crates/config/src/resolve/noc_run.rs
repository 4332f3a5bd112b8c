//! The configuration of the network on a chip alone.

use super::change::stack;
use super::source::Source;
use super::{hash, plan_error};
use crate::check::missing;
use crate::code::Code;
use crate::error::{suggestion, ConfigError, Issue};
use crate::noc_plan::{NocPlan, Packets};
use crate::plan::Input;
use crate::schema;
use crate::units::shorten;
use hostnet_noc::{
    channel_load, deadlock, topology, Allocation, Class, Measure, NocError, Order, Params, Pattern, Reuse, Router,
    Shape, Traffic,
};
use hostnet_params::{AllocationSpec, CyclesSpec, NocRunSpec, NocSpec, NocTopologySpec, PacketsSpec, ReuseSpec};
use serde_json::{json, Value};

/// Checks a configuration of the network alone and resolves it to a plan.
///
/// # Errors
///
/// Returns the first error, with its place.
pub fn noc_plan(input: &Input) -> Result<NocPlan, ConfigError> {
    let source = Source::read(input, schema::complete_noc(), |_, _| Value::Null)?;
    build(&source, input).map_err(|issue| source.locate(issue))
}

fn build(source: &Source, input: &Input) -> Result<NocPlan, Issue> {
    let mut tree = json!({});
    stack(&mut tree, &source.merged, |_, _| Value::Null);
    if let Some(missing) = missing(schema::complete_noc(), &tree, "") {
        return Err(missing.issue());
    }
    let mut spec: NocRunSpec = serde_json::from_value(tree).map_err(plan_error)?;
    let params = network(&mut spec.noc)?;
    // A trace has no seed of its own, but routing may still draw: it takes the default.
    let seed = spec.traffic.as_ref().map_or(PacketsSpec::default().seed, |traffic| traffic.seed);
    let packets = match (&spec.trace, &spec.traffic) {
        (Some(_), Some(_)) => {
            let message = "trace and traffic exclude each other; give one of them";
            return Err(Issue::between(Code::ConflictingKeys, &["trace", "traffic"], message));
        }
        (Some(trace), None) => Packets::Trace { path: input.base_dir.join(&trace.path) },
        (None, traffic) => {
            let traffic = traffic.clone().unwrap_or_default();
            let described = described(&traffic)?;
            spec.traffic = Some(traffic);
            Packets::Traffic(described)
        }
    };
    check(&params, &packets)?;
    let measure = measure(&mut spec.run, matches!(packets, Packets::Trace { .. }));
    let (flit_bytes, clock_hz) = (spec.noc.flit.0, spec.noc.clock.0);
    let Measure { warmup, measure: measured, drain } = measure;
    Ok(NocPlan {
        hash: hash(&(&params, flit_bytes, clock_hz, &packets, seed, (warmup, measured, drain)))?,
        params,
        flit_bytes,
        clock_hz,
        packets,
        seed,
        measure,
        effective: serde_json::to_value(&spec).map_err(plan_error)?,
        given: source.given.clone(),
    })
}

/// Resolves the parameters of a network, and fills in values that depend on the topology.
fn network(spec: &mut NocSpec) -> Result<Params, Issue> {
    let (shape, order) = match spec.topology {
        NocTopologySpec::Mesh => {
            refuse(spec.nodes.is_some(), "nodes", "is of a ring; a mesh has columns and rows")?;
            let (columns, rows) = (*spec.columns.get_or_insert(8), *spec.rows.get_or_insert(8));
            let order = order(spec.routing.get_or_insert_with(|| "xy".to_string()))?;
            (Shape::Mesh { columns, rows }, order)
        }
        NocTopologySpec::Ring => {
            for (given, key) in [(spec.columns.is_some(), "columns"), (spec.rows.is_some(), "rows")] {
                refuse(given, key, "is of a mesh; a ring has nodes")?;
            }
            let message = "is of a mesh; on a ring packets take the shorter way";
            refuse(spec.routing.is_some(), "routing", message)?;
            (Shape::Ring { nodes: *spec.nodes.get_or_insert(16) }, Order::Xy)
        }
    };
    let classes = (0..spec.classes).map(|class| Class { name: class.to_string(), order, vcs: spec.vcs }).collect();
    Ok(Params { shape, router: router(spec), classes })
}

fn refuse(given: bool, key: &str, message: &str) -> Result<(), Issue> {
    match given {
        true => Err(Issue::new(Code::NoEffect, format!("noc.{key}"), message)),
        false => Ok(()),
    }
}

fn router(spec: &NocSpec) -> Router {
    let rules = &spec.router;
    Router {
        vc_flits: spec.vc_flits,
        allocation: match rules.allocation {
            AllocationSpec::Speculative => Allocation::Speculative,
            AllocationSpec::Staged => Allocation::Staged,
            AllocationSpec::AtSwitch => Allocation::AtSwitch,
        },
        reuse: match rules.reuse {
            ReuseSpec::TailSent => Reuse::TailSent,
            ReuseSpec::Drained => Reuse::Drained,
        },
        switch_cycles: rules.switch_cycles,
        link_cycles: rules.link_cycles,
        credit_cycles: rules.credit_cycles,
    }
}

fn order(name: &str) -> Result<Order, Issue> {
    match name {
        "xy" => Ok(Order::Xy),
        "yx" => Ok(Order::Yx),
        "o1turn" => Ok(Order::O1Turn),
        "cdr" | "cdr-directory" => {
            let message = format!(
                "{} goes by what a packet is to caches and memory, which a network alone does not know; \
                 \"xy\", \"yx\" and \"o1turn\" are allowed",
                shorten(name)
            );
            Err(Issue::new(Code::NotSupported, "noc.routing", message))
        }
        _ => {
            let near = suggestion(name, ["xy", "yx", "o1turn"]);
            let message = format!("{} is not a known routing; {near}", shorten(name));
            Err(Issue::new(Code::UnknownName, "noc.routing", message))
        }
    }
}

fn described(spec: &PacketsSpec) -> Result<Traffic, Issue> {
    let pattern = pattern(spec)?;
    if spec.hotspots.is_some() && spec.pattern != "hotspot" {
        let message = format!("are of the pattern \"hotspot\", not of {}", shorten(&spec.pattern));
        return Err(Issue::between(Code::NoEffect, &["traffic.hotspots", "traffic.pattern"], message));
    }
    Ok(Traffic { pattern, rate: spec.rate, packet_flits: spec.packet_flits, seed: spec.seed })
}

fn pattern(spec: &PacketsSpec) -> Result<Pattern, Issue> {
    const KNOWN: [&str; 8] =
        ["uniform", "transpose", "bit-complement", "bit-reverse", "shuffle", "tornado", "neighbor", "hotspot"];
    Ok(match spec.pattern.as_str() {
        "uniform" => Pattern::Uniform,
        "transpose" => Pattern::Transpose,
        "bit-complement" => Pattern::BitComplement,
        "bit-reverse" => Pattern::BitReverse,
        "shuffle" => Pattern::Shuffle,
        "tornado" => Pattern::Tornado,
        "neighbor" => Pattern::Neighbor,
        "hotspot" => match spec.hotspots.as_deref().unwrap_or_default() {
            [] => {
                let message = "the pattern \"hotspot\" needs traffic.hotspots, the nodes that all send to: [27, 36]";
                return Err(Issue::between(Code::RequiresKey, &["traffic.hotspots", "traffic.pattern"], message));
            }
            nodes => Pattern::Hotspot(nodes.to_vec()),
        },
        name => {
            let near = suggestion(name, KNOWN);
            let message = format!("{} is not a known pattern; {near}", shorten(name));
            return Err(Issue::new(Code::UnknownName, "traffic.pattern", message));
        }
    })
}

fn measure(spec: &mut CyclesSpec, trace: bool) -> Measure {
    // A trace is measured from its first packet on.
    let warmup = *spec.warmup.get_or_insert(if trace { 0 } else { 6_000 });
    if !trace {
        spec.measure.get_or_insert(20_000);
    }
    Measure { warmup, measure: spec.measure.unwrap_or(u64::MAX), drain: spec.drain }
}

/// Checks that the routes are free of deadlocks, and that the traffic pattern fits the network.
fn check(params: &Params, packets: &Packets) -> Result<(), Issue> {
    let (layout, routes) = topology::build(params).map_err(named)?;
    // Routing is free of deadlock if channels do not depend on each other in a cycle (Dally and Seitz, 1987).
    if let Some(circle) = deadlock::cycle(&layout, &routes) {
        let circle = deadlock::describe(&layout, &circle);
        let message = format!("packets may wait for each other in a circle: {circle}");
        return Err(Issue::between(Code::Deadlock, &["noc.routing", "noc.vcs"], message));
    }
    if let Packets::Traffic(traffic) = packets {
        // Called for its check that the pattern fits the network.
        channel_load(&layout, &routes, &traffic.pattern, 0).map_err(named)?;
    }
    Ok(())
}

/// Converts an error of the network model into an issue that names the user's keys.
fn named(NocError { field, message }: NocError) -> Issue {
    let keys: &[&str] = match field {
        "pattern" => &["traffic.pattern", "noc.columns", "noc.rows", "noc.nodes"],
        "hotspots" => &["traffic.hotspots", "traffic.pattern"],
        "vcs" => &["noc.vcs", "noc.classes", "noc.routing", "noc.topology"],
        "columns" => &["noc.columns", "noc.rows"],
        "rows" => &["noc.rows"],
        "nodes" => &["noc.nodes"],
        _ => &["noc.routing"],
    };
    let code = match field {
        "pattern" => Code::MustAgree,
        "hotspots" => Code::DoesNotExist,
        _ => Code::OutOfRange,
    };
    Issue::between(code, keys, message)
}
