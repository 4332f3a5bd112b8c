//! `[host.*]`: servers and endpoints.

use super::super::attach;
use super::super::checked;
use super::super::context::Context;
use super::super::die;
use super::super::dimm;
use super::super::pool;
use super::super::scaling;
use super::super::source::Source;
use super::super::{
    complete_server, effective, functions, net_host, plan_error, server, server_of, Complete, Resolved,
};
use super::super::{energy, expander, interrupts, ncap, power};
use super::compress;
use super::cores::HostCores;
use super::dimms::Dimms;
use super::flows::Flows;
use super::host_keys::{check_keys, check_start, endpoint, fidelity, named_preset};
use super::table;
use crate::code::Code;
use crate::error::{nearest, suggestion, Issue};
use crate::spec::{ClusterSpec, FidelitySpec, HostKindSpec, HostSpec, Time};
use crate::units::shorten;
use hostnet_model::params::{Fidelity, HostKind, HostParams, ServerParams, StackParams};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const HOSTS_MAX: usize = 16384;
/// Spreads the seed of a run over its servers: 2^64 divided by the golden ratio.
const SEED_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A table of hosts.
pub(super) struct Group {
    pub(super) name: String,
    /// Range of the numbers of its hosts.
    pub(super) members: std::ops::Range<usize>,
    server: Option<Resolved>,
}

/// A host before its flows are known.
pub(super) struct Host {
    pub(super) name: String,
    /// Number of the host's table.
    pub(super) group: usize,
    /// Roles of the cores of the host; `None` for an endpoint.
    pub(super) cores: Option<HostCores>,
}

/// Properties of a server that the placement of ranks depends on.
pub(super) struct Seats {
    pub(super) cores: u32,
    pub(super) sockets: usize,
    pub(super) has_caches: bool,
    /// Clock frequency of the cores, in Hz.
    pub(super) frequency: u64,
}

/// The hosts of a cluster, in the order of their names in the document.
pub(super) struct Hosts {
    pub(super) groups: Vec<Group>,
    pub(super) hosts: Vec<Host>,
    /// Longest ramp time of a job file, in ps.
    pub(super) ramp_ps: u64,
    ignored: Vec<String>,
    /// Hosts that are DIMMs in slots of others.
    pub(super) dimms: Dimms,
}

/// Hosts that are complete, with their network attached.
pub(super) struct Attached {
    pub(super) params: Vec<HostParams>,
    pub(super) effective: BTreeMap<String, HostSpec>,
    pub(super) ignored: Vec<String>,
    pub(super) unvalidated: Vec<String>,
}

impl Hosts {
    pub(super) fn resolve(spec: &ClusterSpec, source: &Source, base_dir: &Path) -> Result<Self, Issue> {
        let mut all =
            Hosts { groups: Vec::new(), hosts: Vec::new(), ramp_ps: 0, ignored: Vec::new(), dimms: Dimms::default() };
        for (name, host) in &spec.host {
            check_keys(&table("host", name), host)?;
            check_start(name, host, spec.host.keys())?;
            all.add(name, host, source, base_dir)?;
        }
        if all.hosts.len() < 2 && spec.job.is_empty() {
            return Err(Issue::new(Code::WrongCount, "host", "one host is no cluster; two or more are wanted"));
        }
        all.check_names()?;
        all.dimms = Dimms::resolve(spec, &all)?;
        Ok(all)
    }

    fn add(&mut self, name: &str, spec: &HostSpec, source: &Source, base_dir: &Path) -> Result<(), Issue> {
        let path = table("host", name);
        let server = match spec.kind {
            HostKindSpec::Endpoint => None,
            HostKindSpec::Server | HostKindSpec::Dimm => Some(self.server(name, spec, source, base_dir)?),
        };
        let sockets = server.as_ref().map_or(1, |server| server.server.sockets.len());
        if sockets > 1 && fidelity(spec) == Fidelity::Burst {
            let message = format!("a server of {sockets} sockets has no bursts; leave it out, or give \"fluid\"");
            return Err(Issue::new(Code::NotSupported, format!("{path}.fidelity"), message));
        }
        let has_mesh = server.as_ref().is_some_and(|server| server.spec.noc.is_some());
        if has_mesh && fidelity(spec) != Fidelity::Line {
            let message = "only lines travel over a mesh (noc): leave it out, or give \"line\"";
            let keys = ["fidelity", "noc"].map(|key| format!("{path}.{key}"));
            return Err(Issue::between(Code::NeedsLineFidelity, &[&keys[0], &keys[1]], message));
        }
        let first = self.hosts.len();
        for at in 0..spec.count {
            let name = if spec.count == 1 { name.to_string() } else { format!("{name}-{at}") };
            let cores = server
                .as_ref()
                .map(|server| HostCores::new(&server.workloads.owners, fidelity(spec) == Fidelity::Line));
            self.hosts.push(Host { name, group: self.groups.len(), cores });
        }
        if self.hosts.len() > HOSTS_MAX {
            let message = format!("more than {HOSTS_MAX} hosts in all");
            return Err(Issue::new(Code::TooMany, format!("{path}.count"), message));
        }
        self.groups.push(Group { name: name.to_string(), members: first..self.hosts.len(), server });
        Ok(())
    }

    fn server(&mut self, name: &str, spec: &HostSpec, source: &Source, base_dir: &Path) -> Result<Resolved, Issue> {
        let path = table("host", name);
        let mut given = Value::Object(spec.server.clone());
        given["server"] = serde_json::json!({});
        if let Some(preset) = &spec.preset {
            given["server"]["preset"] = preset.clone().into();
        }
        if let Some(sockets) = spec.sockets {
            given["server"]["sockets"] = sockets.into();
        }
        let at_host = |issue: Issue| named_preset(issue.within(&path), &path);
        let complete = complete_server(&given, spec.preset.as_deref(), base_dir).map_err(at_host)?;
        let Complete { mut tree, files, dropped } = complete;
        if let Some(tree) = tree.as_object_mut() {
            tree.entry("workload").or_insert_with(|| serde_json::json!({}));
        }
        let prefix = format!("{path}.");
        let given: Vec<String> =
            source.given.iter().filter_map(|path| path.strip_prefix(&prefix)).map(str::to_string).collect();
        let context = Context { base_dir, given: &given, workloads_min: 0 };
        let resolved = server_of(tree, &context, spec.preset.as_deref()).map_err(|issue| {
            let here = at_host(issue.clone());
            if source.wrote(&here) {
                here
            } else {
                at_host(files.iter().fold(issue, |issue, file| file.claim(issue)))
            }
        })?;
        self.ramp_ps = self.ramp_ps.max(resolved.workloads.ramp_ps);
        self.ignored
            .extend(dropped.iter().chain(&resolved.workloads.ignored).map(|text| format!("host.{name}: {text}")));
        let kept = scaling::notes(&resolved, spec.preset.as_deref(), base_dir).map_err(at_host)?;
        self.ignored.extend(kept.iter().map(|text| format!("{path}.{text}")));
        Ok(resolved)
    }

    fn check_names(&self) -> Result<(), Issue> {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, host) in self.hosts.iter().enumerate() {
            if let Some(other) = seen.insert(&host.name, at) {
                let tables = [other, at].map(|at| table("host", &self.groups[self.hosts[at].group].name));
                let message = format!("two hosts are named {}", shorten(&host.name));
                return Err(Issue::between(Code::Duplicate, &[&tables[0], &tables[1]], message));
            }
        }
        Ok(())
    }

    /// Returns the range of hosts that a name refers to: a single host, or all hosts of a table.
    pub(super) fn named(&self, name: &str, path: &str) -> Result<std::ops::Range<usize>, Issue> {
        if let Some(group) = self.groups.iter().find(|group| group.name == name) {
            return Ok(group.members.clone());
        }
        match self.hosts.iter().position(|host| host.name == name) {
            Some(at) => Ok(at..at + 1),
            None => {
                let known = self.groups.iter().map(|group| group.name.as_str());
                let names = self.hosts.iter().map(|host| host.name.as_str());
                let text = match nearest(name, names) {
                    Some(near) => format!("did you mean \"{near}\"?"),
                    None => suggestion(name, known),
                };
                Err(Issue::new(Code::DoesNotExist, path, format!("there is no host {}; {text}", shorten(name))))
            }
        }
    }

    /// Returns the resolved server of a host before its network is attached, or `None` for an endpoint.
    pub(super) fn resolved(&self, host: usize) -> Option<&Resolved> {
        self.groups[self.hosts[host].group].server.as_ref()
    }

    /// Returns the number of sockets of a host, if it is a server.
    pub(super) fn sockets(&self, host: usize) -> Option<usize> {
        let server = self.groups[self.hosts[host].group].server.as_ref()?;
        Some(server.server.sockets.len())
    }

    /// Returns the properties of a host that the placement of ranks depends on, or `None` for an endpoint.
    pub(super) fn seats(&self, host: usize) -> Option<Seats> {
        let server = self.groups[self.hosts[host].group].server.as_ref()?;
        Some(Seats {
            cores: server.server.sockets.iter().map(|socket| socket.core.count).sum(),
            sockets: server.server.sockets.len(),
            has_caches: server.server.socket().cache.is_some(),
            frequency: server.spec.core.frequency.0,
        })
    }

    /// Returns the path of a host's table.
    pub(super) fn table_of(&self, host: usize) -> String {
        table("host", &self.groups[self.hosts[host].group].name)
    }

    /// Attaches the hosts to the network.
    pub(super) fn attach(
        mut self,
        spec: &ClusterSpec,
        flows: &Flows,
        seed: u64,
        base_dir: &Path,
    ) -> Result<Attached, Issue> {
        let ignored = std::mem::take(&mut self.ignored);
        let mut attached =
            Attached { params: Vec::new(), effective: BTreeMap::new(), ignored, unvalidated: Vec::new() };
        let mut engines = compress::Engines::default();
        for (at, host) in self.hosts.iter().enumerate() {
            let group = &self.groups[host.group];
            let of_host = &spec.host[&group.name];
            let kind = match &group.server {
                None => HostKind::Endpoint(endpoint(of_host)),
                Some(resolved) => {
                    let mut cores = host.cores.as_ref().map(HostCores::of_network).unwrap_or_default();
                    let mcn = self.dimms.params(at, resolved, of_host.mcn.as_ref().and_then(|mcn| mcn.core));
                    if let Some(core) = mcn.as_ref().map(|mcn| mcn.core).filter(|core| !cores.contains(core)) {
                        cores.push(core);
                    }
                    let mtu = flows.mtu_bytes[at].unwrap_or(spec.network.mtu.0 as u32);
                    let within = |issue: Issue| issue.within(&table("host", &group.name));
                    let mut server =
                        networked(resolved, cores.clone(), mtu, self.dimms.slot(at).is_some()).map_err(within)?;
                    server.socket_mut().mcn = mcn.map(Box::new);
                    attach::check_lines(&server, fidelity(of_host)).map_err(within)?;
                    expander::check_lines(&server, fidelity(of_host)).map_err(within)?;
                    pool::check_lines(&server, fidelity(of_host)).map_err(within)?;
                    energy::check_lines(&server, fidelity(of_host)).map_err(within)?;
                    if fidelity(of_host) == Fidelity::Fluid {
                        check_rates(&server, &cores, flows.files(at)).map_err(within)?;
                    }
                    let of_flows = flows.needs(at);
                    let nic_bytes = server.nic().map_or(0, server::nic_bytes);
                    dimm::check(&server, flows.rdma_ends(at), of_flows.files, nic_bytes).map_err(within)?;
                    server::share_memory(&mut server, of_flows).map_err(within)?;
                    server::check_footprint(&server, of_flows).map_err(|issue| {
                        let mut issue = within(issue);
                        let table = if of_flows.ranks > 0 { "job" } else { "flow" };
                        issue.paths.splice(0..0, of_flows.any().then(|| table.to_string()));
                        issue
                    })?;
                    HostKind::Server(Box::new(ServerParams {
                        seed: seed.wrapping_add(SEED_STEP.wrapping_mul(at as u64)),
                        ..server
                    }))
                }
            };
            let compress = engines.of_host(&self, &spec.host, at, base_dir)?;
            attached.params.push(HostParams { name: host.name.clone(), kind, fidelity: fidelity(of_host), compress });
        }
        pool::hand_out(&self.pool(), &mut attached.params)?;
        for group in &self.groups {
            attached.effective.insert(group.name.clone(), complete(&spec.host[&group.name], group)?);
            let of_group = &attached.params[group.members.start];
            attached.ignored.extend(power::notes_of_host(&group.name, of_group));
            attached.ignored.extend(ncap::for_all(&group.name, &of_group.kind));
            let reason = unvalidated(group, &spec.host[&group.name], base_dir)?;
            let card = group.server.as_ref().and_then(|resolved| attach::unvalidated(resolved.spec.nic.as_ref()));
            let reasons = reason.into_iter().chain(card);
            attached.unvalidated.extend(reasons.map(|reason| format!("{}: {reason}", group.name)));
        }
        Ok(attached)
    }

    /// Returns the servers that take part in a memory pool.
    pub(super) fn pool(&self) -> Vec<pool::Member<'_>> {
        let member = |(number, host): (usize, &Host)| {
            let group = &self.groups[host.group];
            let spec = group.server.as_ref()?.spec.pool.as_ref()?;
            Some(pool::Member { host: number, table: table("host", &group.name), spec })
        };
        self.hosts.iter().enumerate().filter_map(member).collect()
    }

    /// Returns the frequency of the cores of a host, in Hz, if it is a server.
    pub(super) fn clock(&self, host: usize) -> Option<u64> {
        self.groups[self.hosts[host].group].server.as_ref().map(|server| server.spec.core.frequency.0)
    }

    /// Returns the explicit core list of the stack of a host, if it has one.
    pub(super) fn queue_cores(&self, host: usize) -> Option<&[u32]> {
        let stack = self.groups[self.hosts[host].group].server.as_ref()?.spec.stack.as_ref()?;
        stack.cores.as_ref().map(|cores| cores.0.as_slice())
    }
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

/// Returns a host with every value written out.
fn complete(spec: &HostSpec, group: &Group) -> Result<HostSpec, Issue> {
    let mut host = spec.clone();
    match &group.server {
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
            host.fidelity = host.fidelity.or(Some(FidelitySpec::Line));
            host.mcn = host.mcn.map(|mcn| mcn.complete(resolved.server.socket().core.count));
        }
    }
    Ok(host)
}

/// Returns the reason why the server of some hosts is not validated, if there is one.
fn unvalidated(group: &Group, spec: &HostSpec, base_dir: &Path) -> Result<Option<String>, Issue> {
    let Some(resolved) = &group.server else { return Ok(None) };
    match &resolved.spec.server.unvalidated {
        Some(reason) => Ok(Some(reason.clone())),
        None => checked::left(resolved, spec.preset.as_deref(), base_dir),
    }
}
