//! Placement of flows on hosts and cores.

use super::cores::ClusterCores;
use super::draft::FlowDraft;
use super::host_names::HostNames;
use super::moves;
use super::servers::HostServers;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{FlowParams, Transport};
use std::collections::BTreeMap;

/// Assigns hosts and cores to every flow. Cores that the document gives come first, then tables in their order.
pub(super) fn place(
    drafts: &[FlowDraft],
    hosts: &HostNames,
    servers: &HostServers,
    cores: &mut ClusterCores,
) -> Result<Vec<FlowParams>, Issue> {
    // All named cores are claimed before a flow takes free ones.
    claim(drafts, hosts, servers, cores)?;
    let mut params: Vec<FlowParams> = Vec::new();
    let mut first = Vec::with_capacity(drafts.len());
    for draft in drafts {
        let taken = taken(draft, drafts, &first);
        first.push(params.len());
        // RDMA bypasses the cores.
        let needs_cores = !matches!(draft.flow.transport, Transport::Roce(_));
        let mut sides = [Side::default(), Side::default()];
        for &(from, to) in draft.drawn.pairs.iter().filter(|_| needs_cores) {
            for (side, host) in sides.iter_mut().zip([from, to]) {
                *side.flows.entry(host).or_default() += draft.drawn.count as usize;
            }
        }
        // A forwarding flow sends from the core that received the packet, so its first side takes none.
        let own = if draft.takes.is_empty() { 0 } else { 1 };
        for (side, which) in sides.iter_mut().zip(0..).skip(own) {
            side.take(draft, which, hosts, servers, cores)?;
        }
        let each = draft.drawn.pairs.iter().flat_map(|pair| std::iter::repeat_n(*pair, draft.drawn.count as usize));
        for (at, (from, to)) in each.enumerate() {
            let taken = taken.get(at).copied();
            params.push(FlowParams {
                from: from as u16,
                to: to as u16,
                from_core: taken.map_or_else(|| sides[0].next(from), |flow| params[flow].to_core),
                to_core: sides[1].next(to),
                start_ps: draft.start_ps(at),
                traffic: draft.traffic(at, taken),
                ..draft.flow.clone()
            });
        }
    }
    Ok(params)
}

/// Returns the numbers of the flows whose packets a table forwards; `first` are the first numbers of earlier tables.
fn taken(draft: &FlowDraft, drafts: &[FlowDraft], first: &[usize]) -> Vec<usize> {
    draft.takes.iter().flat_map(|&table| first[table]..first[table] + drafts[table].drawn.flows()).collect()
}

/// Returns the core list of the stack of a host, if the document gives one.
fn queue_cores(servers: &HostServers, host: usize) -> Option<&[u32]> {
    let cores = servers.of_host(host)?.spec.stack.as_ref()?.cores.as_ref()?;
    Some(&cores.0)
}

/// Assigns to the network the cores that the document gives for flows and queues.
fn claim(
    drafts: &[FlowDraft],
    hosts: &HostNames,
    servers: &HostServers,
    cores: &mut ClusterCores,
) -> Result<(), Issue> {
    for host in 0..hosts.count() {
        let path = hosts.table_path(host);
        let queues = queue_cores(servers, host).unwrap_or_default();
        if let Some(cores) = cores.of_host_mut(host) {
            queues.iter().try_for_each(|&core| cores.claim(core, &format!("{path}.stack.cores"), &path))?;
        }
    }
    for draft in drafts {
        moves::claim(draft, hosts, cores)?;
        for (which, key) in ["from_cores", "to_cores"].into_iter().enumerate() {
            let Some(list) = &draft.cores[which] else { continue };
            let at = format!("{}.{key}", draft.path);
            if matches!(draft.flow.transport, Transport::Roce(_)) {
                return Err(Issue::new(Code::NoEffect, at, "has no effect: RoCE needs no core"));
            }
            for &(from, to) in &draft.drawn.pairs {
                let host = [from, to][which];
                let path = hosts.table_path(host);
                let Some(cores) = cores.of_host_mut(host) else {
                    let message = format!("has no effect: the endpoint {path} has no cores");
                    return Err(Issue::new(Code::WrongHostKind, at, message));
                };
                list.iter().try_for_each(|&core| cores.claim(core, &at, &path))?;
            }
        }
    }
    Ok(())
}

/// One side, sender or receiver, of a table of flows.
#[derive(Default)]
struct Side {
    /// Number of flows at each host.
    flows: BTreeMap<usize, usize>,
    /// Cores at each server, and the number of flows that have been assigned one.
    cores: BTreeMap<usize, (Vec<u32>, usize)>,
}

impl Side {
    fn take(
        &mut self,
        draft: &FlowDraft,
        which: usize,
        hosts: &HostNames,
        servers: &HostServers,
        cores: &mut ClusterCores,
    ) -> Result<(), Issue> {
        for (&host, &flows) in &self.flows {
            let queues = queue_cores(servers, host).map(<[u32]>::to_vec);
            let path = hosts.table_path(host);
            let Some(free) = cores.of_host_mut(host) else { continue };
            let cores = match draft.cores[which].clone().or(queues) {
                Some(cores) => Some(cores),
                None => free.take(flows),
            };
            let Some(cores) = cores else {
                let advice = if free.may_be_shared() { ", so name those to share" } else { "" };
                let message = format!("no core of {path} is free for it; workloads have all of them{advice}");
                return Err(Issue::between(Code::TooManyCores, &[&draft.path, &path], message));
            };
            self.cores.insert(host, (cores, 0));
        }
        Ok(())
    }

    /// Returns the core of the next flow at a host; 0 if the host has no cores.
    fn next(&mut self, host: usize) -> u32 {
        let Some((cores, taken)) = self.cores.get_mut(&host) else { return 0 };
        *taken += 1;
        cores[(*taken - 1) % cores.len()]
    }
}
