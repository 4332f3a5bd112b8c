//! Sums of vectors by switches: the ranks of a host add their vectors along a tree. The first rank sends the sum to
//! its switch, and receives the sum of all ranks from the switch.

use super::program::Program;
use crate::code::Code;
use crate::error::Issue;
use crate::resolve::cluster::dimms::Dimms;
use crate::resolve::cluster::fabric::Fabric;
use crate::resolve::cluster::host_names::HostNames;
use crate::resolve::cluster::sums::{Engines, Tree};
use hostnet_params::{AlgorithmSpec, JobKindSpec, JobParams, JobSpec, ReducerParams};
use std::collections::{BTreeMap, BTreeSet};

/// The switches of a network, as a job uses them.
pub(super) struct Switches<'a> {
    pub(super) fabric: &'a Fabric,
    pub(super) engines: &'a mut Engines,
    /// Maximum data of a packet of the job, in bytes.
    pub(super) packet_bytes: u32,
    /// Headers of a packet without those of cables, in bytes.
    pub(super) header_bytes: u32,
    /// Latency of the transport of each host, in ps.
    pub(super) latencies_ps: &'a [u64],
}

/// Builds the reduction tree of a job that uses in-network sums, and registers the tree with the job's program.
pub(super) fn join(
    path: &str,
    spec: &JobSpec,
    placed: &[usize],
    hosts: &HostNames,
    dimms: &Dimms,
    switches: &mut Switches,
    program: &mut Program,
) -> Result<Vec<ReducerParams>, Issue> {
    if spec.algorithm != Some(AlgorithmSpec::InNetwork) || spec.kind != JobKindSpec::Allreduce {
        return Ok(Vec::new());
    }
    if spec.compress == Some(true) {
        let keys = [format!("{path}.compress"), format!("{path}.algorithm")];
        let message = "switches cannot add what NICs have made smaller";
        return Err(Issue::between(Code::ConflictingKeys, &[&keys[0], &keys[1]], message));
    }
    let mut of_host: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
    for (rank, &host) in (0..).zip(placed) {
        of_host.entry(host).or_default().push(rank);
    }
    let leaders: Vec<(u32, usize)> = of_host.iter().map(|(&host, ranks)| (ranks[0], host)).collect();
    let size = (program.ranks, switches.packet_bytes);
    let tree = Tree::new(path, &leaders, size, hosts, dimms, switches.fabric, switches.engines)?;
    let reducer = |ranks: &[u32]| tree.of_rank.get(&ranks[0]).copied();
    program.joined = of_host.into_values().map(|ranks| (reducer(&ranks), ranks)).map(|(to, own)| (own, to)).collect();
    Ok(tree.reducers)
}

/// Returns the pairs of reducers and ranks that exchange messages, by number.
pub(super) fn pairs(job: &JobParams) -> BTreeSet<[u32; 2]> {
    let numbers = job.hosts.len() as u32..;
    let with_output = numbers.zip(&job.reducers).filter_map(|(own, reducer)| Some([own, reducer.output?]));
    with_output.map(|[own, output]| [own.min(output), own.max(output)]).collect()
}

impl Program {
    /// Adds an all-reduce of the vectors of all ranks by switches.
    pub(super) fn in_network(&mut self, bytes: u64) {
        // Taken out meanwhile, as the steps are written to `self`.
        let joined = std::mem::take(&mut self.joined);
        // Each host has a group of few ranks, so that lists take less than parts.
        let lists_all = std::mem::replace(&mut self.lists_all, true);
        let several = || joined.iter().filter(|(ranks, _)| ranks.len() > 1);
        several().for_each(|(ranks, _)| self.tree_reduce(ranks, bytes));
        let phase = self.phase("in-network");
        for (ranks, to) in &joined {
            if let Some(switch) = *to {
                self.step(ranks[0], phase, 0, (switch, bytes), (switch, bytes));
            }
        }
        several().for_each(|(ranks, _)| self.tree_broadcast(ranks, bytes));
        (self.joined, self.lists_all) = (joined, lists_all);
    }
}
