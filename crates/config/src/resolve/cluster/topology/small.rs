//! Networks of one switch or two: star, dumbbell, direct.

use super::super::dimms::Dimms;
use super::super::host_names::HostNames;
use super::super::named_cables::NamedCable;
use super::super::table;
use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::{BottleneckSpec, CableSpec, Names, NetworkSpec, SwitchSpec};
use std::collections::BTreeMap;

/// Names of the switch of a star, and of those of a dumbbell.
const STAR: &str = "tor";
const DUMBBELL: [&str; 2] = ["left", "right"];

fn of_topology(ends: [&str; 2], path: String) -> NamedCable {
    NamedCable::new(path, ends.map(str::to_string), CableSpec::default())
}

pub(super) fn star(
    switches: &mut BTreeMap<String, SwitchSpec>,
    hosts: &HostNames,
    dimms: &Dimms,
) -> Result<Vec<NamedCable>, Issue> {
    if switches.is_empty() {
        switches.insert(STAR.to_string(), SwitchSpec::default());
    }
    let mut names = switches.keys();
    let (Some(switch), None) = (names.next(), names.next()) else {
        let message =
            "several switches need cables, such as [cable.a] with ends = [\"sender\", \"tor\"]; a star has one switch";
        return Err(Issue::between(Code::BadCabling, &["switch", "network.topology"], message));
    };
    if switch != STAR {
        let message = format!("the switch of a star is \"{STAR}\"; one of another name needs cables with ends");
        return Err(Issue::between(Code::BadCabling, &[&table("switch", switch), "network.topology"], message));
    }
    let cable = |at: usize| of_topology([hosts.name(at), switch], hosts.table_path(at));
    Ok((0..hosts.count()).filter(|&at| dimms.slot(at).is_none()).map(cable).collect())
}

pub(super) fn direct(switches: &BTreeMap<String, SwitchSpec>, hosts: &HostNames) -> Result<Vec<NamedCable>, Issue> {
    if let Some(name) = switches.keys().next() {
        let message = "has no cable: topology = \"direct\" has no switch";
        return Err(Issue::between(Code::BadCabling, &[&table("switch", name), "network.topology"], message));
    }
    if hosts.count() != 2 {
        let message = format!("\"direct\" joins two hosts; there are {}", hosts.count());
        return Err(Issue::new(Code::WrongCount, "network.topology", message));
    }
    Ok(vec![of_topology([hosts.name(0), hosts.name(1)], hosts.table_path(0))])
}

pub(super) fn dumbbell(
    network: &mut NetworkSpec,
    switches: &mut BTreeMap<String, SwitchSpec>,
    hosts: &HostNames,
) -> Result<Vec<NamedCable>, Issue> {
    if let Some(name) = switches.keys().find(|name| !DUMBBELL.contains(&name.as_str())) {
        let message = "has no cable: the switches of a dumbbell are \"left\" and \"right\"";
        return Err(Issue::between(Code::BadCabling, &[&table("switch", name), "network.topology"], message));
    }
    let mut sides: Vec<Option<&str>> = vec![None; hosts.count()];
    for (side, names) in DUMBBELL.into_iter().zip([&network.left, &network.right]) {
        let path = format!("network.{side}");
        let Some(Names(names)) = names else {
            let message = "missing; a dumbbell has hosts at its left and at its right";
            return Err(Issue::new(Code::MissingKey, path, message));
        };
        switches.entry(side.to_string()).or_default();
        for at in names.iter().map(|name| hosts.find(name, &path)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
        {
            if let Some(other) = sides[at].replace(side) {
                let message = format!("{} stands twice: at the {other} and at the {side}", shorten(hosts.name(at)));
                return Err(Issue::between(Code::Duplicate, &[&path, &format!("network.{other}")], message));
            }
        }
    }
    let mut cables = Vec::new();
    for (at, side) in sides.into_iter().enumerate() {
        let path = hosts.table_path(at);
        let Some(side) = side else {
            let name = shorten(hosts.name(at));
            let message = format!("{name} stands neither at the left nor at the right of the dumbbell");
            return Err(Issue::between(Code::BadCabling, &[&path, "network.left", "network.right"], message));
        };
        cables.push(of_topology([hosts.name(at), side], path));
    }
    let bottleneck = network.bottleneck.get_or_insert_with(BottleneckSpec::default);
    bottleneck.rate.get_or_insert(network.rate);
    bottleneck.latency.get_or_insert(network.latency);
    let mut between = of_topology(DUMBBELL, "network.bottleneck".to_string());
    between.spec = CableSpec {
        ends: None,
        rate: bottleneck.rate,
        latency: bottleneck.latency,
        down: bottleneck.down.clone(),
        corrupt: bottleneck.corrupt,
    };
    cables.push(between);
    Ok(cables)
}
