//! Networks by name and size: their switches, cables, and the places of hosts.

mod dragonfly;
mod grids;
mod keys;
mod ports;
mod rails;
mod small;
mod trees;

use super::dimms::Dimms;
use super::host_names::HostNames;
use super::named_cables::{NamedCable, NamedNetwork, CABLES_MAX, SWITCHES_MAX};
use super::table;
use crate::code::Code;
use crate::error::{nearest, Issue};
use crate::units::shorten;
use hostnet_params::{CableSpec, ClusterSpec, Names, NetworkSpec, TopologySpec, TrunkSpec};

/// Length of a cable between groups in the search for shortest paths, in hops. No path then has two of them if a path
/// with one, and a cable in either group, exists (Kim et al., minimal routing).
const GLOBAL_LENGTH: u32 = 3;

/// A network of many switches.
struct Shape {
    /// Names of the switches in order, with the name of their group of similar switches.
    switches: Vec<(String, &'static str)>,
    trunks: Vec<Trunk>,
    /// Switches with hosts, and the maximum number of hosts of each.
    leaves: Vec<usize>,
    room: usize,
    /// Key that gives the maximum number of hosts.
    room_key: &'static str,
}

/// A cable between two switches.
struct Trunk {
    ends: [usize; 2],
    /// True if the cables join groups.
    global: bool,
}

impl Trunk {
    fn new(one: usize, other: usize) -> Self {
        Self { ends: [one, other], global: false }
    }
}

/// Returns the switches and cables of the network's topology.
pub(super) fn make(spec: &mut ClusterSpec, hosts: &HostNames, dimms: &Dimms) -> Result<NamedNetwork, Issue> {
    let topology = spec.network.topology.unwrap_or(TopologySpec::Star);
    keys::check(&spec.network)?;
    if dimms.any() && topology != TopologySpec::Star {
        let message = "hosts with DIMMs are cabled as a star, or by cables with ends";
        return Err(Issue::new(Code::NotSupported, "network.topology", message));
    }
    if let Some(shape) = shape(topology, &mut spec.network, hosts.count())? {
        let mut made = shape.made(spec, hosts)?;
        made.cables = ports::widen(made.cables, spec, hosts)?;
        return Ok(made);
    }
    check_no_places(spec)?;
    if matches!(topology, TopologySpec::RailOptimised | TopologySpec::RailOnly) {
        ports::check_none(spec, "network.rails")?;
        return rails::make(topology, spec, hosts);
    }
    let cables = match topology {
        TopologySpec::Dumbbell => small::dumbbell(&mut spec.network, &mut spec.switch, hosts),
        TopologySpec::Direct => small::direct(&spec.switch, hosts),
        _ => small::star(&mut spec.switch, hosts, dimms),
    }?;
    let switches = spec.switch.keys().map(|name| (name.clone(), None)).collect();
    Ok(NamedNetwork::new(switches, ports::widen(cables, spec, hosts)?))
}

/// Checks that a network with explicit cables has no keys of topologies.
pub(super) fn check_none(spec: &ClusterSpec) -> Result<(), Issue> {
    keys::check(&spec.network)?;
    ports::check_none(spec, "cable")?;
    check_no_places(spec)
}

/// Checks that no host names its switch.
fn check_no_places(spec: &ClusterSpec) -> Result<(), Issue> {
    match spec.host.iter().find(|(_, host)| host.at.is_some()) {
        Some((name, _)) => {
            let message = "has an effect only in a topology of many switches, such as \"leaf-spine\"";
            Err(Issue::between(Code::NoEffect, &[&format!("{}.at", table("host", name)), "network.topology"], message))
        }
        None => Ok(()),
    }
}

/// Returns a network of many switches if the topology is one, and fills in sizes that follow from others.
fn shape(topology: TopologySpec, network: &mut NetworkSpec, hosts: usize) -> Result<Option<Shape>, Issue> {
    match topology {
        TopologySpec::Star
        | TopologySpec::Dumbbell
        | TopologySpec::Direct
        | TopologySpec::RailOptimised
        | TopologySpec::RailOnly => Ok(None),
        TopologySpec::TwoTier => trees::two_tier(network, hosts).map(Some),
        TopologySpec::LeafSpine => trees::leaf_spine(network, hosts).map(Some),
        TopologySpec::FatTree => trees::fat_tree(network, hosts).map(Some),
        TopologySpec::Ring | TopologySpec::Mesh | TopologySpec::Torus => {
            grids::grid(topology, network, hosts).map(Some)
        }
        TopologySpec::Dragonfly => dragonfly::dragonfly(network, hosts).map(Some),
    }
}

/// Checks the number of switches and cables before any is created.
fn check_counts(switches: u64, trunks: u64, paths: &[&str]) -> Result<(), Issue> {
    if switches <= SWITCHES_MAX as u64 && trunks <= CABLES_MAX as u64 {
        return Ok(());
    }
    let message = format!(
        "{switches} switches with {trunks} cables between them; at most {SWITCHES_MAX} and {CABLES_MAX} are allowed"
    );
    Err(Issue::between(Code::TooMany, paths, message))
}

impl Shape {
    fn made(self, spec: &mut ClusterSpec, hosts: &HostNames) -> Result<NamedNetwork, Issue> {
        // Every kind has a table, so that the effective configuration shows its values.
        for &(_, kind) in &self.switches {
            if !spec.switch.contains_key(kind) {
                spec.switch.insert(kind.to_string(), hostnet_params::SwitchSpec::default());
            }
        }
        self.check_names(spec)?;
        let places = self.places(spec, hosts)?;
        let mut cables: Vec<NamedCable> = (0..hosts.count())
            .map(|host| {
                let ends = [hosts.name(host).to_string(), self.switches[places[host]].0.clone()];
                NamedCable::new(hosts.table_path(host), ends, CableSpec::default())
            })
            .collect();
        if cables.len() + self.trunks.len() > CABLES_MAX {
            let message =
                format!("{} cables in all; at most {CABLES_MAX} are allowed", cables.len() + self.trunks.len());
            return Err(Issue::new(Code::TooMany, "network.topology", message));
        }
        cables.extend(self.trunks.iter().map(|trunk| self.cable(trunk, &spec.network)));
        let switches = self.switches.into_iter().map(|(name, kind)| (name, Some(kind))).collect();
        Ok(NamedNetwork::new(switches, cables))
    }

    fn cable(&self, trunk: &Trunk, network: &NetworkSpec) -> NamedCable {
        let core = network.core.as_ref();
        let (path, own) =
            if trunk.global { ("network.global", network.global.as_ref()) } else { ("network.core", None) };
        let of = |own: Option<&TrunkSpec>| (own.and_then(|own| own.rate), own.and_then(|own| own.latency));
        let ((rate, latency), (core_rate, core_latency)) = (of(own), of(core));
        // Keys of global cables go before those of all cables between switches.
        let spec = CableSpec { rate: rate.or(core_rate), latency: latency.or(core_latency), ..CableSpec::default() };
        let length = if trunk.global { GLOBAL_LENGTH } else { 1 };
        let ends = trunk.ends.map(|end| self.switches[end].0.clone());
        NamedCable { length, ..NamedCable::new(path.to_string(), ends, spec) }
    }

    /// Checks that every table of switches refers to existing switches.
    fn check_names(&self, spec: &ClusterSpec) -> Result<(), Issue> {
        let names: std::collections::BTreeSet<&str> =
            self.switches.iter().flat_map(|(name, kind)| [name.as_str(), kind]).collect();
        match spec.switch.keys().find(|name| !names.contains(name.as_str())) {
            Some(name) => {
                let message = format!("the topology has no such switch; {}", self.told(name, names.iter().copied()));
                Err(Issue::between(Code::DoesNotExist, &[&table("switch", name), "network.topology"], message))
            }
            None => Ok(()),
        }
    }

    /// Returns the hint for an unknown name.
    fn told<'a>(&self, name: &str, names: impl Iterator<Item = &'a str>) -> String {
        let first_last = |names: &mut dyn Iterator<Item = &str>| {
            let all: Vec<&str> = names.collect();
            format!("\"{}\" to \"{}\"", all.first().unwrap_or(&""), all.last().unwrap_or(&""))
        };
        match nearest(name, names) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => {
                let mut leaves = self.leaves.iter().map(|&leaf| self.switches[leaf].0.as_str());
                format!("switches with hosts are {}", first_last(&mut leaves))
            }
        }
    }

    /// Returns the switch of each host: the one that the document names, otherwise the first with a free port.
    fn places(&self, spec: &ClusterSpec, hosts: &HostNames) -> Result<Vec<usize>, Issue> {
        let key = format!("network.{}", self.room_key);
        if hosts.count() > self.leaves.len() * self.room {
            let message = format!(
                "{} hosts; {} switches with {} hosts each have room for {}",
                hosts.count(),
                self.leaves.len(),
                self.room,
                self.leaves.len() * self.room
            );
            return Err(Issue::between(Code::TooFewSlots, &[&key, "host", "network.topology"], message));
        }
        let mut free = vec![self.room; self.leaves.len()];
        let mut places = vec![None; hosts.count()];
        for group in hosts.tables() {
            let path = format!("{}.at", table("host", &group.name));
            let Some(Names(at)) = &spec.host[&group.name].at else { continue };
            if at.len() > 1 && at.len() != group.members.len() {
                let message = format!("{} switches for {} hosts", at.len(), group.members.len());
                return Err(Issue::between(
                    Code::WrongCount,
                    &[&path, &format!("{}.count", table("host", &group.name))],
                    message,
                ));
            }
            for (number, host) in group.members.clone().enumerate() {
                let leaf = self.leaf(&at[number % at.len()], &path)?;
                if free[leaf] == 0 {
                    let name = shorten(&self.switches[self.leaves[leaf]].0);
                    let message = format!("{name} has no port left: it has room for {} hosts", self.room);
                    return Err(Issue::between(Code::TooFewSlots, &[&path, &key], message));
                }
                free[leaf] -= 1;
                places[host] = Some(leaf);
            }
        }
        // Hosts with a named place have theirs; the others fill the free places in order.
        let mut leaf = 0;
        let places = places.into_iter().map(|place| {
            let place = place.unwrap_or_else(|| {
                leaf += free[leaf..].iter().position(|&free| free > 0).unwrap_or(0);
                free[leaf] -= 1;
                leaf
            });
            self.leaves[place]
        });
        Ok(places.collect())
    }

    /// Returns the index of a named switch among those with hosts.
    fn leaf(&self, name: &str, path: &str) -> Result<usize, Issue> {
        if let Some(leaf) = self.leaves.iter().position(|&leaf| self.switches[leaf].0 == name) {
            return Ok(leaf);
        }
        let leaves = self.leaves.iter().map(|&leaf| self.switches[leaf].0.as_str());
        let message = match self.switches.iter().any(|(switch, _)| switch == name) {
            true => format!("no hosts are cabled to {}; {}", shorten(name), self.told("", std::iter::empty())),
            false => format!("there is no switch {}; {}", shorten(name), self.told(name, leaves)),
        };
        Err(Issue::between(Code::DoesNotExist, &[path, "network.topology"], message))
    }
}
