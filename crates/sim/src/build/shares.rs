//! How a world is shared out among processes.

use crate::build::world::servers_at;
use hostnet_config::Plan;
use hostnet_model::ether::cut;
use hostnet_model::params::{Fidelity, HostKind, HostParams};

/// What a loaded server weighs, in ports of a network at their rate: it handles about as many events.
const LINE_SERVER: u64 = 200;
/// The same of one whose memory has rates.
const FLUID_SERVER: u64 = 10;

/// The partitions of a run, and which process has each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shares {
    /// Names of the servers that are partitions, which come first.
    pub servers: Vec<String>,
    /// What each partition weighs, in ports of a network.
    pub weights: Vec<u64>,
    /// The process that has each partition.
    pub homes: Vec<usize>,
    /// Simulated time between two meetings of the processes in ps; none when nothing crosses.
    pub window_ps: Option<u64>,
}

impl Shares {
    /// How a plan is shared out among `ranks` processes of `threads` threads each. There may be processes without any
    /// partition.
    #[must_use]
    pub fn of(plan: &Plan, ranks: usize, threads: usize) -> Self {
        let cluster = &plan.cluster;
        let servers: Vec<&HostParams> = cluster.hosts.iter().filter(|host| is_server(host)).collect();
        let mut weights: Vec<u64> = servers.iter().map(|host| weight(host)).collect();
        let mut window_ps = None;
        if !cluster.cables.is_empty() {
            let cut = cut(cluster, &servers_at(cluster), ranks * threads);
            weights.extend(cut.ports);
            window_ps = cut.window_ps;
        }
        let homes = homes(&weights, ranks);
        Self { servers: servers.iter().map(|host| host.name.clone()).collect(), weights, homes, window_ps }
    }

    /// What each process has to do, in ports of a network.
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

/// Shares partitions out: each, the heaviest first, goes to the process that has least to do.
fn homes(weights: &[u64], ranks: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&partition| std::cmp::Reverse(weights[partition]));
    let mut loads = vec![(0_u64, 0_usize); ranks];
    let mut homes = vec![0; weights.len()];
    for partition in order {
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
