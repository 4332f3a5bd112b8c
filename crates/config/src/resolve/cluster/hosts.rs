//! `[host.*]`: servers and endpoints.

use super::super::source::Source;
use super::cores::ClusterCores;
use super::dimms::Dimms;
use super::host_keys::{check_keys, check_start, fidelity};
use super::host_names::HostNames;
use super::servers::{self, HostServers};
use super::table;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{ClusterSpec, Fidelity, HostKindSpec};
use std::path::Path;

/// The hosts of a cluster before their network is attached. Each part is by the number of a host.
pub(super) struct Hosts {
    pub(super) names: HostNames,
    pub(super) servers: HostServers,
    /// Roles of the cores, which flows and jobs assign.
    pub(super) cores: ClusterCores,
    /// Hosts that are DIMMs in slots of others.
    pub(super) dimms: Dimms,
}

/// Resolves the tables of hosts, and adds the notes about them.
pub(super) fn resolve(
    spec: &ClusterSpec,
    source: &Source,
    base_dir: &Path,
    notes: &mut Vec<String>,
) -> Result<Hosts, Issue> {
    let (mut names, mut servers, mut cores) = (HostNames::default(), HostServers::default(), ClusterCores::default());
    for (name, host) in &spec.host {
        check_keys(&table("host", name), host)?;
        check_start(name, host, spec.host.keys())?;
        let server = match host.kind {
            HostKindSpec::Endpoint => None,
            HostKindSpec::Server | HostKindSpec::Dimm => Some(servers::resolve(name, host, source, base_dir, notes)?),
        };
        names.add(name, host.count)?;
        let owners = server.as_ref().map(|server| &server.workloads.owners[..]);
        cores.add(owners, fidelity(host) == Fidelity::Line, host.count);
        servers.add(server, host.count);
    }
    if names.count() < 2 && spec.job.is_empty() {
        return Err(Issue::new(Code::WrongCount, "host", "one host is no cluster; two or more are wanted"));
    }
    names.check()?;
    let dimms = Dimms::resolve(spec, &names, &servers)?;
    Ok(Hosts { names, servers, cores, dimms })
}
