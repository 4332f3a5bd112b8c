//! `[cable.*]`, and the cables of a topology.

use super::super::arithmetic::share;
use super::dimms::Dimms;
use super::host_names::HostNames;
use super::named_cables::{NamedCable, NamedNetwork, CABLES_MAX, SWITCHES_MAX};
use super::table;
use super::topology;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, Dimension};
use hostnet_params::{CableEnd, CableParams, CableSpec, ClusterSpec, NetworkSpec, Span};
use std::collections::BTreeMap;

/// Separator between the two switch names in the name of the cable that joins them.
const BETWEEN: char = '_';

/// Returns the switches and cables of the document, or those of the topology.
pub(super) fn make(spec: &mut ClusterSpec, hosts: &HostNames, dimms: &Dimms) -> Result<NamedNetwork, Issue> {
    if spec.cable.len() > CABLES_MAX || spec.switch.len() > SWITCHES_MAX {
        let message = format!("at most {CABLES_MAX} cables and {SWITCHES_MAX} switches are allowed");
        return Err(Issue::between(Code::TooMany, &["cable", "switch"], message));
    }
    let Some(first) = spec.cable.iter().find(|(_, cable)| cable.ends.is_some()).map(|(name, _)| name) else {
        let mut made = topology::make(spec, hosts, dimms)?;
        change(&mut made.cables, &spec.cable, hosts)?;
        return Ok(made);
    };
    let network = &spec.network;
    if network.topology.is_some() {
        let message = "a topology and cables with ends exclude each other; give one of them";
        return Err(Issue::between(
            Code::ConflictingKeys,
            &["network.topology", &format!("{}.ends", table("cable", first))],
            message,
        ));
    }
    topology::check_none(spec)?;
    let cables = spec.cable.iter().map(of_document).collect::<Result<_, _>>()?;
    Ok(NamedNetwork::new(spec.switch.keys().map(|name| (name.clone(), None)).collect(), cables))
}

fn of_document((name, spec): (&String, &CableSpec)) -> Result<NamedCable, Issue> {
    let path = table("cable", name);
    match spec.ends.clone() {
        Some(ends) => Ok(NamedCable::new(path, ends, spec.clone())),
        None => {
            let message = "missing; a network is made of cables that all have ends, or of a topology";
            Err(Issue::new(Code::MissingKey, format!("{path}.ends"), message))
        }
    }
}

/// Overrides values of the cables of a topology by the tables with their names: first tables that name a table of
/// hosts, then tables that name a single host.
fn change(made: &mut [NamedCable], cables: &BTreeMap<String, CableSpec>, hosts: &HostNames) -> Result<(), Issue> {
    let mut meant = Vec::new();
    for (name, spec) in cables {
        let path = table("cable", name);
        match (hosts.find(name, &path), name.split_once(BETWEEN)) {
            (Ok(range), _) => meant.push((range, path, spec)),
            (Err(_), Some(ends)) => between(made, ends, spec, &path)?,
            (Err(issue), None) => {
                let message = format!("{}; a cable without ends has the name of its host", issue.message);
                return Err(Issue { message, ..issue });
            }
        }
    }
    // Tables of many hosts go first, so that the cable of a single host overrides theirs.
    meant.sort_by_key(|(range, ..)| std::cmp::Reverse(range.len()));
    let mut of_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, cable) in made.iter().enumerate().filter(|(_, cable)| !cable.scale_up) {
        for end in &cable.ends {
            of_name.entry(end.clone()).or_default().push(at);
        }
    }
    let mut owners: BTreeMap<usize, (usize, &str)> = BTreeMap::new();
    for (range, path, spec) in &meant {
        let own = |host: usize| of_name.get(hosts.name(host)).into_iter().flatten().map(move |&at| (host, at));
        for (host, at) in range.clone().flat_map(own) {
            if let Some((_, other)) = owners.insert(at, (host, path)).filter(|(other, _)| *other != host) {
                let message = format!("is the same cable as {other}; give one of them");
                return Err(Issue::between(Code::Duplicate, &[path, other], message));
            }
            set(&mut made[at], spec, path);
        }
    }
    Ok(())
}

/// Overrides values of the cables between two switches by a table.
fn between(made: &mut [NamedCable], (one, other): (&str, &str), spec: &CableSpec, path: &str) -> Result<(), Issue> {
    let joins = |cable: &&mut NamedCable| cable.ends == [one, other] || cable.ends == [other, one];
    let mut found = false;
    for cable in made.iter_mut().filter(joins) {
        set(cable, spec, path);
        found = true;
    }
    if found {
        return Ok(());
    }
    let message = "is no host, and no cable of the topology joins these two; the cable between two switches is called \
                   as both are, such as leaf-0_spine-1";
    Err(Issue::between(Code::DoesNotExist, &[path, "network.topology"], message))
}

fn set(cable: &mut NamedCable, spec: &CableSpec, path: &str) {
    cable.path = path.to_string();
    cable.spec.rate = spec.rate.or(cable.spec.rate);
    cable.spec.latency = spec.latency.or(cable.spec.latency);
    if !spec.down.is_empty() {
        cable.spec.down.clone_from(&spec.down);
    }
    if spec.corrupt > 0.0 {
        cable.spec.corrupt = spec.corrupt;
    }
}

pub(super) fn resolve(cable: &NamedCable, ends: [CableEnd; 2], network: &NetworkSpec) -> Result<CableParams, Issue> {
    let spec = &cable.spec;
    Ok(CableParams {
        ends,
        bytes_per_s: spec.rate.unwrap_or(network.rate).0,
        framing_bytes: network.framing.0 as u32,
        frame_min_bytes: network.frame_min.0 as u32,
        latency_ps: spec.latency.unwrap_or(network.latency).0,
        length: cable.length,
        down_ps: spans(&spec.down, &format!("{}.down", cable.path))?,
        corrupt: share(spec.corrupt),
    })
}

/// Converts ordered time spans to pairs of ps.
pub(super) fn spans(spans: &[Span], path: &str) -> Result<Vec<(u64, u64)>, Issue> {
    let mut before = 0;
    let mut pairs = Vec::new();
    for (at, [from, to]) in spans.iter().map(|span| span.map(|time| time.0 .0)).enumerate() {
        let shown = |ps: u64| format(ps, Dimension::Time);
        if from >= to {
            let message = format!("{} is not before {}", shown(from), shown(to));
            return Err(Issue::new(Code::WrongOrder, format!("{path}[{at}]"), message));
        }
        if from < before {
            let message = format!("{} is before the end of the span before it, {}", shown(from), shown(before));
            return Err(Issue::new(Code::WrongOrder, format!("{path}[{at}]"), message));
        }
        before = to;
        pairs.push((from, to));
    }
    Ok(pairs)
}
