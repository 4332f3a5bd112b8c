//! Order of the nodes of a network, and of the flows at them.

use super::super::routes::ClusterGraph;
use crate::params::ClusterParams;
use hostnet_kernel::ComponentId;

/// Returns the switches and endpoints in the order of their components. Each switch is followed by the endpoints
/// cabled to it, by the first of their cables that lead to a switch, so that a rack is a contiguous range. Endpoints
/// without a switch come last.
pub(super) fn order(cluster: &ClusterParams, graph: &ClusterGraph, servers: &[Option<ComponentId>]) -> Vec<usize> {
    let switches = cluster.switches.len();
    let mut racks: Vec<Vec<usize>> = vec![Vec::new(); switches];
    let mut others = Vec::new();
    for host in (0..servers.len()).filter(|&host| servers[host].is_none()) {
        let node = graph.host(host);
        match graph.ports[node].iter().find(|port| port.node < switches) {
            Some(port) => racks[port.node].push(node),
            None => others.push(node),
        }
    }
    let racks = racks.into_iter().enumerate().flat_map(|(switch, rack)| std::iter::once(switch).chain(rack));
    racks.chain(others).collect()
}

/// Returns the flows that begin or end at each host, in ascending order.
pub(super) fn flows_of_hosts(cluster: &ClusterParams) -> Vec<Vec<u32>> {
    let mut flows = vec![Vec::new(); cluster.hosts.len()];
    for (number, flow) in (0..).zip(&cluster.flows) {
        flows[usize::from(flow.from)].push(number);
        // A flow of a host with itself has one entry.
        if flow.to != flow.from {
            flows[usize::from(flow.to)].push(number);
        }
    }
    flows
}
