//! Flows that carry the messages of a job.

use super::{gro, in_network};
use crate::code::Code;
use crate::error::Issue;
use crate::resolve::cluster::draft::FLOWS_MAX;
use crate::resolve::cluster::fabric::Fabric;
use crate::resolve::cluster::host_names::HostNames;
use crate::resolve::cluster::servers::HostServers;
use crate::resolve::cluster::transport;
use crate::units::shorten;
use hostnet_params::{FlowParams, JobParams, RankChannelParams, Traffic, Transport};

/// Transport of the messages of a job.
pub(super) struct Flow {
    pub(super) job: u32,
    pub(super) class: u8,
    pub(super) mtu_bytes: u32,
    pub(super) carried: Transport,
    /// Transport of messages between an endpoint and a server, with coalesced acknowledgements.
    pub(super) merged: Transport,
    /// True if engines of NICs compress packets. With an `aggregator`, only packets to that rank are compressed.
    pub(super) compresses: bool,
    pub(super) aggregator: Option<u32>,
}

impl Flow {
    /// Adds a flow for every two communicating ranks at different hosts.
    pub(super) fn add(
        &self,
        path: &str,
        job: &JobParams,
        hosts: &HostNames,
        servers: &HostServers,
        fabric: &Fabric,
        flows: &mut Vec<FlowParams>,
    ) -> Result<(), Issue> {
        for ([low, high], lane) in pairs(job) {
            let [from, to] = [low, high].map(|rank| job.host_of(rank));
            // Ranks of one host exchange messages in its memory.
            if from == to {
                continue;
            }
            // Switches that add vectors are connected to all hosts of the job.
            let of_ranks = (high as usize) < job.hosts.len();
            if of_ranks && !fabric.joins(from.into(), to.into()) {
                let name = |host: u16| shorten(hosts.name(usize::from(host)));
                let message = format!("no way of cables and switches leads from {} to {}", name(from), name(to));
                return Err(Issue::new(Code::Unreachable, format!("{path}.hosts"), message));
            }
            if flows.len() == FLOWS_MAX {
                let message = format!("more than {FLOWS_MAX} flows in all, with one for each two ranks");
                return Err(Issue::new(Code::TooMany, path, message));
            }
            flows.push(FlowParams {
                class: self.class,
                from,
                to,
                from_core: job.core_of(low),
                to_core: job.core_of(high),
                transport: match of_ranks && gro::is_mixed(servers, from, to) {
                    true => self.merged.clone(),
                    false => self.carried.clone(),
                },
                traffic: Traffic::Messages(RankChannelParams { job: self.job, ranks: [low, high], lane }),
                start_ps: job.start_ps,
                deaf_ps: None,
                moves: Vec::new(),
                sendfile: None,
                via: Vec::new(),
                priority: transport::priority(&self.carried),
                mtu_bytes: self.mtu_bytes,
                // With an aggregator only gradients are compressed, not the weights that it answers with.
                compress: [high, low].map(|to| self.compresses && self.aggregator.is_none_or(|rank| rank == to)),
            });
        }
        Ok(())
    }
}

/// Returns the pairs of ranks and switches that exchange messages in ascending order, the lower number first, each with
/// the number of its connection. They are not collected, as too many are refused.
fn pairs(job: &JobParams) -> impl Iterator<Item = ([u32; 2], u32)> + '_ {
    let above = |low: u32| {
        let lanes = job.lanes_of(low).into_iter();
        lanes.filter_map(move |(high, lane)| (high > low).then_some(([low, high], lane)))
    };
    let of_switches = in_network::pairs(job).into_iter().map(|pair| (pair, 0));
    (0..job.hosts.len() as u32).flat_map(above).chain(of_switches)
}
