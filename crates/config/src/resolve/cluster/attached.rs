//! Attachment of the hosts to their network, once its flows are known.

use super::super::attach;
use super::super::checked;
use super::super::die;
use super::super::dimm;
use super::super::fidelity::check_parts;
use super::super::pool;
use super::super::{effective, functions, net_host, plan_error, server, Resolved};
use super::super::{interrupts, ncap, power};
use super::compress;
use super::cores::HostCores;
use super::flows::Flows;
use super::host_keys::{endpoint, fidelity};
use super::hosts::Hosts;
use crate::code::Code;
use crate::error::Issue;
use hostnet_params::{
    ClusterSpec, EndpointParams, Fidelity, HostKind, HostParams, HostSpec, ServerParams, StackParams, Time,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Spreads the seed of a run over its servers: 2^64 divided by the golden ratio.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hosts that are complete, with their network attached.
pub(super) struct Attached {
    pub(super) params: Vec<HostParams>,
    /// Tables of hosts with every value written out.
    pub(super) effective: BTreeMap<String, HostSpec>,
    pub(super) ignored: Vec<String>,
    pub(super) unvalidated: Vec<String>,
}

/// Attaches the hosts to the network.
pub(super) fn attach(
    hosts: &Hosts,
    spec: &ClusterSpec,
    flows: &Flows,
    forwarding_ports: u16,
    seed: u64,
    base_dir: &Path,
) -> Result<Attached, Issue> {
    let Hosts { names, servers, .. } = hosts;
    let mut params = Vec::new();
    let mut engines = compress::Engines::default();
    for host in 0..names.count() {
        let of_host = &spec.host[&names.table_of(host).name];
        let kind = match servers.of_host(host) {
            None => HostKind::Endpoint(EndpointParams { forwarding_ports, ..endpoint(of_host) }),
            Some(resolved) => {
                let seed = seed.wrapping_add(SEED_STEP.wrapping_mul(host as u64));
                let server = attached_server(host, resolved, hosts, spec, flows)?;
                HostKind::Server(Box::new(ServerParams { seed, ..server }))
            }
        };
        let compress = engines.of_host(names, servers, &spec.host, host, base_dir)?;
        params.push(HostParams { name: names.name(host).to_string(), kind, fidelity: fidelity(of_host), compress });
    }
    // Lenders may come after their borrowers, so all hosts are there first.
    pool::hand_out(&servers.of_pool(names), &mut params)?;
    let (mut effective, mut ignored, mut all_unvalidated) = (BTreeMap::new(), Vec::new(), Vec::new());
    if spec.network.scale_up.is_some() {
        all_unvalidated.push("network: scale-up fabrics have not been compared with measurements".to_string());
    }
    for table in names.tables() {
        // The hosts of a table are alike, so the first stands for all.
        let (first, of_table) = (table.members.start, &spec.host[&table.name]);
        let resolved = servers.of_host(first);
        effective.insert(table.name.clone(), complete(of_table, resolved)?);
        ignored.extend(power::notes_of_host(&table.name, &params[first]));
        ignored.extend(ncap::for_all(&table.name, &params[first].kind));
        let Some(resolved) = resolved else { continue };
        let reasons = [unvalidated(resolved, of_table, base_dir)?, attach::unvalidated(resolved.spec.nic.as_ref())];
        all_unvalidated.extend(reasons.into_iter().flatten().map(|reason| format!("{}: {reason}", table.name)));
    }
    Ok(Attached { params, effective, ignored, unvalidated: all_unvalidated })
}

/// Returns the server of a host with its network, and with room for the memory that its flows need.
fn attached_server(
    host: usize,
    resolved: &Resolved,
    hosts: &Hosts,
    spec: &ClusterSpec,
    flows: &Flows,
) -> Result<ServerParams, Issue> {
    let within = |issue: Issue| issue.within(&hosts.names.table_path(host));
    let of_flows = flows.needs(host);
    let mut server = connected(host, resolved, hosts, spec, flows).map_err(within)?;
    server::share_memory(&mut server, of_flows).map_err(within)?;
    server::check_footprint(&server, of_flows).map_err(|issue| {
        let mut issue = within(issue);
        let table = if of_flows.ranks > 0 { "job" } else { "flow" };
        issue.paths.splice(0..0, of_flows.any().then(|| table.to_string()));
        issue
    })?;
    Ok(server)
}

/// Returns the server of a host with its NIC or rings, and with the cores that its flows have.
fn connected(
    host: usize,
    resolved: &Resolved,
    hosts: &Hosts,
    spec: &ClusterSpec,
    flows: &Flows,
) -> Result<ServerParams, Issue> {
    let Hosts { names, cores, dimms, .. } = hosts;
    let of_host = &spec.host[&names.table_of(host).name];
    let mut cores = cores.of_host(host).map(HostCores::of_network).unwrap_or_default();
    let mcn = dimms.params(host, resolved, of_host.mcn.as_ref().and_then(|mcn| mcn.core));
    // The driver of the rings processes packets, so its core is one of the network.
    if let Some(core) = mcn.as_ref().map(|mcn| mcn.core).filter(|core| !cores.contains(core)) {
        cores.push(core);
    }
    let mtu = flows.mtu_bytes[host].unwrap_or(spec.network.mtu.0 as u32);
    let mut server = networked(resolved, cores.clone(), mtu, dimms.slot(host).is_some())?;
    server.socket_mut().mcn = mcn.map(Box::new);
    let fidelity = fidelity(of_host);
    check_parts(&server, fidelity, "fidelity")?;
    if fidelity == Fidelity::Fluid {
        check_rates(&server, &cores, flows.files(host))?;
    }
    let nic_bytes = server.nic().map_or(0, server::nic_bytes);
    dimm::check(&server, flows.rdma_ends(host), flows.needs(host).files, nic_bytes)?;
    Ok(server)
}

/// Returns a server with its NIC, and with network processing on `cores`.
fn networked(resolved: &Resolved, cores: Vec<u32>, mtu_bytes: u32, on_dimm: bool) -> Result<ServerParams, Issue> {
    let spec = &resolved.spec;
    let lacks = |key: &str, what: &str| {
        let message = format!("the server has no {what}; the preset cascade-lake-hostcc has one");
        Issue::between(Code::MissingKey, &[key, "preset"], message)
    };
    if spec.nic.is_none() && !on_dimm {
        return Err(lacks("nic", "NIC"));
    }
    let stack = spec.stack.as_ref().ok_or_else(|| lacks("stack", "costs of network traffic"))?;
    let mut params = resolved.server.clone();
    if on_dimm {
        interrupts::check_absent(spec)?;
        params.stack = Some(net_host::stack(stack, cores, true, spec.prefetch.stream));
        return Ok(params);
    }
    let nic = spec.nic.as_ref().ok_or_else(|| lacks("nic", "NIC"))?;
    let cores = net_host::queue_cores(stack, cores);
    let mut card = net_host::nic(nic, spec, &params.socket().pcie, cores.len() as u32, mtu_bytes)?;
    let socket = functions::place(&mut card, nic, spec)?;
    params.sockets[socket].dimm = dimm::resolve(nic, spec, &mut card)?;
    params.sockets[socket].nic = Some(card);
    die::place_nic(&mut params, spec);
    let stack = net_host::stack(stack, cores, nic.ddio, spec.prefetch.stream);
    params.stack = Some(StackParams { receive_queues: nic.queues, ..stack });
    params.moderation = interrupts::moderation(nic);
    params.ncap = ncap::params(nic, spec)?;
    params.control = spec.control.as_ref().map(net_host::control).transpose()?.flatten();
    Ok(params)
}

/// Checks that a server with a fluid memory has its network on the first socket, which has the fluid memory.
fn check_rates(server: &ServerParams, cores: &[u32], files: usize) -> Result<(), Issue> {
    let first = server.socket();
    if server.sockets.len() > 1 && files > 0 {
        let message = "rates are those of socket 0, and files (flow.<name>.sendfile) may lie on others: \
            give one socket, or simulate it line by line";
        return Err(Issue::between(Code::NeedsLineFidelity, &["fidelity", "sockets"], message));
    }
    if first.nic.as_ref().is_none_or(|nic| !nic.functions.is_empty()) {
        let message = "rates are those of socket 0; a NIC with a function on another one needs \"line\"";
        return Err(Issue::between(Code::NeedsLineFidelity, &["fidelity", "nic.functions"], message));
    }
    let named = server.stack.iter().flat_map(|stack| &stack.cores);
    match named.chain(cores).find(|&&core| core >= first.core.count) {
        Some(core) => {
            let message = format!(
                "rates are those of socket 0, and core {core} serves the network on another one; \
                give its flows cores up to {}, or simulate it line by line",
                first.core.count - 1
            );
            Err(Issue::new(Code::NeedsLineFidelity, "fidelity", message))
        }
        None => Ok(()),
    }
}

/// Returns a table of hosts with every value written out.
fn complete(spec: &HostSpec, server: Option<&Resolved>) -> Result<HostSpec, Issue> {
    let mut host = spec.clone();
    match server {
        None => {
            let endpoint = endpoint(spec);
            host.latency = Some(Time(endpoint.latency_ps));
            host.queue = Some(endpoint.queue_packets);
        }
        Some(resolved) => {
            let written = effective(&resolved.spec, &resolved.workloads.effective, &resolved.server);
            let tree = serde_json::to_value(&written).map_err(plan_error)?;
            host.server = tree.as_object().cloned().unwrap_or_default();
            host.server.retain(|key, _| key != "server" && key != "run");
            host.sockets = Some(resolved.server.sockets.len() as u32);
            host.fidelity = host.fidelity.or(Some(Fidelity::Line));
            host.mcn = host.mcn.map(|mcn| mcn.complete(resolved.server.socket().core.count));
        }
    }
    Ok(host)
}

/// Returns the reason why the server of some hosts is not validated, if there is one.
fn unvalidated(resolved: &Resolved, spec: &HostSpec, base_dir: &Path) -> Result<Option<String>, Issue> {
    match &resolved.spec.server.unvalidated {
        Some(reason) => Ok(Some(reason.clone())),
        None => checked::left(resolved, spec.preset.as_deref(), base_dir),
    }
}
