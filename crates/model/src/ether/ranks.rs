//! The ranks and reducers of jobs at an endpoint, and the ends that belong to each.

use super::flow_end::FlowEnd;
use super::sums::SwitchSums;
use crate::flow::{Rank, RankLink};
use crate::params::{ClusterParams, JobParams, Traffic};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An end that belongs to no rank.
pub(super) const NONE: u32 = u32::MAX;

/// Ranks and reducers at an endpoint; reducers stand for the engine of a switch that sums vectors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EndpointRanks {
    pub(super) ranks: Vec<Rank>,
    /// Rank or reducer that each end belongs to, by its number at this endpoint, the rank at the other end, and the
    /// number of the connection. Numbers of reducers follow those of the ranks.
    pub(super) of_ends: Vec<(u32, u32, u32)>,
    /// For each end, the endpoint at its other end, and the least time of a bit to there, in ps; empty if no rank
    /// executes operations.
    pub(super) peers: Vec<(ComponentId, u64)>,
    /// Time of the pending event of each rank.
    pub(super) set: Vec<Option<Time>>,
    pub(super) sums: SwitchSums,
}

impl EndpointRanks {
    /// Creates the ranks and reducers of all jobs at a host; none if there are none. `part` returns the component of
    /// another host.
    pub(super) fn new(
        cluster: &ClusterParams,
        host: u16,
        ends: &[FlowEnd],
        part: impl Fn(u16) -> ComponentId,
    ) -> Option<Box<Self>> {
        let mut numbers = BTreeMap::new();
        for (job, params) in (0..).zip(&cluster.jobs) {
            for (rank, _) in (0..).zip(&params.hosts).filter(|(_, &at)| at == host) {
                let next = numbers.len() as u32;
                numbers.insert((job, rank), next);
            }
        }
        let mut of_ends = vec![(NONE, NONE, 0); ends.len()];
        let mut by_ranks = BTreeMap::new();
        for (index, end) in (0..).zip(ends) {
            let flow = &cluster.flows[end.flow() as usize];
            let Traffic::Messages(channel) = flow.traffic else { continue };
            let (job, own, other) = channel.at(flow.from == host);
            by_ranks.insert((job, own, other, channel.lane), index);
            let rank = numbers.get(&(job, own)).copied().unwrap_or(NONE);
            of_ends[index as usize] = (rank, other, channel.lane);
        }
        let sums = SwitchSums::new(cluster, host, |job, own, other| by_ranks.get(&(job, own, other, 0)).copied());
        // Members of a job are numbered ranks first, then reducers.
        for (number, reducer) in (numbers.len() as u32..).zip(&sums.reducers) {
            let (job, own) = reducer.number();
            for (_, &end) in by_ranks.range((job, own, 0, 0)..=(job, own, u32::MAX, u32::MAX)) {
                of_ends[end as usize].0 = number;
            }
        }
        let rank = |&(job, rank): &(u32, u32)| {
            let link = |to: u32, lane: u32| {
                let local = numbers.get(&(job, to)).map(|&number| RankLink::Local(number));
                local.or_else(|| by_ranks.get(&(job, rank, to, lane)).map(|&end| RankLink::End(end)))
            };
            let params = &cluster.jobs[job as usize];
            Rank::new(job, params, rank, |to| link(to, 0)).executing(params, link)
        };
        let ranks: Vec<Rank> = numbers.keys().map(rank).collect();
        let set = ranks.iter().map(Rank::wakes_at).collect();
        let peers = match cluster.jobs.iter().any(JobParams::has_operations) {
            true => peers(cluster, host, ends, part),
            false => Vec::new(),
        };
        (!ranks.is_empty() || !sums.reducers.is_empty()).then(|| Box::new(Self { ranks, of_ends, peers, set, sums }))
    }

    /// Returns the index of the reducer with this number; none for the number of a rank.
    pub(super) fn reducer(&self, number: u32) -> Option<u32> {
        let reducer = (number as usize).checked_sub(self.ranks.len())?;
        (reducer < self.sums.reducers.len()).then_some(reducer as u32)
    }
}

/// Returns for each end at a host the endpoint at its other end, and the least time of a bit to there, in ps.
fn peers(
    cluster: &ClusterParams,
    host: u16,
    ends: &[FlowEnd],
    part: impl Fn(u16) -> ComponentId,
) -> Vec<(ComponentId, u64)> {
    let latencies_ps = cluster.least_latencies_ps(host);
    let peer = |end: &FlowEnd| {
        let flow = &cluster.flows[end.flow() as usize];
        let other = if flow.from == host { flow.to } else { flow.from };
        (part(other), latencies_ps[usize::from(other)])
    };
    ends.iter().map(peer).collect()
}
