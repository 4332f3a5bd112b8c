//! Files that flows send without a copy (sendfile).

use super::super::sockets;
use super::host_names::HostNames;
use super::servers::HostServers;
use crate::code::Code;
use crate::error::Issue;
use crate::units::shorten;
use hostnet_params::{FlowSpec, Placement, Transport};

/// Returns the placement of the pages of files that a table of flows sends.
pub(super) fn resolve(
    path: &str,
    spec: &FlowSpec,
    transport: &Transport,
    pairs: &[(usize, usize)],
    hosts: &HostNames,
    servers: &HostServers,
) -> Result<Option<Placement>, Issue> {
    let Some(text) = &spec.sendfile else { return Ok(None) };
    let at = format!("{path}.sendfile");
    if !matches!(transport, Transport::Tcp(_)) {
        let message = "has no effect over RoCE: nothing is copied there";
        return Err(Issue::between(Code::NoEffect, &[&at, &format!("{path}.transport")], message));
    }
    let mut place = None;
    for &(from, _) in pairs {
        let Some(nodes) = servers.of_host(from).map(|resolved| sockets::Nodes::of_sockets(&resolved.server.sockets))
        else {
            let message = format!("{} is an endpoint, which has no memory", shorten(hosts.name(from)));
            return Err(Issue::between(Code::WrongHostKind, &[&at, &format!("{path}.from")], message));
        };
        let key = format!("{}.sockets", hosts.table_path(from));
        place = Some(sockets::placement(text, [&at, &key], nodes)?);
        if place == Some(Placement::Interleaved) && nodes.count() == 1 {
            let message = format!("\"interleave\" needs several nodes; {key} = 1: give \"local\", or more sockets");
            return Err(Issue::between(Code::RequiresKey, &[&at, &key], message));
        }
    }
    Ok(place)
}
