//! Which port leads to a host: the shortest ways, a choice among equals that a flow keeps, and ways that flows are
//! given.

use crate::params::{ClusterParams, End};
use hostnet_kernel::mix;
use serde::{Deserialize, Serialize};

/// For each host the ports of a node that lie on a shortest way to it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Routes {
    /// Where the ports of each host begin in `ports`, and the end.
    starts: Vec<u32>,
    ports: Vec<u16>,
    /// The ports that flows are given to a host, in order.
    given: Vec<(u32, u16, u16)>,
    /// Differs from node to node, so that choices do not repeat along a way.
    salt: u64,
}

impl Routes {
    /// The port by which packets of `flow` from host `from` go on to host `to`; none when no cable leads there.
    #[must_use]
    #[inline]
    pub fn port(&self, flow: u32, from: u16, to: u16) -> Option<u16> {
        if !self.given.is_empty() {
            if let Ok(at) = self.given.binary_search_by_key(&(flow, to), |given| (given.0, given.1)) {
                return Some(self.given[at].2);
            }
        }
        let start = *self.starts.get(usize::from(to))? as usize;
        let end = *self.starts.get(usize::from(to) + 1)? as usize;
        match end - start {
            0 => None,
            1 => Some(self.ports[start]),
            count => Some(self.ports[start + choice(self.salt, flow, from, count)]),
        }
    }

    /// All ports that lie on a shortest way to a host.
    #[must_use]
    pub fn ports(&self, to: u16) -> &[u16] {
        &self.ports[self.starts[usize::from(to)] as usize..self.starts[usize::from(to) + 1] as usize]
    }
}

/// One of `count` equal ways. Both directions of a flow choose for themselves.
fn choice(salt: u64, flow: u32, from: u16, count: usize) -> usize {
    let hash = mix(salt ^ (u64::from(flow) << 16 | u64::from(from)));
    ((u128::from(hash) * count as u128) >> 64) as usize
}

/// The nodes of a cluster, numbered: switches, then hosts.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    switches: usize,
    /// Of each node its ports: the cable, the end of it that is here, and the node and port at the other end.
    pub(super) ports: Vec<Vec<PortOf>>,
}

/// A port of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PortOf {
    pub(super) cable: usize,
    pub(super) end: usize,
    pub(super) node: usize,
    pub(super) port: u16,
}

impl Graph {
    pub(super) fn new(cluster: &ClusterParams) -> Self {
        let switches = cluster.switches.len();
        let node = |end: End| match end {
            End::Switch(switch) => usize::from(switch),
            End::Host(host) => switches + usize::from(host),
        };
        let mut ports: Vec<Vec<PortOf>> = vec![Vec::new(); switches + cluster.hosts.len()];
        for (cable, params) in cluster.cables.iter().enumerate() {
            let [a, b] = params.ends.map(node);
            let port_a = ports[a].len() as u16;
            let port_b = ports[b].len() as u16 + u16::from(a == b);
            ports[a].push(PortOf { cable, end: 0, node: b, port: port_b });
            ports[b].push(PortOf { cable, end: 1, node: a, port: port_a });
        }
        Self { switches, ports }
    }

    /// The node of a host.
    pub(super) fn host(&self, host: usize) -> usize {
        self.switches + host
    }

    /// The routes of each node. Hosts do not forward.
    ///
    /// # Panics
    /// If no cable joins two neighbours on the way that a flow is given.
    pub(super) fn routes(&self, cluster: &ClusterParams) -> Vec<Routes> {
        let mut routes = self.shortest(cluster.seed);
        for (number, flow) in (0..).zip(&cluster.flows).filter(|(_, flow)| !flow.via.is_empty()) {
            let hosts = [flow.from, flow.to].map(|host| self.host(host.into()));
            let middle = flow.via.iter().map(|&switch| usize::from(switch));
            let way: Vec<usize> = [hosts[0]].into_iter().chain(middle).chain([hosts[1]]).collect();
            for pair in way.windows(2) {
                for (node, next, to) in [(pair[0], pair[1], flow.to), (pair[1], pair[0], flow.from)] {
                    let port = self.ports[node].iter().position(|port| port.node == next);
                    let port = port.expect("a cable joins neighbours on a way");
                    routes[node].given.push((number, to, port as u16));
                }
            }
        }
        routes.iter_mut().for_each(|routes| routes.given.sort_unstable());
        routes
    }

    fn shortest(&self, seed: u64) -> Vec<Routes> {
        let hosts = self.ports.len() - self.switches;
        let salt = |node: usize| mix(seed ^ mix(node as u64 + 1));
        let empty = |node| Routes { starts: vec![0], ports: Vec::new(), given: Vec::new(), salt: salt(node) };
        let mut routes: Vec<Routes> = (0..self.ports.len()).map(empty).collect();
        for host in 0..hosts {
            let distances = self.distances(self.host(host));
            for (node, routes) in routes.iter_mut().enumerate() {
                let nearer = |port: &PortOf| distances[port.node] < distances[node] && self.forwards(port.node, host);
                let ports = self.ports[node].iter().enumerate().filter(|(_, port)| nearer(port));
                routes.ports.extend(ports.map(|(index, _)| index as u16));
                routes.starts.push(routes.ports.len() as u32);
            }
        }
        routes
    }

    /// Whether what is for `host` may go to `node`.
    fn forwards(&self, node: usize, host: usize) -> bool {
        node < self.switches || node == self.host(host)
    }

    /// Cables between each node and `host`, through switches only; `u32::MAX` where there is no way.
    fn distances(&self, host: usize) -> Vec<u32> {
        let mut distances = vec![u32::MAX; self.ports.len()];
        distances[host] = 0;
        let mut reached = vec![host];
        let mut next = 0;
        while let Some(&node) = reached.get(next) {
            next += 1;
            if node >= self.switches && node != host {
                continue;
            }
            for port in &self.ports[node] {
                if distances[port.node] == u32::MAX {
                    distances[port.node] = distances[node] + 1;
                    reached.push(port.node);
                }
            }
        }
        distances
    }
}
