//! Routes from a node to each host: shortest paths, one of several equal paths per flow (ECMP), and paths that flows
//! are assigned explicitly.

use crate::params::{CableEnd, ClusterParams, HostKind, HostParams};
use hostnet_kernel::mix;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Ports of a node on a shortest path to each host. Hosts share few distinct sets of ports, so only the sets are
/// stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Routes {
    /// Index of the port set of each host.
    sets: Vec<u16>,
    /// Start of each set in `ports`, and the end of the last set.
    starts: Vec<u32>,
    ports: Vec<u16>,
    /// Explicitly assigned ports, as (flow, destination host, port), in order.
    pub(super) assigned: Vec<(u32, u16, u16)>,
    /// Salt of the ECMP hash. It differs from node to node, so that choices along a path are independent.
    salt: u64,
}

impl Routes {
    /// Returns the port by which packets of `flow` from host `from` are forwarded to host `to`; none if no cable leads
    /// to `to`.
    #[must_use]
    #[inline(always)]
    pub fn port(&self, flow: u32, from: u16, to: u16) -> Option<u16> {
        if !self.assigned.is_empty() {
            // An assigned path overrides shortest paths.
            if let Some(port) = self.assigned_port(flow, to) {
                return Some(port);
            }
        }
        let set = usize::from(*self.sets.get(usize::from(to))?);
        let (start, end) = (self.starts[set] as usize, self.starts[set + 1] as usize);
        match end - start {
            0 => None,
            // Speed only: most sets have one port, which needs no hash.
            1 => Some(self.ports[start]),
            count => Some(self.ports[start + choose_path(self.salt, flow, from, count)]),
        }
    }

    #[inline(never)]
    fn assigned_port(&self, flow: u32, to: u16) -> Option<u16> {
        let found = self.assigned.binary_search_by_key(&(flow, to), |assigned| (assigned.0, assigned.1));
        found.ok().map(|at| self.assigned[at].2)
    }

    /// Prefetches the port set of a host.
    #[inline(always)]
    pub(super) fn fetch(&self, to: u16) {
        prefetch_index(&self.sets, usize::from(to));
    }

    /// Returns all ports on a shortest path to a host.
    #[must_use]
    pub fn ports(&self, to: u16) -> &[u16] {
        let set = usize::from(self.sets[usize::from(to)]);
        &self.ports[self.starts[set] as usize..self.starts[set + 1] as usize]
    }
}

/// Chooses one of `count` equal paths by a hash. The two directions of a flow are hashed independently.
fn choose_path(salt: u64, flow: u32, from: u16, count: usize) -> usize {
    let hash = mix(salt ^ (u64::from(flow) << 16 | u64::from(from)));
    // A multiplication maps the hash to the ports without a division.
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// Routes of a node under construction.
#[derive(Debug, Default)]
struct RouteTable {
    numbers: BTreeMap<Vec<u16>, u16>,
    /// Index of the port set of each host.
    sets: Vec<u16>,
}

impl RouteTable {
    /// Returns the index of a port set, which is added if it is new.
    fn set(&mut self, ports: &[u16]) -> u16 {
        if let Some(&number) = self.numbers.get(ports) {
            return number;
        }
        let number = self.numbers.len() as u16;
        self.numbers.insert(ports.to_vec(), number);
        number
    }

    /// Assigns a port set to a host.
    fn assign_set(&mut self, host: usize, set: u16) {
        if self.sets.len() <= host {
            self.sets.resize(host + 1, 0);
        }
        self.sets[host] = set;
    }

    fn routes(self, hosts: usize, salt: u64) -> Routes {
        let mut in_order: Vec<(u16, Vec<u16>)> = self.numbers.into_iter().map(|(ports, set)| (set, ports)).collect();
        in_order.sort_unstable();
        let (mut starts, mut ports) = (vec![0], Vec::new());
        for (_, set) in in_order {
            ports.extend(set);
            starts.push(ports.len() as u32);
        }
        debug_assert_eq!(self.sets.len(), hosts, "every host has a set, if an empty one");
        Routes { sets: self.sets, starts, ports, assigned: Vec::new(), salt }
    }
}

/// Graph of a cluster. Nodes are numbered: switches, then hosts.
#[derive(Clone, Debug)]
pub(super) struct ClusterGraph {
    pub(super) switches: usize,
    /// Ports of each node.
    pub(super) ports: Vec<Vec<GraphPort>>,
    /// Node whose cables lead to each node: the node itself, or for a DIMM its host.
    attached_to: Vec<usize>,
    /// Number of the first ports of each node by which packets come in that it forwards by its other ports; 0 for a
    /// host that does not forward, and for switches, which forward by all ports.
    forwarding: Vec<u16>,
}

/// A port of a node: its cable, the end of the cable here, and the node and port at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct GraphPort {
    pub(super) cable: usize,
    pub(super) end: usize,
    pub(super) node: usize,
    pub(super) port: u16,
    /// Length of the cable for the search of shortest paths.
    pub(super) length: u32,
}

impl ClusterGraph {
    pub(super) fn new(cluster: &ClusterParams) -> Self {
        let switches = cluster.switches.len();
        let node = |end: CableEnd| match end {
            CableEnd::Switch(switch) => usize::from(switch),
            CableEnd::Host(host) => switches + usize::from(host),
        };
        let mut ports: Vec<Vec<GraphPort>> = vec![Vec::new(); switches + cluster.hosts.len()];
        for (cable, params) in cluster.cables.iter().enumerate() {
            let [a, b] = params.ends.map(node);
            let port_a = ports[a].len() as u16;
            // A cable from a node to itself takes two of its ports.
            let port_b = ports[b].len() as u16 + u16::from(a == b);
            let length = params.length.max(1);
            ports[a].push(GraphPort { cable, end: 0, node: b, port: port_b, length });
            ports[b].push(GraphPort { cable, end: 1, node: a, port: port_a, length });
        }
        let hosts = (0..).zip(&cluster.hosts).map(|(host, params)| switches + usize::from(attached_to(host, params)));
        let attached_to = (0..switches).chain(hosts).collect();
        let forwarding = (0..switches).map(|_| 0).chain(cluster.hosts.iter().map(HostParams::forwarding_ports));
        Self { switches, ports, attached_to, forwarding: forwarding.collect() }
    }

    /// Returns the node of a host.
    pub(super) fn host(&self, host: usize) -> usize {
        self.switches + host
    }

    /// Returns the routes of each node with a choice of ports: switches, and hosts with several ports.
    ///
    /// # Panics
    /// Panics if no cable joins two neighbouring nodes of a path that a flow is assigned.
    pub(super) fn routes(&self, cluster: &ClusterParams) -> Vec<Option<Routes>> {
        let mut routes = self.shortest(cluster.seed);
        for (number, flow) in (0..).zip(&cluster.flows).filter(|(_, flow)| !flow.via.is_empty()) {
            let hosts = [flow.from, flow.to].map(|host| self.host(host.into()));
            let middle = flow.via.iter().map(|&switch| usize::from(switch));
            let way: Vec<usize> = [hosts[0]].into_iter().chain(middle).chain([hosts[1]]).collect();
            for pair in way.windows(2) {
                for (node, next, to) in [(pair[0], pair[1], flow.to), (pair[1], pair[0], flow.from)] {
                    let port = self.ports[node].iter().position(|port| port.node == next);
                    let port = port.expect("a cable joins neighbours on a way");
                    if let Some(routes) = &mut routes[node] {
                        routes.assigned.push((number, to, port as u16));
                    }
                }
            }
        }
        self.assign_equal_ports(cluster, &mut routes);
        // Sorted for the binary search in `port`.
        routes.iter_mut().flatten().for_each(|routes| routes.assigned.sort_unstable());
        routes
    }

    fn shortest(&self, seed: u64) -> Vec<Option<Routes>> {
        let chooses = |node: usize| node < self.switches || self.ports[node].len() > 1;
        let mut tables: Vec<_> = (0..self.ports.len()).map(|node| chooses(node).then(RouteTable::default)).collect();
        let choosing: Vec<usize> = (0..self.ports.len()).filter(|&node| chooses(node)).collect();
        // All hosts at one switch share the shortest paths to that switch, so one search per switch suffices.
        let mut racks: Vec<Vec<(usize, u16)>> = vec![Vec::new(); self.switches];
        let mut others = Vec::new();
        for host in self.switches..self.ports.len() {
            match self.only_switch(self.attached_to[host]) {
                Some(port) => racks[port.node].push((host, port.port)),
                None => others.push(host),
            }
        }
        let mut shortest_ports = Vec::new();
        for (switch, rack) in racks.iter().enumerate().filter(|(_, rack)| !rack.is_empty()) {
            let distances = self.distances(switch);
            for &node in choosing.iter().filter(|&&node| node != switch) {
                self.shortest_ports(node, switch, &distances, &mut shortest_ports);
                let table = tables[node].as_mut().expect("it chooses");
                let set = table.set(&shortest_ports);
                rack.iter().for_each(|&(host, _)| table.assign_set(host - self.switches, set));
            }
            let table = tables[switch].as_mut().expect("switches choose");
            for &(host, port) in rack {
                let set = table.set(&[port]);
                table.assign_set(host - self.switches, set);
            }
        }
        for host in others {
            let target = self.attached_to[host];
            let distances = self.distances(target);
            for &node in &choosing {
                self.shortest_ports(node, target, &distances, &mut shortest_ports);
                let table = tables[node].as_mut().expect("it chooses");
                let set = table.set(&shortest_ports);
                table.assign_set(host - self.switches, set);
            }
        }
        let hosts = self.ports.len() - self.switches;
        // Without a salt per node, switches in a row would choose alike and use few of the paths.
        let salt = |node: usize| mix(seed ^ mix(node as u64 + 1));
        tables.into_iter().enumerate().map(|(node, table)| Some(table?.routes(hosts, salt(node)))).collect()
    }

    /// Returns the port of a host that has only one, if a switch is at the other end of the cable.
    fn only_switch(&self, host: usize) -> Option<GraphPort> {
        match self.ports[host][..] {
            [port] if port.node < self.switches => Some(port),
            _ => None,
        }
    }

    /// Collects the ports of a node on a shortest path to `target`. `distances` are those of all nodes to `target`.
    fn shortest_ports(&self, node: usize, target: usize, distances: &[u32], shortest_ports: &mut Vec<u16>) {
        let nearer = |port: &GraphPort| {
            is_nearer(port, distances[node], distances) && self.takes(port.node, port.port, target, distances)
        };
        shortest_ports.clear();
        shortest_ports.extend((0..).zip(&self.ports[node]).filter(|(_, port)| nearer(port)).map(|(index, _)| index));
    }

    /// Returns true if a node takes packets to `target` that come in by one of its ports: because it is the target, a
    /// switch, or a host that forwards packets from this port to a port that does not take any.
    fn takes(&self, node: usize, port: u16, target: usize, distances: &[u32]) -> bool {
        if node < self.switches || node == target {
            return true;
        }
        let forwarding = self.forwarding[node];
        let is_nearer = |port: &GraphPort| is_nearer(port, distances[node], distances);
        // A shortest path by a forwarding port is the host's own: packets have come in by those already.
        port < forwarding && !self.ports[node][..usize::from(forwarding)].iter().any(is_nearer)
    }

    /// Returns the distance of each node from `target` through switches and hosts that forward; `u32::MAX` if there is
    /// no path.
    fn distances(&self, target: usize) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.ports.len()];
        distances[target] = 0;
        // Nodes found at each distance. A node may be found again at a shorter distance before it is visited.
        let mut found = vec![vec![target]];
        let mut distance = 0;
        while distance < found.len() {
            // Buckets by distance instead of a heap: lengths are small integers.
            for node in std::mem::take(&mut found[distance]) {
                if distances[node] != distance as u32 {
                    continue;
                }
                for (own, port) in (0..).zip(&self.ports[node]) {
                    if !self.takes(node, own, target, &distances) {
                        continue;
                    }
                    let there = distance as u32 + port.length;
                    if there < distances[port.node] {
                        distances[port.node] = there;
                        let place = there as usize;
                        found.resize(found.len().max(place + 1), Vec::new());
                        found[place].push(port.node);
                    }
                }
            }
            distance += 1;
        }
        distances
    }
}

/// Returns true if a port of a node at `distance` leads to a node that is nearer by the length of the cable.
fn is_nearer(port: &GraphPort, distance: u32, distances: &[u32]) -> bool {
    distances[port.node].checked_add(port.length) == Some(distance)
}

/// Returns the host whose cables lead to `host`: for a DIMM its host, otherwise `host` itself.
fn attached_to(host: u16, params: &HostParams) -> u16 {
    let HostKind::Server(server) = &params.kind else { return host };
    let mcn = server.sockets.first().and_then(|socket| socket.mcn.as_deref()).filter(|mcn| mcn.on_dimm);
    mcn.and_then(|mcn| Some(mcn.interfaces.first()?.host)).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a line of switches with the given numbers of hosts each, a host at the first and last switch, and a host
    /// behind that one.
    fn graph(hosts: &[usize]) -> ClusterGraph {
        let switches = hosts.len();
        let single: usize = hosts.iter().sum();
        let mut cables: Vec<(usize, usize)> = (1..switches).map(|switch| (switch - 1, switch)).collect();
        let mut next = switches;
        for (switch, &count) in hosts.iter().enumerate() {
            cables.extend((next..next + count).map(|host| (switch, host)));
            next += count;
        }
        cables.extend([(0, next), (next, switches - 1), (next, next + 1)]);
        let mut ports = vec![Vec::new(); switches + single + 2];
        for (cable, (a, b)) in cables.into_iter().enumerate() {
            let [port_a, port_b] = [ports[a].len() as u16, ports[b].len() as u16];
            let length = 1;
            ports[a].push(GraphPort { cable, end: 0, node: b, port: port_b, length });
            ports[b].push(GraphPort { cable, end: 1, node: a, port: port_a, length });
        }
        let attached_to = (0..ports.len()).collect();
        let forwarding = vec![0; ports.len()];
        ClusterGraph { switches, ports, attached_to, forwarding }
    }

    #[test]
    fn hosts_at_one_switch_are_reached_as_if_each_had_been_searched_for() {
        for hosts in [vec![3], vec![2, 0, 3], vec![1, 1], vec![0, 4, 2, 1]] {
            let graph = graph(&hosts);
            for (node, routes) in graph.shortest(1).iter().enumerate() {
                let Some(routes) = routes else { continue };
                for host in graph.switches..graph.ports.len() {
                    let to = (host - graph.switches) as u16;
                    let mut shortest_ports = Vec::new();
                    graph.shortest_ports(node, host, &graph.distances(host), &mut shortest_ports);
                    assert_eq!(routes.ports(to), shortest_ports, "{hosts:?}: from {node} to {host}");
                }
            }
        }
    }

    #[test]
    fn only_nodes_with_a_choice_have_routes() {
        let graph = graph(&[500, 500]);
        let routes = graph.shortest(1);
        let choosing: Vec<usize> = (0..routes.len()).filter(|&node| routes[node].is_some()).collect();
        assert_eq!(choosing, [0, 1, 1002]);
    }
}
