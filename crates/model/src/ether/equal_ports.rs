//! Flows of hosts with several equal ports: they are assigned to these ports round robin, where a hash could assign all
//! of them to one port.

use super::routes::{ClusterGraph, Routes};
use crate::params::ClusterParams;
use std::collections::BTreeMap;

/// Ports of a switch with cables to the same host.
struct ParallelPorts {
    switch: usize,
    ports: Vec<u16>,
}

impl ClusterGraph {
    /// Assigns the flows of each host with several ports round robin to equal ones: to those by which the host sends,
    /// and to those by which a switch reaches it. A flow with a path of its own (`via`) has one already.
    pub(super) fn assign_equal_ports(&self, cluster: &ClusterParams, routes: &mut [Option<Routes>]) {
        let hosts = 0..cluster.hosts.len();
        let parallel: Vec<Vec<ParallelPorts>> = hosts.map(|host| self.parallel_ports(self.host(host))).collect();
        // Flows that each host has sent by equal ports so far, and flows that may come to it.
        let mut before = vec![(0, 0); cluster.hosts.len()];
        for (number, flow) in (0..).zip(&cluster.flows).filter(|(_, flow)| flow.via.is_empty()) {
            for (host, peer) in [(flow.from, flow.to), (flow.to, flow.from)] {
                let (node, (sent, arrived)) = (self.host(host.into()), &mut before[usize::from(host)]);
                if self.ports[node].len() < 2 {
                    continue;
                }
                if let Some(routes) = &mut routes[node] {
                    let equal = routes.ports(peer);
                    if equal.len() > 1 {
                        let port = equal[*sent % equal.len()];
                        routes.assigned.push((number, peer, port));
                        *sent += 1;
                    }
                }
                for ParallelPorts { switch, ports } in &parallel[usize::from(host)] {
                    if let Some(routes) = &mut routes[*switch] {
                        routes.assigned.push((number, host, ports[*arrived % ports.len()]));
                    }
                }
                *arrived += 1;
            }
        }
    }

    /// Returns the switches with several cables to a host.
    fn parallel_ports(&self, host: usize) -> Vec<ParallelPorts> {
        let mut ports: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
        for port in self.ports[host].iter().filter(|port| port.node < self.switches) {
            ports.entry(port.node).or_default().push(port.port);
        }
        let several = ports.into_iter().filter(|(_, ports)| ports.len() > 1);
        several.map(|(switch, ports)| ParallelPorts { switch, ports }).collect()
    }
}
