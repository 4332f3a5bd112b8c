//! `[flow.*]`: flows between hosts.

use super::cables::spans;
use super::classes::class_of;
use super::dimms::Dimms;
use super::draft::{DrawnFlows, FlowDraft, FLOWS_MAX};
use super::drawn::{self, stream_of, Network};
use super::fabric::Fabric;
use super::host_names::HostNames;
use super::hosts::Hosts;
use super::idle_cores;
use super::pairs::Sides;
use super::places::place;
use super::replay::{self, Replayed};
use super::sums::Engines;
use super::{datagrams, files, forward, jobs, moves, packets, service, size_file, table, transport, ways};
use crate::code::Code;
use crate::content::place_of;
use crate::error::Issue;
use crate::plan::RunPlan;
use crate::units::{format, shorten, Dimension};
use hostnet_params::{
    ClusterSpec, CoreList, DatagramPatternSpec, FlowKindSpec, FlowParams, FlowSpec, JobParams, OtherRequests,
    OtherSpec, Size, Time, Traffic, Transport,
};
use std::collections::BTreeMap;
use std::path::Path;

/// Latest start time of a flow, in ps.
const START_MAX_PS: u64 = 1_000_000_000_000_000;

/// The flows of a cluster.
pub(super) struct Flows {
    pub(super) params: Vec<FlowParams>,
    pub(super) classes: Vec<String>,
    pub(super) jobs: Vec<JobParams>,
    /// Engines of switches that sum up vectors for the flows.
    pub(super) engines: Engines,
    /// Largest MTU of the flows of each host, in bytes.
    pub(super) mtu_bytes: Vec<Option<u32>>,
    /// Notes about captures.
    pub(super) notes: Vec<String>,
}

pub(super) fn resolve(
    spec: &mut ClusterSpec,
    all: &mut Hosts,
    fabric: &Fabric,
    base_dir: &Path,
    run: &RunPlan,
) -> Result<Flows, Issue> {
    let Hosts { names: hosts, servers, cores, dimms } = &mut *all;
    let mut classes = Vec::new();
    let (mut drafts, mut notes) = (Vec::new(), Vec::new());
    let ClusterSpec { flow, transport, network, .. } = spec;
    transport.iter().try_for_each(|(name, transport)| transport::check_keys(name, transport))?;
    // A forwarding flow needs the pairs of the flows that it takes, so those come first.
    let order = forward::order(flow)?;
    let mut numbers = BTreeMap::new();
    for name in &order.names {
        let Some(flow) = flow.get_mut(name) else { continue };
        let path = table("flow", name);
        if let Some(file) = &mut flow.pcap {
            *file = place_of(base_dir, file, &format!("{path}.pcap"))?;
        }
        let mtu = mtu_of(&path, flow, hosts, dimms, network.mtu)?;
        size_file::read_all(&path, flow, base_dir)?;
        packets::name_sizes(&path, flow)?;
        // A replay that a server sends on arrives there as datagrams.
        let carried = if order.replays.contains(name) {
            datagrams::transport(&path, flow)?
        } else {
            carried(&path, flow, transport, mtu)?
        };
        let class = flow.class.get_or_insert_with(|| name.clone());
        let class = class_of(&mut classes, class, &format!("{path}.class"))?;
        // By name, so that a new flow leaves the draws of the others as they are.
        let stream = stream_of(name);
        let network = Network { hosts, servers, cores, fabric, run, stream };
        let takes = forward::taken(flow, &numbers);
        let Replayed { packets, note } = replay::read(&path, flow, mtu)?;
        notes.extend(note);
        let mut draft = draft(path, flow, class, carried, &network, (&drafts, takes, packets))?;
        numbers.insert(name.clone(), drafts.len());
        if let Traffic::Service(service) = &mut draft.flow.traffic {
            service.number = drafts.len() as u32;
        }
        drafts.push(draft);
    }
    let total: usize = drafts.iter().map(|draft| draft.drawn.flows()).sum();
    if total > FLOWS_MAX {
        let message = format!("{total} flows in all; at most {FLOWS_MAX} are allowed");
        return Err(Issue::new(Code::TooMany, "flow", message));
    }
    // The descriptors of a NIC hold the largest packet of all flows at its host.
    let mut mtu_bytes = vec![None; hosts.count()];
    for draft in &drafts {
        for &(from, to) in &draft.drawn.pairs {
            for host in [from, to] {
                mtu_bytes[host] = mtu_bytes[host].max(Some(draft.flow.mtu_bytes));
            }
        }
    }
    let mut params = place(&drafts, hosts, servers, cores)?;
    notes.extend(idle_cores::of_flows(&drafts, &params));
    let mut engines = Engines::new(hosts.count());
    let jobs = jobs::resolve(spec, all, (fabric, &mut engines), &mut classes, (&mut params, &mut notes), base_dir)?;
    // Flows of jobs cross the rings, too, so they are there first.
    all.dimms.fit(&mut params, &classes, spec, &all.names)?;
    let of_jobs = params.iter().filter(|flow| matches!(flow.traffic, Traffic::Messages(_)));
    let largest = mtu_bytes.iter().flatten().copied().chain(of_jobs.map(|flow| flow.mtu_bytes)).max();
    fabric.check_packets(largest.unwrap_or(spec.network.mtu.0 as u32))?;
    Ok(Flows { params, classes, jobs, engines, mtu_bytes, notes })
}

/// Returns the MTU of a table of flows: the given one, that of the rings if all flows use rings only, or that of the
/// network.
fn mtu_of(path: &str, flow: &mut FlowSpec, hosts: &HostNames, dimms: &Dimms, of_network: Size) -> Result<u32, Issue> {
    if dimms.any() && flow.mtu.is_none() {
        let [from, to] = [(&flow.from, "from"), (&flow.to, "to")];
        let [from, to] = [from, to].map(|(names, key)| hosts.find_all(names, &format!("{path}.{key}")));
        let (from, to) = (from?, to?);
        let pairs: Vec<_> = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to))).collect();
        flow.mtu = dimms.mtu(&pairs);
    }
    Ok(flow.mtu.get_or_insert(of_network).0 as u32)
}

/// Resolves the transport of a table of flows and the keys that depend on it.
fn carried(
    path: &str,
    flow: &mut FlowSpec,
    transports: &BTreeMap<String, hostnet_params::TransportSpec>,
    mtu_bytes: u32,
) -> Result<Transport, Issue> {
    let at = format!("{path}.transport");
    let rdma = matches!(flow.kind, FlowKindSpec::Write | FlowKindSpec::Read);
    if matches!(flow.kind, FlowKindSpec::Datagram | FlowKindSpec::Packets | FlowKindSpec::Forward) {
        return datagrams::transport(path, flow);
    }
    if flow.kind == FlowKindSpec::Replay {
        return match (&flow.transport, flow.buffer) {
            (None, None) => Ok(Transport::Raw),
            (None, Some(_)) => Err(Issue::new(
                Code::NoEffect,
                format!("{path}.buffer"),
                "has an effect only on captures that are sent on",
            )),
            (Some(_), _) => {
                Err(Issue::new(Code::NoEffect, at, "has no effect: packets of a capture are sent as they are"))
            }
        };
    }
    let name = flow.transport.get_or_insert_with(|| if rdma { "roce" } else { "dctcp" }.to_string());
    let found = transport::find(transports, name, &at)?;
    let kind = format!("{path}.kind");
    match (flow.kind, transport::is_roce(found)) {
        (FlowKindSpec::Write | FlowKindSpec::Read, false) => {
            let message = format!("{} is TCP; RDMA needs \"roce\" or \"dcqcn\"", shorten(name));
            Err(Issue::between(Code::RequiresKey, &[&at, &kind], message))
        }
        (FlowKindSpec::Rpc | FlowKindSpec::Service, true) => {
            let message = format!("{} is RoCE; requests and answers need TCP", shorten(name));
            Err(Issue::between(Code::RequiresKey, &[&at, &kind], message))
        }
        _ => transport::resolve(name, found, mtu_bytes, &format!("{path}.mtu")),
    }
}

fn draft(
    path: String,
    spec: &mut FlowSpec,
    class: u8,
    transport: Transport,
    network: &Network,
    (before, takes, replayed): (&[FlowDraft], Vec<usize>, Vec<(u64, u32)>),
) -> Result<FlowDraft, Issue> {
    let Network { hosts, servers, fabric, .. } = *network;
    let priority = transport::priority(&transport);
    check_keys(&path, spec)?;
    if spec.deaf.is_some() && matches!(transport, Transport::Roce(_)) {
        let message = "has no effect over RoCE: no application reads what it brings";
        return Err(Issue::between(Code::NoEffect, &[&format!("{path}.deaf"), &format!("{path}.transport")], message));
    }
    let mut flow = FlowParams {
        class,
        from: 0,
        to: 0,
        from_core: 0,
        to_core: 0,
        traffic: traffic(&path, spec, &transport, replayed)?,
        transport,
        start_ps: spec.start.0,
        deaf_ps: spec.deaf.map(|span| spans(&[span], &format!("{path}.deaf"))).transpose()?.map(|spans| spans[0]),
        moves: Vec::new(),
        sendfile: None,
        via: Vec::new(),
        priority: *spec.priority.get_or_insert(priority),
        mtu_bytes: spec.mtu.map_or(0, |Size(bytes)| bytes as u32),
        compress: [false; 2],
    };
    let cores = [&spec.from_cores, &spec.to_cores].map(|list| list.as_ref().map(|CoreList(cores)| cores.clone()));
    let Time(stagger_ps) = spec.stagger;
    let drawn = match spec.kind {
        FlowKindSpec::Forward => forward::drawn(&path, spec, network, before, &takes)?,
        _ => drawn(&path, spec, network)?,
    };
    check_pairs(&path, spec, network, &drawn.pairs)?;
    let services = before.iter().filter(|draft| matches!(draft.flow.traffic, Traffic::Service(_))).count();
    service::place(&path, spec, &drawn.pairs, hosts, servers, services, &mut flow.traffic)?;
    flow.moves = moves::resolve(&path, spec, &flow.transport, &drawn.pairs, hosts, network.cores)?;
    flow.sendfile = files::resolve(&path, spec, &flow.transport, &drawn.pairs, hosts, servers)?;
    flow.via = ways::find_path(fabric, &spec.via, &drawn.pairs, hosts, &path)?;
    let flows = drawn.flows() as u64;
    if stagger_ps.saturating_mul(flows).saturating_add(flow.start_ps) > START_MAX_PS {
        let message = format!("the last of {flows} flows would begin after {}", format(START_MAX_PS, Dimension::Time));
        return Err(Issue::between(
            Code::OutOfRange,
            &[&format!("{path}.stagger"), &format!("{path}.count"), &format!("{path}.start")],
            message,
        ));
    }
    Ok(FlowDraft { path, drawn, flow, stagger_ps, cores, takes })
}

/// Checks that every key belongs to the kind of flow.
fn check_keys(path: &str, spec: &FlowSpec) -> Result<(), Issue> {
    use FlowKindSpec::{Bulk, Datagram, Forward, Packets, Read, Replay, Rpc, Service, Write};
    let keys: [(&str, bool, &[FlowKindSpec], &str); 23] = [
        ("move", !spec.moves.is_empty(), &[Bulk, Rpc], "\"bulk\" and \"rpc\""),
        ("sendfile", spec.sendfile.is_some(), &[Bulk], "\"bulk\""),
        ("sizes", spec.sizes.is_some(), &[Bulk, Write, Read, Packets], "\"bulk\", \"write\", \"read\" and \"packets\""),
        ("load", spec.load.is_some(), &[Bulk, Write, Read], "\"bulk\", \"write\" and \"read\""),
        ("deaf", spec.deaf.is_some(), &[Bulk, Rpc], "\"bulk\" and \"rpc\""),
        ("bytes", spec.bytes.is_some(), &[Bulk, Write, Read], "\"bulk\", \"write\" and \"read\""),
        ("pattern", spec.pattern.is_some(), &[Datagram], "\"datagram\""),
        ("size", spec.size.is_some(), &[Datagram], "\"datagram\""),
        ("rate", spec.rate.is_some(), &[Datagram, Packets], "\"datagram\" and \"packets\""),
        ("arrivals", spec.arrivals.is_some(), &[Packets], "\"packets\""),
        ("takes", spec.takes.is_some(), &[Forward], "\"forward\""),
        ("function", spec.function.is_some(), &[Forward], "\"forward\""),
        ("work", spec.work.is_some(), &[Forward], "\"forward\""),
        ("timeout", spec.timeout.is_some(), &[Datagram], "\"datagram\"; that of RoCE stands with its transport"),
        ("buffer", spec.buffer.is_some(), &[Datagram, Packets, Forward, Replay], "UDP"),
        ("request", spec.request.is_some(), &[Rpc, Service, Datagram], "\"rpc\", \"service\" and \"datagram\""),
        ("response", spec.response.is_some(), &[Rpc, Service, Datagram], "\"rpc\", \"service\" and \"datagram\""),
        ("service", spec.service.is_some(), &[Service], "\"service\""),
        ("other", spec.other.is_some(), &[Rpc], "\"rpc\""),
        (
            "in_flight",
            spec.in_flight.is_some(),
            &[Rpc, Service],
            "\"rpc\" and \"service\"; that of RoCE stands with its transport",
        ),
        ("think", spec.think.is_some(), &[Rpc, Datagram], "\"rpc\" and \"datagram\""),
        ("pcap", spec.pcap.is_some(), &[Replay], "\"replay\""),
        ("scale", spec.scale.is_some(), &[Replay], "\"replay\""),
    ];
    match keys.into_iter().find(|(_, given, kinds, _)| *given && !kinds.contains(&spec.kind)) {
        Some((key, _, _, kinds)) => {
            let message = format!("has an effect only with kind = {kinds}");
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.kind")], message))
        }
        None => Ok(()),
    }
}

fn traffic(
    path: &str,
    spec: &mut FlowSpec,
    transport: &Transport,
    replayed: Vec<(u64, u32)>,
) -> Result<Traffic, Issue> {
    let lacks = |key: &str, message: &str| Issue::new(Code::MissingKey, format!("{path}.{key}"), message);
    let bytes = spec.bytes.map_or(u64::MAX, |Size(bytes)| bytes);
    match spec.kind {
        FlowKindSpec::Bulk | FlowKindSpec::Write => Ok(Traffic::Bulk { bytes }),
        FlowKindSpec::Read => Ok(Traffic::Read { bytes }),
        FlowKindSpec::Datagram => datagrams::traffic(path, spec),
        FlowKindSpec::Packets => packets::traffic(path, spec),
        FlowKindSpec::Forward => Ok(forward::traffic(spec)),
        FlowKindSpec::Service => service::traffic(path, spec),
        FlowKindSpec::Rpc => {
            let request = spec
                .request
                .ok_or_else(|| lacks("request", "missing; give the bytes of a request such as \"128 B\""))?;
            Ok(Traffic::Rpc {
                request_bytes: request.0,
                response_bytes: spec.response.get_or_insert(request).0,
                other: spec.other.as_ref().map(other),
                in_flight: *spec.in_flight.get_or_insert(1),
                think_ps: spec.think.get_or_insert(Time(0)).0,
            })
        }
        FlowKindSpec::Replay => Ok(match transport {
            Transport::Udp(_) => packets::given(&replayed),
            _ => Traffic::Replay { packets: replayed },
        }),
    }
}

/// Returns the second kind of requests. Seeds are set later, when flows are numbered.
fn other(spec: &OtherSpec) -> OtherRequests {
    OtherRequests {
        share: (spec.share * f64::from(u32::MAX)).round() as u32,
        request_bytes: spec.request.0,
        response_bytes: spec.response.0,
        // Set when all flows are numbered (`seeded`).
        seed: 0,
    }
}

/// Resolves the senders, receivers, number, start times and sizes of the flows of a table.
fn drawn(path: &str, spec: &FlowSpec, network: &Network) -> Result<DrawnFlows, Issue> {
    let hosts = network.hosts;
    let from = hosts.find_all(&spec.from, &format!("{path}.from"))?;
    let to = hosts.find_all(&spec.to, &format!("{path}.to"))?;
    drawn::resolve(&Sides { path, from: &from, to: &to, hosts }, spec, network)
}

/// Checks that these pairs of hosts can exchange the traffic of a table of flows.
fn check_pairs(path: &str, spec: &FlowSpec, network: &Network, pairs: &[(usize, usize)]) -> Result<(), Issue> {
    let Network { hosts, cores, fabric, .. } = network;
    let (from_path, to_path) = (format!("{path}.from"), format!("{path}.to"));
    for &(from, to) in pairs {
        let name = |at: usize| shorten(hosts.name(at));
        if from == to {
            let message = format!("{} sends to itself", name(from));
            return Err(Issue::between(Code::SendsInCircle, &[&to_path, &from_path], message));
        }
        if spec.kind == FlowKindSpec::Replay && cores.of_host(from).is_some() {
            let message = format!("{} is a server; packets of a capture are sent by an endpoint", name(from));
            return Err(Issue::between(Code::WrongHostKind, &[&from_path, &format!("{path}.kind")], message));
        }
        if spec.pattern == Some(DatagramPatternSpec::Generate) && cores.of_host(from).is_none() {
            let message = format!(
                "{} is an endpoint; a core of a server generates packets: from an endpoint, pattern = \"open\" sends \
                 them",
                name(from)
            );
            return Err(Issue::between(Code::WrongHostKind, &[&from_path, &format!("{path}.pattern")], message));
        }
        if !fabric.joins(from, to) {
            let message = format!("no way of cables and switches leads from {} to {}", name(from), name(to));
            return Err(Issue::between(Code::Unreachable, &[&to_path, &from_path], message));
        }
    }
    Ok(())
}
