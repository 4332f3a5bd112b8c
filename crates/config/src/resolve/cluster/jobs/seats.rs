//! Placement of ranks: at endpoints, or on cores of servers, at most one rank per core.

use crate::code::Code;
use crate::error::Issue;
use crate::resolve::cluster::cores::{ClusterCores, HostCores};
use crate::resolve::cluster::host_names::HostNames;
use crate::resolve::cluster::servers::HostServers;
use crate::resolve::Resolved;
use crate::units::shorten;
use hostnet_params::{JobSpec, RankCore};
use std::collections::{BTreeMap, BTreeSet};

const FS_PER_S: f64 = 1e15;
const IPC: f64 = 1.0;

/// The server of a rank, as messages name it.
struct RankServer<'a> {
    name: &'a str,
    /// Path of the server's table.
    table: &'a str,
    host: usize,
}

/// Cores that run ranks, as pairs of host and core.
pub(super) type Taken = BTreeSet<(usize, u32)>;

/// Assigns cores to the ranks of a job; none if all ranks are at endpoints.
pub(super) fn take(
    path: &str,
    spec: &mut JobSpec,
    placed: &[usize],
    hosts: &HostNames,
    servers: &HostServers,
    free: &mut ClusterCores,
    taken: &mut Taken,
) -> Result<Vec<RankCore>, Issue> {
    let at_servers = placed.iter().filter(|&&host| servers.is_server(host)).count();
    check_works(path, spec, at_servers == placed.len())?;
    if at_servers == 0 {
        return without_servers(path, spec).map(|()| Vec::new());
    }
    let ipc = *spec.ipc.get_or_insert(IPC);
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let mut seats = Vec::with_capacity(placed.len());
    for &host in placed {
        let number = counts.entry(host).or_default();
        let seat = match (servers.of_host(host), free.of_host_mut(host)) {
            (Some(server), Some(free)) => {
                let at = RankServer { name: hosts.name(host), table: &hosts.table_path(host), host };
                check_server(path, &at, server, free)?;
                let core = core(path, spec, &at, server, *number)?;
                let frequency = server.spec.core.frequency.0 as f64;
                claim(path, &at, core, free, taken)?;
                RankCore { core, instruction_fs: (FS_PER_S / (frequency * ipc)).round().max(1.0) as u64 }
            }
            _ => RankCore::default(),
        };
        *number += 1;
        seats.push(seat);
    }
    Ok(seats)
}

/// Checks that a job with ranks at endpoints only has no key of servers.
fn without_servers(path: &str, spec: &JobSpec) -> Result<(), Issue> {
    let keys = [("cores", spec.cores.is_some()), ("ipc", spec.ipc.is_some())];
    match keys.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => {
            let message = format!("{key} has an effect only at servers; all ranks are at endpoints");
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.hosts")], message))
        }
        None => Ok(()),
    }
}

/// Checks that steps with instructions or memory accesses run on cores.
fn check_works(path: &str, spec: &JobSpec, all_at_servers: bool) -> Result<(), Issue> {
    if super::is_archetype(spec.kind) && !all_at_servers {
        let message =
            "its work is lines of memory; its ranks are at servers, and endpoints have neither cores nor memory";
        return Err(Issue::between(Code::WrongHostKind, &[&format!("{path}.hosts"), &format!("{path}.kind")], message));
    }
    for (number, step) in spec.steps.iter().enumerate() {
        let Some(key) = step.key_of_servers() else { continue };
        let at = format!("{path}.steps[{number}].{key}");
        if !all_at_servers {
            let message = format!(
                "steps[{number}].{key} has an effect only at servers; endpoints have neither cores nor memory: \
                 give compute"
            );
            return Err(Issue::between(Code::WrongHostKind, &[&at, &format!("{path}.hosts")], message));
        }
    }
    Ok(())
}

/// Checks that ranks can run on a server.
fn check_server(path: &str, at: &RankServer, server: &Resolved, cores: &HostCores) -> Result<(), Issue> {
    let (name, table) = (shorten(at.name).to_string(), at.table);
    let issue = |code: Code, key: &str, message: String| {
        Err(Issue::between(code, &[&format!("{path}.hosts"), &format!("{table}.{key}")], message))
    };
    if !cores.may_be_shared() {
        return issue(
            Code::NeedsLineFidelity,
            "fidelity",
            format!("{name} is not simulated line by line; ranks need fidelity = \"line\""),
        );
    }
    let sockets = server.server.sockets.len();
    if sockets > 1 {
        return issue(
            Code::NotSupported,
            "sockets",
            format!("{name} has {sockets} sockets; ranks are at servers of one"),
        );
    }
    if server.server.socket().cache.is_none() {
        return issue(
            Code::RequiresKey,
            "cache.enabled",
            format!("{name} has no caches; ranks need cache.enabled = true"),
        );
    }
    Ok(())
}

/// Returns the core of rank number `number` of a server.
fn core(path: &str, spec: &JobSpec, at: &RankServer, server: &Resolved, number: usize) -> Result<u32, Issue> {
    let (name, table) = (shorten(at.name).to_string(), at.table);
    match &spec.cores {
        Some(cores) => cores.0.get(number).copied().ok_or_else(|| {
            let message = format!("{} cores, and more ranks at {name}: a rank has a core of its own", cores.0.len());
            Issue::between(Code::TooManyCores, &[&format!("{path}.cores"), &format!("{path}.hosts")], message)
        }),
        None => {
            let count: u32 = server.server.sockets.iter().map(|socket| socket.core.count).sum();
            (number < count as usize).then_some(number as u32).ok_or_else(|| {
                let message = format!("{name} has {count} cores, and more ranks: a rank has a core of its own");
                let keys = ["ranks", "ranks_per_host", "hosts"].map(|key| format!("{path}.{key}"));
                Issue::between(
                    Code::TooManyCores,
                    &[&keys[0], &keys[1], &keys[2], &format!("{table}.core.count")],
                    message,
                )
            })
        }
    }
}

/// Assigns a core of a server to a rank.
fn claim(path: &str, at: &RankServer, core: u32, cores: &mut HostCores, taken: &mut Taken) -> Result<(), Issue> {
    let key = format!("{path}.cores");
    // A core has one rank, of whichever job.
    if !taken.insert((at.host, core)) {
        let name = shorten(at.name);
        let message = format!("core {core} of {name} has a rank already; give others with {key}");
        return Err(Issue::between(Code::CoreTaken, &[&key, &format!("{path}.hosts")], message));
    }
    cores.claim(core, &key, at.table)
}
