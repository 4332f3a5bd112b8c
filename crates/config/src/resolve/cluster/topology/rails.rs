//! Servers of accelerators with a scale-up fabric in each, and rails between the servers.

use super::super::host_keys::endpoint;
use super::super::host_names::HostNames;
use super::super::named_cables::{NamedCable, NamedNetwork, CABLES_MAX};
use super::super::table;
use super::check_counts;
use super::trees::spines_for;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{
    CableSpec, ClusterSpec, EcnSpec, HostKindSpec, NetworkSpec, PfcSpec, ScaleUpFabricSpec, ScaleUpSpec, Size,
    TopologySpec,
};
use std::collections::BTreeSet;

/// Groups of similar switches.
const SCALE_UP: &str = "scale-up";
const RAIL: &str = "rail";
const SPINE: &str = "spine";

/// Smallest and largest packet memory of a scale-up switch, in bytes.
const BUFFER_BYTES: [u64; 2] = [16_000_000, 1_000_000_000_000];
const PRIORITIES: u64 = 8;

/// Sizes of a network of rails.
struct Rails {
    servers: usize,
    accelerators: usize,
    /// Rails, and those of each accelerator.
    rails: usize,
    each: usize,
    spines: usize,
    scale_up: ScaleUpSpec,
}

/// Returns the switches and cables of a topology of rails.
pub(super) fn make(topology: TopologySpec, spec: &mut ClusterSpec, hosts: &HostNames) -> Result<NamedNetwork, Issue> {
    check_hosts(spec)?;
    let rails = Rails::resolve(topology, &mut spec.network, hosts.count())?;
    let kinds = rails.switches();
    for kind in kinds.iter().map(|(_, kind)| *kind).collect::<BTreeSet<_>>() {
        spec.switch.entry(kind.to_string()).or_default();
    }
    check_names(spec, &kinds)?;
    rails.never_lose(spec);
    let switches = kinds.into_iter().map(|(name, kind)| (name, Some(kind))).collect();
    let mut made = NamedNetwork::new(switches, rails.cables(&spec.network, hosts));
    if topology == TopologySpec::RailOnly {
        made.forwarding_ports = rails.scale_up_ports() as u16;
    }
    Ok(made)
}

/// Checks that every host can be an accelerator.
fn check_hosts(spec: &ClusterSpec) -> Result<(), Issue> {
    match spec.host.iter().find(|(_, host)| host.kind != HostKindSpec::Endpoint) {
        Some((name, _)) => {
            let path = table("host", name);
            let message =
                "accelerators of this topology are endpoints; a server has one port, without a scale-up fabric";
            Err(Issue::between(Code::WrongHostKind, &[&format!("{path}.kind"), &path, "network.topology"], message))
        }
        None => Ok(()),
    }
}

/// Checks that every table of switches refers to existing switches.
fn check_names(spec: &ClusterSpec, switches: &[(String, &'static str)]) -> Result<(), Issue> {
    let names: BTreeSet<&str> = switches.iter().flat_map(|(name, kind)| [name.as_str(), kind]).collect();
    match spec.switch.keys().find(|name| !names.contains(name.as_str())) {
        Some(name) => {
            let told = crate::error::suggestion(name, names);
            let message = format!("the topology has no such switch; {told}");
            Err(Issue::between(Code::DoesNotExist, &[&table("switch", name), "network.topology"], message))
        }
        None => Ok(()),
    }
}

impl Rails {
    /// Resolves the sizes, and fills in those that follow from others.
    fn resolve(topology: TopologySpec, network: &mut NetworkSpec, hosts: usize) -> Result<Self, Issue> {
        let Some(accelerators) = network.accelerators.map(|count| count as usize) else {
            let message = "missing; give the accelerators of a server, such as 8";
            return Err(Issue::new(Code::MissingKey, "network.accelerators", message));
        };
        if hosts % accelerators != 0 {
            let message = format!("{hosts} hosts are no whole number of servers with {accelerators} accelerators each");
            return Err(Issue::between(Code::NotAMultiple, &["network.accelerators", "host"], message));
        }
        let rails = network.rails.map_or(accelerators, |rails| rails as usize);
        if rails % accelerators != 0 {
            let message = format!(
                "{rails} rails; {accelerators} accelerators have {accelerators} rails, or a multiple of that, with as \
                 many ports at each"
            );
            return Err(Issue::between(Code::NotAMultiple, &["network.rails", "network.accelerators"], message));
        }
        let servers = hosts / accelerators;
        let spines = if topology == TopologySpec::RailOnly { 0 } else { spines_for(network, servers)? };
        let scale_up = network.scale_up.get_or_insert_default().clone();
        network.rails = Some(rails as u32);
        let sizes = Self { servers, accelerators, rails, each: rails / accelerators, spines, scale_up };
        sizes.check_counts()?;
        Ok(sizes)
    }

    fn check_counts(&self) -> Result<(), Issue> {
        let mesh = self.scale_up.fabric == ScaleUpFabricSpec::Mesh;
        let own = self.accelerators as u64;
        let own = if mesh { own * (own - 1) / 2 } else { own };
        let switches = self.rails as u64 + self.spines as u64 + if mesh { 0 } else { self.servers as u64 };
        let trunks = self.servers as u64 * (own + self.rails as u64) + (self.rails * self.spines) as u64;
        check_counts(switches, trunks, &["network.accelerators", "network.rails", "network.spines"])?;
        debug_assert!(trunks <= CABLES_MAX as u64, "cables have been counted");
        Ok(())
    }

    /// Returns the ports of an accelerator to the scale-up fabric.
    fn scale_up_ports(&self) -> usize {
        match self.scale_up.fabric {
            ScaleUpFabricSpec::Switch => 1,
            ScaleUpFabricSpec::Mesh => self.accelerators - 1,
        }
    }

    /// Returns the names of the switches, with the name of their group.
    fn switches(&self) -> Vec<(String, &'static str)> {
        let inside = if self.scale_up.fabric == ScaleUpFabricSpec::Switch { self.servers } else { 0 };
        let counts = [(SCALE_UP, inside), (RAIL, self.rails), (SPINE, self.spines)];
        let named = |(kind, count): (&'static str, usize)| (0..count).map(move |at| (format!("{kind}-{at}"), kind));
        counts.into_iter().flat_map(named).collect()
    }

    /// Returns the cables: first those inside the servers, so that they have the first ports of each accelerator.
    fn cables(&self, network: &NetworkSpec, hosts: &HostNames) -> Vec<NamedCable> {
        let name = |host: usize| hosts.name(host).to_string();
        let mut cables = Vec::new();
        let inside = CableSpec { rate: self.scale_up.rate, latency: self.scale_up.latency, ..CableSpec::default() };
        let mut within = |ends: [String; 2]| {
            let cable = NamedCable::new("network.scale_up".to_string(), ends, inside.clone());
            cables.push(NamedCable { scale_up: true, ..cable });
        };
        for server in 0..self.servers {
            let own = server * self.accelerators..(server + 1) * self.accelerators;
            match self.scale_up.fabric {
                ScaleUpFabricSpec::Switch => {
                    own.for_each(|host| within([name(host), format!("{SCALE_UP}-{server}")]));
                }
                ScaleUpFabricSpec::Mesh => {
                    for one in own.clone() {
                        (one + 1..own.end).for_each(|other| within([name(one), name(other)]));
                    }
                }
            }
        }
        for host in 0..hosts.count() {
            let first = host % self.accelerators * self.each;
            let to = |rail: usize| [name(host), format!("{RAIL}-{rail}")];
            let rails = first..first + self.each;
            cables.extend(rails.map(|rail| NamedCable::new(hosts.table_path(host), to(rail), CableSpec::default())));
        }
        let core = network.core.clone().unwrap_or_default();
        let core = CableSpec { rate: core.rate, latency: core.latency, ..CableSpec::default() };
        for rail in 0..self.rails {
            let to = |spine: usize| [format!("{RAIL}-{rail}"), format!("{SPINE}-{spine}")];
            let trunk = |spine| NamedCable::new("network.core".to_string(), to(spine), core.clone());
            cables.extend((0..self.spines).map(trunk));
        }
        cables
    }

    /// Fills in the defaults of scale-up switches: they never lose a packet, as links with credits do not. A pause of
    /// an accelerator begins when what it sends in two round trips waits, and ends when that of one is left.
    fn never_lose(&self, spec: &mut ClusterSpec) {
        let network = &spec.network;
        let bytes_per_s = self.scale_up.rate.unwrap_or(network.rate).0;
        let latency_ps = self.scale_up.latency.unwrap_or(network.latency).0;
        let before_ps = spec.host.values().map(|host| endpoint(host).latency_ps).max().unwrap_or(0);
        let ps = u128::from(2 * latency_ps + before_ps);
        let trip = u64::try_from(u128::from(bytes_per_s) * ps / 1_000_000_000_000).unwrap_or(u64::MAX);
        let xon = trip.saturating_add(2 * network.mtu.0).min(BUFFER_BYTES[1] / 4);
        let room = PRIORITIES * self.accelerators as u64;
        let buffer = room.saturating_mul(3 * xon).clamp(BUFFER_BYTES[0], BUFFER_BYTES[1]);
        let Some(switch) = spec.switch.get_mut(SCALE_UP) else { return };
        switch.buffer.get_or_insert(Size(buffer));
        switch.ecn.get_or_insert(EcnSpec::Off);
        switch.pfc.get_or_insert(PfcSpec {
            priorities: (0..PRIORITIES as u8).collect(),
            xoff: Size(2 * xon),
            xon: Size(xon),
        });
    }
}
