//! Memory of a host that its flows and ranks need.

use super::flows::Flows;
use crate::resolve::server::OfFlows;
use hostnet_params::{
    rdma_memory_bytes, shared_rank_bytes, FlowParams, JobParams, Traffic, Transport, BUFFER_ALIGNMENT,
};

impl Flows {
    /// Returns the number of flows that send a file from a host.
    pub(super) fn files(&self, host: usize) -> usize {
        self.params.iter().filter(|flow| flow.sendfile.is_some() && usize::from(flow.from) == host).count()
    }

    /// Returns the bytes of the ranks of jobs at a host, including the memory that ranks of a job share.
    fn ranks(&self, host: usize) -> u128 {
        let of_job = |job: &JobParams| {
            let ranks = job.hosts.iter().filter(|&&at| usize::from(at) == host).count() as u64;
            let each = u128::from(job.rank_layout().bytes.next_multiple_of(BUFFER_ALIGNMENT));
            let shared = shared_rank_bytes(ranks).next_multiple_of(BUFFER_ALIGNMENT);
            u128::from(ranks) * each + u128::from(shared)
        };
        let at_servers = self.jobs.iter().filter(|job| !job.cores.is_empty());
        at_servers.map(of_job).sum::<u128>() + self.regions(host)
    }

    /// Returns the number of ends of RoCE flows at a host.
    pub(super) fn rdma_ends(&self, host: usize) -> usize {
        self.over_roce(host).count()
    }

    /// Returns all memory that flows and ranks need at a host.
    pub(super) fn needs(&self, host: usize) -> OfFlows {
        // Regions of jobs have their own size and are counted with the ranks.
        let of_ranks = |flow: &&FlowParams| matches!(flow.traffic, Traffic::Messages(_));
        let rdma_ends = self.over_roce(host).filter(|flow| !of_ranks(flow)).count();
        OfFlows { rdma_ends, files: self.files(host), ranks: self.ranks(host) }
    }

    fn over_roce(&self, host: usize) -> impl Iterator<Item = &FlowParams> {
        let here = move |flow: &&FlowParams| usize::from(flow.from) == host || usize::from(flow.to) == host;
        self.params.iter().filter(here).filter(|flow| matches!(flow.transport, Transport::Roce(_)))
    }

    /// Returns the bytes of the regions of ranks with RoCE messages.
    fn regions(&self, host: usize) -> u128 {
        let ends = |job: &(u32, &JobParams)| {
            let of_job = |flow: &&FlowParams| matches!(flow.traffic, Traffic::Messages(to) if to.job == job.0);
            self.over_roce(host).filter(of_job).count() as u128
        };
        let bytes = |job: &JobParams| {
            let memory = rdma_memory_bytes(job.rdma_region_bytes());
            u128::from(memory.next_multiple_of(BUFFER_ALIGNMENT))
        };
        let jobs = (0..).zip(&self.jobs).map(|job| (ends(&job), job.1)).filter(|(ends, _)| *ends > 0);
        jobs.map(|(ends, job)| ends * bytes(job)).sum()
    }
}
