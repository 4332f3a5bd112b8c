//! `[network]`, `[switch.*]` and `[cable.*]`.

use super::super::workload::share;
use super::hosts::Hosts;
use super::islands::islands;
use super::switches::{complete, resolve_switch, Place};
use super::table;
use crate::error::{suggestion, Issue};
use crate::spec::{
    BottleneckSpec, CableSpec, ClusterSpec, EcnSpec, Names, NetworkSpec, Span, SwitchSpec, TopologySpec,
};
use crate::units::{format, shorten, Dimension};
use hostnet_model::params::{CableParams, End, SwitchParams};
use std::collections::BTreeMap;

const SWITCHES_MAX: usize = 4096;
const CABLES_MAX: usize = 16384;
/// The switch of a star, and those of a dumbbell.
const STAR: &str = "tor";
const DUMBBELL: [&str; 2] = ["left", "right"];

/// What joins the hosts.
pub(super) struct Fabric {
    pub(super) switches: Vec<SwitchParams>,
    pub(super) cables: Vec<CableParams>,
    /// The part of the network that each host is in.
    islands: Vec<usize>,
    thresholds: Vec<Threshold>,
}

/// A marking threshold in packets, and where it and its buffer stand.
struct Threshold {
    switch: usize,
    ecn: String,
    buffer: String,
    packets: u32,
}

/// A cable with where it stands in the document.
struct Named {
    path: String,
    ends: [String; 2],
    spec: CableSpec,
}

pub(super) fn resolve(spec: &mut ClusterSpec, hosts: &Hosts) -> Result<Fabric, Issue> {
    let cables = cables(spec, hosts)?;
    let network = spec.network.clone();
    let names: Vec<String> = spec.switch.keys().cloned().collect();
    let mut thresholds = Vec::new();
    let mut switches = Vec::new();
    for (name, switch) in &mut spec.switch {
        let own = switch.clone();
        complete(switch, &network.switch);
        let at = Place { name, own: &own };
        switches.push(resolve_switch(&at, switch)?);
        if let Some(EcnSpec::Packets(count)) = switch.ecn {
            let switch = switches.len() - 1;
            thresholds.push(Threshold { switch, ecn: at.origin("ecn"), buffer: at.origin("buffer"), packets: count });
        }
    }
    let ends = Ends::new(hosts, &names)?;
    let joined = cables.iter().map(|cable| ends.of(cable)).collect::<Result<Vec<_>, _>>()?;
    ends.check_degrees(&cables, &joined)?;
    let params = cables
        .iter()
        .zip(&joined)
        .map(|(cable, ends)| resolve_cable(cable, *ends, &network))
        .collect::<Result<_, _>>()?;
    for cable in spec.cable.values_mut().filter(|cable| cable.ends.is_some()) {
        cable.rate.get_or_insert(network.rate);
        cable.latency.get_or_insert(network.latency);
    }
    Ok(Fabric { switches, cables: params, islands: islands(hosts.hosts.len(), names.len(), &joined), thresholds })
}

impl Fabric {
    /// Whether packets can get from one host to another.
    pub(super) fn joins(&self, from: usize, to: usize) -> bool {
        self.islands[from] == self.islands[to]
    }

    /// Checks that every marking threshold can be reached by packets of `mtu_bytes`.
    pub(super) fn check_thresholds(&self, mtu_bytes: u32) -> Result<(), Issue> {
        for Threshold { switch, ecn, buffer, packets } in &self.thresholds {
            let switch = &self.switches[*switch];
            let bytes = u64::from(*packets) * u64::from(mtu_bytes);
            if bytes > switch.buffer_bytes {
                let message = format!(
                    "{packets} packets of {mtu_bytes} B are more than the buffer of {}: nothing would be marked",
                    format(switch.buffer_bytes, Dimension::Size)
                );
                return Err(Issue::between(&[ecn, buffer], message));
            }
        }
        Ok(())
    }
}

/// The cables: those of the document, or those of the topology, whose switches are added.
fn cables(spec: &mut ClusterSpec, hosts: &Hosts) -> Result<Vec<Named>, Issue> {
    let ClusterSpec { network, switch, cable, .. } = spec;
    check_dumbbell_keys(network)?;
    if cable.len() > CABLES_MAX || switch.len() > SWITCHES_MAX {
        return Err(Issue::between(
            &["cable", "switch"],
            format!("at most {CABLES_MAX} cables and {SWITCHES_MAX} switches are allowed"),
        ));
    }
    if let Some(first) = cable.iter().find(|(_, cable)| cable.ends.is_some()).map(|(name, _)| name) {
        if network.topology.is_some() {
            let message = "a topology and cables with ends exclude each other; give one of them";
            return Err(Issue::between(&["network.topology", &format!("{}.ends", table("cable", first))], message));
        }
        return cable.iter().map(of_document).collect();
    }
    let mut made = match network.topology.unwrap_or(TopologySpec::Star) {
        TopologySpec::Star => star(switch, hosts),
        TopologySpec::Dumbbell => dumbbell(network, switch, hosts),
        TopologySpec::Direct => direct(switch, hosts),
    }?;
    change(&mut made, cable, hosts)?;
    Ok(made)
}

fn of_document((name, spec): (&String, &CableSpec)) -> Result<Named, Issue> {
    let path = table("cable", name);
    match spec.ends.clone() {
        Some(ends) => Ok(Named { path, ends, spec: spec.clone() }),
        None => {
            let message = "missing; a network is made of cables that all have ends, or of a topology";
            Err(Issue::new(format!("{path}.ends"), message))
        }
    }
}

/// Gives the cables that a topology made the values that stand under the names of their hosts: first those of a table
/// of hosts, then those of a single one.
fn change(made: &mut [Named], cables: &BTreeMap<String, CableSpec>, hosts: &Hosts) -> Result<(), Issue> {
    let mut meant = Vec::new();
    for (name, spec) in cables {
        let path = table("cable", name);
        let range = hosts.named(name, &path).map_err(|issue| {
            let message = format!("{}; a cable without ends has the name of its host", issue.message);
            Issue { message, ..issue }
        })?;
        meant.push((range, path, spec));
    }
    meant.sort_by_key(|(range, ..)| std::cmp::Reverse(range.len()));
    let mut owners: BTreeMap<usize, (usize, &str)> = BTreeMap::new();
    for (range, path, spec) in &meant {
        for host in range.clone() {
            let name = &hosts.hosts[host].name;
            let Some(at) = made.iter().position(|cable| cable.ends.contains(name)) else { continue };
            if let Some((_, other)) = owners.insert(at, (host, path)).filter(|(other, _)| *other != host) {
                return Err(Issue::between(&[path, other], format!("is the same cable as {other}; give one of them")));
            }
            let cable = &mut made[at];
            cable.path.clone_from(path);
            cable.spec.rate = spec.rate.or(cable.spec.rate);
            cable.spec.latency = spec.latency.or(cable.spec.latency);
            if !spec.down.is_empty() {
                cable.spec.down.clone_from(&spec.down);
            }
            if spec.corrupt > 0.0 {
                cable.spec.corrupt = spec.corrupt;
            }
        }
    }
    Ok(())
}

fn check_dumbbell_keys(network: &NetworkSpec) -> Result<(), Issue> {
    let keys = [
        ("left", network.left.is_some()),
        ("right", network.right.is_some()),
        ("bottleneck", network.bottleneck.is_some()),
    ];
    match keys.into_iter().find(|(_, given)| *given && network.topology != Some(TopologySpec::Dumbbell)) {
        Some((key, _)) => {
            let message = "has an effect only with topology = \"dumbbell\"";
            Err(Issue::between(&[&format!("network.{key}"), "network.topology"], message))
        }
        None => Ok(()),
    }
}

fn of_topology(ends: [&str; 2], path: String) -> Named {
    Named { path, ends: ends.map(str::to_string), spec: CableSpec::default() }
}

fn star(switches: &mut BTreeMap<String, SwitchSpec>, hosts: &Hosts) -> Result<Vec<Named>, Issue> {
    if switches.is_empty() {
        switches.insert(STAR.to_string(), SwitchSpec::default());
    }
    let mut names = switches.keys();
    let (Some(switch), None) = (names.next(), names.next()) else {
        let message =
            "several switches need cables, such as [cable.a] with ends = [\"sender\", \"tor\"]; a star has one switch";
        return Err(Issue::between(&["switch", "network.topology"], message));
    };
    let cable = |at: usize| of_topology([&hosts.hosts[at].name, switch], hosts.table_of(at));
    Ok((0..hosts.hosts.len()).map(cable).collect())
}

fn direct(switches: &BTreeMap<String, SwitchSpec>, hosts: &Hosts) -> Result<Vec<Named>, Issue> {
    if let Some(name) = switches.keys().next() {
        let message = "has no cable: topology = \"direct\" has no switch";
        return Err(Issue::between(&[&table("switch", name), "network.topology"], message));
    }
    let [one, other] = hosts.hosts.as_slice() else {
        let message = format!("\"direct\" joins two hosts; there are {}", hosts.hosts.len());
        return Err(Issue::new("network.topology", message));
    };
    Ok(vec![of_topology([&one.name, &other.name], hosts.table_of(0))])
}

fn dumbbell(
    network: &mut NetworkSpec,
    switches: &mut BTreeMap<String, SwitchSpec>,
    hosts: &Hosts,
) -> Result<Vec<Named>, Issue> {
    if let Some(name) = switches.keys().find(|name| !DUMBBELL.contains(&name.as_str())) {
        let message = "has no cable: the switches of a dumbbell are \"left\" and \"right\"";
        return Err(Issue::between(&[&table("switch", name), "network.topology"], message));
    }
    let mut sides: Vec<Option<&str>> = vec![None; hosts.hosts.len()];
    for (side, names) in DUMBBELL.into_iter().zip([&network.left, &network.right]) {
        let path = format!("network.{side}");
        let Some(Names(names)) = names else {
            return Err(Issue::new(path, "missing; a dumbbell has hosts at its left and at its right"));
        };
        switches.entry(side.to_string()).or_default();
        for at in
            names.iter().map(|name| hosts.named(name, &path)).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
        {
            if let Some(other) = sides[at].replace(side) {
                let message =
                    format!("{} stands twice: at the {other} and at the {side}", shorten(&hosts.hosts[at].name));
                return Err(Issue::between(&[&path, &format!("network.{other}")], message));
            }
        }
    }
    let mut cables = Vec::new();
    for (at, side) in sides.into_iter().enumerate() {
        let path = hosts.table_of(at);
        let Some(side) = side else {
            let name = shorten(&hosts.hosts[at].name);
            let message = format!("{name} stands neither at the left nor at the right of the dumbbell");
            return Err(Issue::between(&[&path, "network.left", "network.right"], message));
        };
        cables.push(of_topology([&hosts.hosts[at].name, side], path));
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

fn resolve_cable(cable: &Named, ends: [End; 2], network: &NetworkSpec) -> Result<CableParams, Issue> {
    let spec = &cable.spec;
    Ok(CableParams {
        ends,
        bytes_per_s: spec.rate.unwrap_or(network.rate).0,
        framing_bytes: network.framing.0 as u32,
        frame_min_bytes: network.frame_min.0 as u32,
        latency_ps: spec.latency.unwrap_or(network.latency).0,
        down_ps: spans(&spec.down, &format!("{}.down", cable.path))?,
        corrupt: share(spec.corrupt),
    })
}

/// Spans of time in order, as pairs of ps.
pub(super) fn spans(spans: &[Span], path: &str) -> Result<Vec<(u64, u64)>, Issue> {
    let mut before = 0;
    let mut pairs = Vec::new();
    for (at, [from, to]) in spans.iter().map(|span| span.map(|time| time.0 .0)).enumerate() {
        let shown = |ps: u64| format(ps, Dimension::Time);
        if from >= to {
            return Err(Issue::new(format!("{path}[{at}]"), format!("{} is not before {}", shown(from), shown(to))));
        }
        if from < before {
            let message = format!("{} is before the end of the span before it, {}", shown(from), shown(before));
            return Err(Issue::new(format!("{path}[{at}]"), message));
        }
        before = to;
        pairs.push((from, to));
    }
    Ok(pairs)
}

/// What cables can end at.
struct Ends<'a> {
    hosts: &'a Hosts,
    switches: &'a [String],
}

impl<'a> Ends<'a> {
    fn new(hosts: &'a Hosts, switches: &'a [String]) -> Result<Self, Issue> {
        match switches.iter().find(|name| hosts.hosts.iter().any(|host| host.name == **name)) {
            Some(name) => {
                let message = format!("a host and a switch are both named {}", shorten(name));
                Err(Issue::between(&[&table("switch", name), &table("host", name)], message))
            }
            None => Ok(Ends { hosts, switches }),
        }
    }

    fn of(&self, cable: &Named) -> Result<[End; 2], Issue> {
        let path = format!("{}.ends", cable.path);
        let [one, other] = [0, 1].map(|at: usize| self.find(&cable.ends[at], &path));
        let ends = [one?, other?];
        if ends[0] == ends[1] {
            return Err(Issue::new(path, format!("both ends are {}", shorten(&cable.ends[0]))));
        }
        Ok(ends)
    }

    fn find(&self, name: &str, path: &str) -> Result<End, Issue> {
        if let Some(at) = self.hosts.hosts.iter().position(|host| host.name == name) {
            return Ok(End::Host(at as u16));
        }
        if let Some(at) = self.switches.iter().position(|switch| switch == name) {
            return Ok(End::Switch(at as u16));
        }
        let hosts = self.hosts.hosts.iter().map(|host| host.name.as_str());
        let known = hosts.chain(self.switches.iter().map(String::as_str));
        Err(Issue::new(path, format!("there is no host or switch {}; {}", shorten(name), suggestion(name, known))))
    }

    /// Checks that every host has one cable and every switch at least one.
    fn check_degrees(&self, cables: &[Named], joined: &[[End; 2]]) -> Result<(), Issue> {
        let at =
            |end: End| joined.iter().zip(cables).filter(move |(ends, _)| ends.contains(&end)).map(|(_, cable)| cable);
        for host in 0..self.hosts.hosts.len() {
            let mut own = at(End::Host(host as u16));
            let name = shorten(&self.hosts.hosts[host].name);
            match (own.next(), own.next()) {
                (None, _) => {
                    let message =
                        format!("no cable ends at {name}; give one, such as [cable.{}]", self.hosts.hosts[host].name);
                    return Err(Issue::between(&[&self.hosts.table_of(host), "cable"], message));
                }
                (Some(one), Some(other)) => {
                    let message = format!("a second cable ends at the host {name}; a host has one port");
                    return Err(Issue::between(
                        &[&format!("{}.ends", other.path), &format!("{}.ends", one.path)],
                        message,
                    ));
                }
                (Some(_), None) => {}
            }
        }
        match (0..self.switches.len()).find(|&switch| at(End::Switch(switch as u16)).next().is_none()) {
            Some(switch) => Err(Issue::between(
                &[&table("switch", &self.switches[switch]), "cable"],
                "no cable ends at this switch",
            )),
            None => Ok(()),
        }
    }
}
