//! The ranks and reducers of jobs at an endpoint, and the ends that belong to each.

use super::flow_end::FlowEnd;
use super::sums::SwitchSums;
use crate::flow::{Rank, RankLink};
use crate::params::{ClusterParams, Traffic};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An end that belongs to no rank.
pub(super) const NONE: u32 = u32::MAX;

/// Ranks and reducers at an endpoint; reducers stand for the engine of a switch that sums vectors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct EndpointRanks {
    pub(super) ranks: Vec<Rank>,
    /// Rank or reducer that each end belongs to, by its number at this endpoint, and the rank at the other end.
    /// Numbers of reducers follow those of the ranks.
    pub(super) of_ends: Vec<(u32, u32)>,
    /// Time of the pending event of each rank.
    pub(super) set: Vec<Option<Time>>,
    pub(super) sums: SwitchSums,
}

impl EndpointRanks {
    /// Creates the ranks and reducers of all jobs at a host; none if there are none.
    pub(super) fn new(cluster: &ClusterParams, host: u16, ends: &[FlowEnd]) -> Option<Box<Self>> {
        let mut numbers = BTreeMap::new();
        for (job, params) in (0..).zip(&cluster.jobs) {
            for (rank, _) in (0..).zip(&params.hosts).filter(|(_, &at)| at == host) {
                let next = numbers.len() as u32;
                numbers.insert((job, rank), next);
            }
        }
        let mut of_ends = vec![(NONE, NONE); ends.len()];
        let mut by_ranks = BTreeMap::new();
        for (index, end) in (0..).zip(ends) {
            let flow = &cluster.flows[end.flow() as usize];
            let Traffic::Messages(channel) = flow.traffic else { continue };
            let (job, own, other) = channel.at(flow.from == host);
            by_ranks.insert((job, own, other), index);
            of_ends[index as usize] = (numbers.get(&(job, own)).copied().unwrap_or(NONE), other);
        }
        let sums = SwitchSums::new(cluster, host, |job, own, other| by_ranks.get(&(job, own, other)).copied());
        // Members of a job are numbered ranks first, then reducers.
        for (number, reducer) in (numbers.len() as u32..).zip(&sums.reducers) {
            let (job, own) = reducer.number();
            for (_, &end) in by_ranks.range((job, own, 0)..=(job, own, u32::MAX)) {
                of_ends[end as usize].0 = number;
            }
        }
        let rank = |&(job, rank): &(u32, u32)| {
            Rank::new(job, &cluster.jobs[job as usize], rank, |to| {
                let local = numbers.get(&(job, to)).map(|&number| RankLink::Local(number));
                local.or_else(|| by_ranks.get(&(job, rank, to)).map(|&end| RankLink::End(end)))
            })
        };
        let ranks: Vec<Rank> = numbers.keys().map(rank).collect();
        let set = ranks.iter().map(Rank::wakes_at).collect();
        (!ranks.is_empty() || !sums.reducers.is_empty()).then(|| Box::new(Self { ranks, of_ends, set, sums }))
    }

    /// Returns the index of the reducer with this number; none for the number of a rank.
    pub(super) fn reducer(&self, number: u32) -> Option<u32> {
        let reducer = (number as usize).checked_sub(self.ranks.len())?;
        (reducer < self.sums.reducers.len()).then_some(reducer as u32)
    }
}
