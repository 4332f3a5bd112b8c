//! Switches that add vectors of jobs: the reduction tree of a job (as in SHARP: Graham et al., COMHPC 2016), and the
//! engine inside a switch.

use super::dimms::Dimms;
use super::fabric::Fabric;
use super::host_names::HostNames;
use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::{
    CableEnd, CableParams, ClusterParams, EndpointParams, Fidelity, HostKind, HostParams, NetworkSpec, ReducerParams,
};
use std::collections::{BTreeMap, VecDeque};

/// Rate and latency between an engine and its switch, which are so fast that only the engine itself takes time.
const WITHIN_BYTES_PER_S: u64 = 1_000_000_000_000_000;
const WITHIN_PS: u64 = 1;
/// Maximum number of packets between an engine and its switch.
const WITHIN_PACKETS: u32 = 64;

/// Engines that jobs use. Each is represented by a host with a number after those of the user's hosts.
pub(super) struct Engines {
    /// Number of the user's hosts.
    first: usize,
    /// Switch of each engine, in the order of the hosts that represent them.
    switches: Vec<usize>,
}

impl Engines {
    /// Returns no engines yet, for a cluster of `hosts` hosts of the user.
    pub(super) fn new(hosts: usize) -> Self {
        Self { first: hosts, switches: Vec::new() }
    }

    /// Returns the host that represents the engine of a switch.
    fn host(&mut self, switch: usize) -> u16 {
        let at = self.switches.iter().position(|&own| own == switch).unwrap_or_else(|| {
            self.switches.push(switch);
            self.switches.len() - 1
        });
        (self.first + at) as u16
    }

    /// Adds the engines to their switches.
    pub(super) fn add(&self, cluster: &mut ClusterParams, network: &NetworkSpec) {
        for (host, &switch) in (self.first as u16..).zip(&self.switches) {
            cluster.hosts.push(HostParams {
                // No name of the user has a space.
                name: format!("{} sum", cluster.switches[switch].name),
                kind: HostKind::Endpoint(EndpointParams {
                    latency_ps: WITHIN_PS,
                    queue_packets: WITHIN_PACKETS,
                    forwarding_ports: 0,
                }),
                fidelity: Fidelity::Line,
                compress: None,
            });
            cluster.cables.push(CableParams {
                ends: [CableEnd::Host(host), CableEnd::Switch(switch as u16)],
                bytes_per_s: WITHIN_BYTES_PER_S,
                framing_bytes: network.framing.0 as u32,
                frame_min_bytes: network.frame_min.0 as u32,
                latency_ps: WITHIN_PS,
                length: 1,
                down_ps: Vec::new(),
                corrupt: 0,
            });
        }
    }
}

/// Adjacency of the switches.
struct Graph {
    /// Neighbours of each switch, in the order of the cables.
    next: Vec<Vec<usize>>,
    /// First switch that a cable joins each host to.
    of_host: BTreeMap<usize, usize>,
}

impl Graph {
    fn new(fabric: &Fabric) -> Self {
        let mut graph = Self { next: vec![Vec::new(); fabric.switches.len()], of_host: fabric.first_switches() };
        for cable in &fabric.cables {
            if let [CableEnd::Switch(one), CableEnd::Switch(other)] = cable.ends {
                graph.next[usize::from(one)].push(other.into());
                graph.next[usize::from(other)].push(one.into());
            }
        }
        graph
    }

    /// Returns the distance of each switch from `to` in cables, and the next switch on the path to it.
    fn ways(&self, to: usize) -> Vec<Option<(u32, usize)>> {
        let mut found = vec![None; self.next.len()];
        found[to] = Some((0, to));
        let mut left = VecDeque::from([(to, 0)]);
        while let Some((at, away)) = left.pop_front() {
            for &next in &self.next[at] {
                if found[next].is_none() {
                    found[next] = Some((away + 1, at));
                    left.push_back((next, away + 1));
                }
            }
        }
        found
    }

    /// Returns the switch with an engine that is closest to the farthest of `leaves`. Ties are broken by the total
    /// distance from all leaves, then by the number of the switch.
    fn root(&self, leaves: &[usize], fabric: &Fabric) -> Option<usize> {
        let mut far = vec![Some((0_u32, 0_u64)); self.next.len()];
        for &leaf in leaves {
            for (far, way) in far.iter_mut().zip(self.ways(leaf)) {
                *far = far.zip(way).map(|((most, all), (away, _))| (most.max(away), all + u64::from(away)));
            }
        }
        let with_engines = (0..far.len()).filter(|&switch| fabric.sums[switch].is_some());
        with_engines.filter_map(|switch| Some((far[switch]?, switch))).min().map(|(_, switch)| switch)
    }
}

/// Reduction tree of a job: switches add the vectors of ranks, one per host, where their paths meet.
pub(super) struct Tree {
    pub(super) reducers: Vec<ReducerParams>,
    /// Number of the reducer of each rank; a single rank has none.
    pub(super) of_rank: BTreeMap<u32, u32>,
}

impl Tree {
    /// Builds the reduction tree of the `leaders`, pairs of rank and host. The job at `path` has `ranks` ranks in
    /// all.
    pub(super) fn new(
        path: &str,
        leaders: &[(u32, usize)],
        (ranks, packet_bytes): (u32, u32),
        hosts: &HostNames,
        dimms: &Dimms,
        fabric: &Fabric,
        engines: &mut Engines,
    ) -> Result<Self, Issue> {
        let keys = [format!("{path}.algorithm"), "network.switch".to_owned()];
        let refused = |code: Code, message: String| Err(Issue::between(code, &[&keys[0], &keys[1]], message));
        if fabric.sums.iter().all(Option::is_none) {
            let message =
                "no switch sums up; give the rate at which they do, such as network.switch.sum = \"100 Gbps\"";
            return refused(Code::RequiresKey, message.to_owned());
        }
        let graph = Graph::new(fabric);
        let mut inputs: Vec<Vec<u32>> = vec![Vec::new(); fabric.switches.len()];
        for &(rank, host) in leaders {
            let Some(&switch) = graph.of_host.get(&dimms.around(host)) else {
                return refused(Code::Unreachable, format!("no switch is next to {}", shorten(hosts.name(host))));
            };
            inputs[switch].push(rank);
        }
        let leaves: Vec<usize> = (0..inputs.len()).filter(|&switch| !inputs[switch].is_empty()).collect();
        let Some(root) = graph.root(&leaves, fabric) else {
            return refused(Code::Unreachable, "no switch that sums up has ways to all hosts of the job".to_owned());
        };
        let tree = Self { reducers: Vec::new(), of_rank: BTreeMap::new() };
        Ok(tree.grown(inputs, &graph.ways(root), (ranks, packet_bytes), fabric, engines))
    }

    /// Builds the tree from `inputs`, the ranks at each switch; `ways` are the next hops to the root.
    fn grown(
        mut self,
        mut inputs: Vec<Vec<u32>>,
        ways: &[Option<(u32, usize)>],
        (ranks, packet_bytes): (u32, u32),
        fabric: &Fabric,
        engines: &mut Engines,
    ) -> Self {
        let mut order: Vec<(u32, usize, usize)> =
            (0..).zip(ways).filter_map(|(switch, way)| way.map(|(away, next)| (away, switch, next))).collect();
        // From the farthest switch to the root, so that all inputs of a switch exist before it adds them.
        order.sort_unstable_by_key(|&(away, switch, _)| (std::cmp::Reverse(away), switch));
        for (away, switch, next) in order {
            let mut own = std::mem::take(&mut inputs[switch]);
            own.sort_unstable();
            // A switch with a single input, or without an engine, forwards the vectors unchanged.
            if let Some(bytes_per_s) = fabric.sums[switch].filter(|_| own.len() > 1) {
                let number = ranks + self.reducers.len() as u32;
                for &input in &own {
                    match input.checked_sub(ranks) {
                        None => drop(self.of_rank.insert(input, number)),
                        Some(reducer) => self.reducers[reducer as usize].output = Some(number),
                    }
                }
                let host = engines.host(switch);
                let switch = switch as u16;
                let reducer = ReducerParams { host, switch, bytes_per_s, packet_bytes, output: None, inputs: own };
                self.reducers.push(reducer);
                own = vec![number];
            }
            if away > 0 {
                inputs[next].extend(own);
            }
        }
        self
    }
}
