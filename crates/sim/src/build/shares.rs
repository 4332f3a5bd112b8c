//! Distributes the partitions of a world over processes.

use crate::build::world::servers_at;
use hostnet_config::Plan;
use hostnet_model::ether::cut;
use hostnet_model::params::{Fidelity, HostKind, HostParams};

/// Weight of a loaded server, in network ports at full rate: it handles about as many events.
const LINE_SERVER: u64 = 200;
/// Weight of a server with a fluid memory, in network ports at full rate.
const FLUID_SERVER: u64 = 10;

/// Partitions of a run, and the process that simulates each of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionShares {
    /// Names of the servers, whose partitions come first.
    pub servers: Vec<String>,
    /// Weight of each partition, in network ports.
    pub weights: Vec<u64>,
    /// Process of each partition.
    pub homes: Vec<usize>,
    /// Simulated time between two exchanges of the processes, in ps; `None` if nothing crosses between partitions.
    pub window_ps: Option<u64>,
}

impl PartitionShares {
    /// Distributes a plan over `ranks` processes of `threads` threads each. Some processes may get no partition.
    #[must_use]
    pub fn of(plan: &Plan, ranks: usize, threads: usize) -> Self {
        let cluster = &plan.cluster;
        let servers: Vec<&HostParams> = cluster.hosts.iter().filter(|host| is_server(host)).collect();
        let mut weights: Vec<u64> = servers.iter().map(|host| weight(host)).collect();
        let mut window_ps = None;
        if !cluster.cables.is_empty() {
            // The same cut as in the run, so that weights and partitions agree.
            let cut = cut(cluster, &servers_at(cluster), ranks * threads);
            weights.extend(cut.ports);
            window_ps = cut.window_ps;
        }
        let homes = homes(&weights, ranks);
        Self { servers: servers.iter().map(|host| host.name.clone()).collect(), weights, homes, window_ps }
    }

    /// Returns the load of each process, in network ports.
    #[must_use]
    pub fn loads(&self, ranks: usize) -> Vec<u64> {
        let mut loads = vec![0; ranks];
        self.homes.iter().zip(&self.weights).for_each(|(&home, weight)| loads[home] += weight);
        loads
    }
}

fn is_server(host: &HostParams) -> bool {
    matches!(host.kind, HostKind::Server(_))
}

fn weight(host: &HostParams) -> u64 {
    match host.fidelity {
        Fidelity::Line | Fidelity::Burst => LINE_SERVER,
        Fidelity::Fluid => FLUID_SERVER,
    }
}

/// Assigns partitions to processes. Each partition, the heaviest first, goes to the process with the least load.
fn homes(weights: &[u64], ranks: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    // Placing the heaviest first keeps every process within twice its even share.
    order.sort_by_key(|&partition| std::cmp::Reverse(weights[partition]));
    let mut loads = vec![(0_u64, 0_usize); ranks];
    let mut homes = vec![0; weights.len()];
    for partition in order {
        // Equal loads go to the process with fewer partitions.
        let least = (0..ranks).min_by_key(|&rank| loads[rank]).unwrap_or(0);
        loads[least] = (loads[least].0 + weights[partition], loads[least].1 + 1);
        homes[partition] = least;
    }
    homes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_process_has_more_than_twice_its_share(
            weights in prop::collection::vec(1_u64..1000, 1..40),
            ranks in 1_usize..6,
        ) {
            let mut loads = vec![0; ranks];
            homes(&weights, ranks).iter().zip(&weights).for_each(|(&home, weight)| loads[home] += weight);
            let even = weights.iter().sum::<u64>().div_ceil(ranks as u64).max(*weights.iter().max().unwrap_or(&0));
            prop_assert!(loads.iter().all(|&load| load <= 2 * even));
            prop_assert_eq!(loads.iter().filter(|&&load| load > 0).count(), ranks.min(weights.len()));
        }
    }
}
