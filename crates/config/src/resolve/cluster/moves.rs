//! Threads of flows that migrate to other cores.

use super::cores::ClusterCores;
use super::draft::FlowDraft;
use super::host_names::HostNames;
use crate::code::Code;
use crate::error::Issue;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{EndSpec, FlowSpec, ThreadMigrationParams, Transport};

/// Resolves the migrations of a table of flows.
pub(super) fn resolve(
    path: &str,
    spec: &FlowSpec,
    transport: &Transport,
    pairs: &[(usize, usize)],
    hosts: &HostNames,
    cores: &ClusterCores,
) -> Result<Vec<ThreadMigrationParams>, Issue> {
    if !spec.moves.is_empty() && !matches!(transport, Transport::Tcp(_)) {
        let message = "has no effect over RoCE: it needs no core";
        return Err(Issue::between(Code::NoEffect, &[&format!("{path}.move"), &format!("{path}.transport")], message));
    }
    let has_cores = |host: usize| cores.of_host(host).is_some();
    let at_to = pairs.iter().all(|&(_, to)| has_cores(to));
    let mut moves: Vec<ThreadMigrationParams> = Vec::new();
    for (number, one) in spec.moves.iter().enumerate() {
        let at = format!("{path}.move[{number}]");
        let initiator = one.end.map_or(!at_to, |end| end == EndSpec::From);
        let end = |&(from, to): &(usize, usize)| if initiator { from } else { to };
        if let Some(host) = pairs.iter().map(end).find(|&host| !has_cores(host)) {
            let message = format!("{} is an endpoint, which has no cores", shorten(hosts.name(host)));
            return Err(Issue::new(Code::WrongHostKind, at, message));
        }
        let at_ps = one.at.0 .0;
        if let Some(before) = moves.iter().rfind(|before| before.initiator == initiator && before.at_ps >= at_ps) {
            let shown = |ps: u64| format(ps, Dimension::Time);
            let message = format!("{} is not after the move before it, at {}", shown(at_ps), shown(before.at_ps));
            return Err(Issue::new(Code::WrongOrder, format!("{at}.at"), message));
        }
        moves.push(ThreadMigrationParams { initiator, at_ps, core: one.core });
    }
    Ok(moves)
}

/// Assigns the cores that threads migrate to to the network.
pub(super) fn claim(draft: &FlowDraft, hosts: &HostNames, cores: &mut ClusterCores) -> Result<(), Issue> {
    for (number, one) in draft.flow.moves.iter().enumerate() {
        for &(from, to) in &draft.drawn.pairs {
            let host = if one.initiator { from } else { to };
            let path = hosts.table_path(host);
            if let Some(cores) = cores.of_host_mut(host) {
                cores.claim(one.core, &format!("{}.move[{number}].core", draft.path), &path)?;
            }
        }
    }
    Ok(())
}
