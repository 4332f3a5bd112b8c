//! Flows of many hosts: senders and receivers, sizes and start times, drawn at random if requested.

use super::cores::ClusterCores;
use super::draft::{DrawnFlows, FLOWS_MAX};
use super::fabric::Fabric;
use super::host_names::HostNames;
use super::pairs::Sides;
use super::servers::HostServers;
use super::sizes::{Arrivals, FlowSizes};
use crate::code::Code;
use crate::error::Issue;
use crate::plan::{Length, RunPlan, WarmUp};
use crate::units::{format, Dimension};
use hostnet_kernel::{mix, Rng};
use hostnet_params::{FlowSpec, PairsSpec, Size, Time};

/// The context in which flows are resolved.
pub(super) struct Network<'a> {
    pub(super) hosts: &'a HostNames,
    pub(super) servers: &'a HostServers,
    pub(super) cores: &'a ClusterCores,
    pub(super) fabric: &'a Fabric,
    pub(super) run: &'a RunPlan,
    /// Random stream of the table.
    pub(super) stream: u64,
}

/// Returns the random stream of a table of flows. It does not depend on other tables.
pub(super) fn stream_of(name: &str) -> u64 {
    name.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)))
}

/// Returns the flows of a table from hosts of `sides.from` to those of `sides.to`.
pub(super) fn resolve(sides: &Sides, spec: &FlowSpec, network: &Network) -> Result<DrawnFlows, Issue> {
    check_keys(sides.path, spec)?;
    let of_flows = spec.sizes.as_ref().filter(|_| !spec.is_packets());
    let sizes = of_flows.map(|sizes| FlowSizes::resolve(sizes, &format!("{}.sizes", sides.path)));
    let sizes = sizes.transpose()?;
    let mut rng = Rng::new(network.run.seed, network.stream);
    if let Some(load) = spec.load {
        let sizes = sizes.or_else(|| spec.bytes.map(|Size(bytes)| FlowSizes::fixed(bytes)));
        let sizes = sizes.ok_or_else(|| {
            let message = "flows that begin at random have an end; give bytes or sizes";
            Issue::new(Code::RequiresKey, format!("{}.load", sides.path), message)
        })?;
        return open_loop(sides, spec, load, &sizes, network, &mut rng);
    }
    let (pairs, count) = match spec.pairs {
        None => (listed(sides)?, spec.count),
        Some(PairsSpec::Random) => (sides.pairs(PairsSpec::Random, None, spec.count, &mut rng)?, 1),
        Some(pattern) => (sides.pairs(pattern, spec.senders, spec.count, &mut rng)?, spec.count),
    };
    // More flows are refused when all are counted, so no sizes are drawn for them.
    let flows = pairs.len().saturating_mul(count as usize).min(FLOWS_MAX);
    let bytes = sizes.map_or_else(Vec::new, |sizes| (0..flows).map(|_| sizes.draw(&mut rng)).collect());
    Ok(DrawnFlows { pairs, count, starts_ps: Vec::new(), bytes })
}

/// Checks the keys that depend on other keys.
fn check_keys(path: &str, spec: &FlowSpec) -> Result<(), Issue> {
    let needs = |key: &str, other: &str, what: &str| {
        let message = format!("has an effect only {what}");
        Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.{other}")], message))
    };
    if spec.senders.is_some() && spec.pairs != Some(PairsSpec::Incast) {
        return needs("senders", "pairs", "with pairs = \"incast\"");
    }
    if spec.until.is_some() && spec.load.is_none() {
        return needs("until", "load", "with load");
    }
    if spec.load.is_some() && spec.count > 1 {
        return needs("count", "load", "without load, which says how many flows there are");
    }
    if spec.load.is_some() && spec.stagger.0 > 0 {
        return needs("stagger", "load", "without load, which says when flows begin");
    }
    if spec.sizes.is_some() && spec.bytes.is_some() {
        let message = "flows have all the same size, or different ones; give one of them";
        return Err(Issue::between(
            Code::ConflictingKeys,
            &[&format!("{path}.bytes"), &format!("{path}.sizes")],
            message,
        ));
    }
    Ok(())
}

/// Pairs lists of equal length. A single name is paired with each name of the other list.
fn listed(sides: &Sides) -> Result<Vec<(usize, usize)>, Issue> {
    match (sides.from, sides.to) {
        (many, [one]) => Ok(many.iter().map(|&from| (from, *one)).collect()),
        ([one], many) => Ok(many.iter().map(|&to| (*one, to)).collect()),
        (from, to) if from.len() == to.len() => Ok(from.iter().copied().zip(to.iter().copied()).collect()),
        (from, to) => {
            let message = format!(
                "{} hosts to {}: give one on either side, as many on both, or pairs = \"all-to-all\"",
                from.len(),
                to.len()
            );
            let path = sides.path;
            Err(Issue::between(Code::WrongCount, &[&format!("{path}.to"), &format!("{path}.from")], message))
        }
    }
}

/// Returns flows that begin at random times until an end, at the rate given by the load.
fn open_loop(
    sides: &Sides,
    spec: &FlowSpec,
    load: f64,
    sizes: &FlowSizes,
    network: &Network,
    rng: &mut Rng,
) -> Result<DrawnFlows, Issue> {
    let path = sides.path;
    let pairs = match spec.pairs {
        None | Some(PairsSpec::Random | PairsSpec::AllToAll) => {
            sides.check()?;
            None
        }
        Some(pattern) => Some(sides.pairs(pattern, spec.senders, 1, rng)?),
    };
    let until_ps = until(path, spec, network.run)?;
    // The slower side limits what the network can carry, and `load` is a share of that.
    let bytes_per_s = load * network.fabric.rate(sides.from).min(network.fabric.rate(sides.to));
    let mean_ps = sizes.mean() / bytes_per_s * 1e12;
    let expected = until_ps.saturating_sub(spec.start.0) as f64 / mean_ps;
    // By expectation, as the flows themselves may be too many to hold.
    if expected > FLOWS_MAX as f64 {
        let message = format!("about {expected:.0} flows would begin; at most {FLOWS_MAX} are allowed");
        return Err(Issue::between(
            Code::TooMany,
            &[&format!("{path}.load"), &format!("{path}.until"), "run.duration"],
            message,
        ));
    }
    let mut arrivals = Arrivals::new(spec.start.0, mean_ps);
    let mut drawn = DrawnFlows { pairs: Vec::new(), count: 1, starts_ps: Vec::new(), bytes: Vec::new() };
    loop {
        let at_ps = arrivals.next(rng);
        if at_ps >= until_ps {
            break;
        }
        drawn.pairs.push(match &pairs {
            Some(pairs) => pairs[rng.below(pairs.len() as u64) as usize],
            None => sides.draw(rng),
        });
        drawn.bytes.push(sizes.draw(rng));
        drawn.starts_ps.push(at_ps);
    }
    if drawn.pairs.is_empty() {
        let message = format!("no flow begins before {}: {expected:.3} on average", format(until_ps, Dimension::Time));
        return Err(Issue::between(
            Code::NothingToDo,
            &[&format!("{path}.load"), &format!("{path}.until"), "run.duration"],
            message,
        ));
    }
    Ok(drawn)
}

/// Returns the time after which no more flows begin: that of the table, or the end of the run.
fn until(path: &str, spec: &FlowSpec, run: &RunPlan) -> Result<u64, Issue> {
    match (spec.until, run.warm_up, run.length) {
        (Some(Time(ps)), ..) => Ok(ps),
        (None, WarmUp::Fixed { ps: warm_up }, Length::Duration { ps }) => Ok(warm_up.saturating_add(ps)),
        _ => {
            let message = "needs an end; give until, when no more flows begin, or run.warmup and run.duration";
            Err(Issue::new(Code::RequiresKey, format!("{path}.load"), message))
        }
    }
}
