//! `[flow.*]` of kind "forward".

use super::draft::{DrawnFlows, FlowDraft};
use super::drawn::Network;
use super::table;
use crate::code::Code;
use crate::error::{suggestion, Issue};
use crate::units::shorten;
use hostnet_params::{FlowKindSpec, FlowSpec, ForwardFunction, ForwardParams, FunctionSpec, Names, Time, Traffic};
use std::collections::{BTreeMap, BTreeSet};

/// Order in which tables of flows are resolved.
pub(super) struct Order {
    /// Names of the tables: each table follows those whose packets it forwards.
    pub(super) names: Vec<String>,
    /// Captures whose packets are forwarded.
    pub(super) replays: BTreeSet<String>,
}

/// Returns the order in which tables are resolved, and the captures whose packets are forwarded.
pub(super) fn order(flows: &BTreeMap<String, FlowSpec>) -> Result<Order, Issue> {
    let mut taken_by: BTreeMap<&str, &str> = BTreeMap::new();
    let mut replays = BTreeSet::new();
    for (name, flow) in flows.iter().filter(|(_, flow)| flow.kind == FlowKindSpec::Forward) {
        let at = format!("{}.takes", table("flow", name));
        let Some(Names(takes)) = &flow.takes else {
            let message = "missing; give the flows whose packets are sent on, such as \"in\" for [flow.in]";
            return Err(Issue::new(Code::MissingKey, at, message));
        };
        for taken in takes {
            let kind = flows.get(taken).map(|flow| flow.kind).ok_or_else(|| {
                let known = flows.keys().map(String::as_str).filter(|known| known != name);
                Issue::new(
                    Code::DoesNotExist,
                    &at,
                    format!("there are no flows {}; {}", shorten(taken), suggestion(taken, known)),
                )
            })?;
            check_taken(&at, taken, &flows[taken])?;
            if let Some(other) = taken_by.insert(taken, name) {
                let message = format!("packets of {} are sent on by {} already", shorten(taken), shorten(other));
                return Err(Issue::between(
                    Code::Duplicate,
                    &[&at, &format!("{}.takes", table("flow", other))],
                    message,
                ));
            }
            if kind == FlowKindSpec::Replay {
                replays.insert(taken.clone());
            }
        }
    }
    Ok(Order { names: sorted(flows)?, replays })
}

/// Checks that the packets of a table can be forwarded: only packets without answers can.
fn check_taken(at: &str, name: &str, flow: &FlowSpec) -> Result<(), Issue> {
    use hostnet_params::DatagramPatternSpec::Ping;
    let fits = match flow.kind {
        FlowKindSpec::Packets | FlowKindSpec::Replay | FlowKindSpec::Forward => true,
        FlowKindSpec::Datagram => flow.pattern != Some(Ping),
        _ => false,
    };
    if fits {
        return Ok(());
    }
    let message = format!(
        "{} cannot be sent on; \"packets\", \"replay\", \"forward\" and datagrams that nobody answers can",
        shorten(name)
    );
    Err(Issue::between(Code::NotSupported, &[at, &format!("{}.kind", table("flow", name))], message))
}

/// Sorts tables: those that forward nothing in their order, then each table after those that it takes packets from.
fn sorted(flows: &BTreeMap<String, FlowSpec>) -> Result<Vec<String>, Issue> {
    let takes = |name: &String| flows[name].takes.iter().flat_map(|Names(names)| names);
    let (mut left, mut names): (Vec<&String>, Vec<String>) = (Vec::new(), Vec::new());
    for (name, flow) in flows {
        match flow.kind {
            FlowKindSpec::Forward => left.push(name),
            _ => names.push(name.clone()),
        }
    }
    while !left.is_empty() {
        let before = left.len();
        left.retain(|name| {
            let ready = takes(name).all(|taken| names.contains(taken));
            if ready {
                names.push((*name).clone());
            }
            !ready
        });
        // A round without progress: the flows that are left take each other in a circle.
        if left.len() == before {
            let all: Vec<String> = left.iter().map(|name| format!("{}.takes", table("flow", name))).collect();
            let all: Vec<&str> = all.iter().map(String::as_str).collect();
            let message = "what is sent on comes back to where it was taken: a loop";
            return Err(Issue::between(Code::SendsInCircle, &all, message));
        }
    }
    Ok(names)
}

/// Returns the numbers of the tables whose packets a table forwards.
pub(super) fn taken(flow: &FlowSpec, numbers: &BTreeMap<String, usize>) -> Vec<usize> {
    let names = flow.takes.iter().flat_map(|Names(names)| names);
    names.filter_map(|name| numbers.get(name).copied()).collect()
}

/// Returns the processing of a forwarded packet. Its incoming flow is set later, when flows are numbered.
pub(super) fn traffic(spec: &mut FlowSpec) -> Traffic {
    let function = match spec.function.get_or_insert_with(FunctionSpec::default) {
        FunctionSpec::L3f => ForwardFunction::Header,
        FunctionSpec::Dpi => ForwardFunction::Whole,
    };
    // The number of the taken flow follows when all flows are placed (`FlowDraft::traffic`).
    Traffic::Forward(ForwardParams { flow: u32::MAX, function, work_ps: spec.work.get_or_insert(Time(0)).0 })
}

/// Returns one flow per flow that is taken, from its destination to the hosts of `to`, assigned round robin.
pub(super) fn drawn(
    path: &str,
    spec: &FlowSpec,
    network: &Network,
    before: &[FlowDraft],
    takes: &[usize],
) -> Result<DrawnFlows, Issue> {
    check_keys(path, spec)?;
    let Network { hosts, cores, .. } = *network;
    let (from_path, takes_path) = (format!("{path}.from"), format!("{path}.takes"));
    let from = hosts.find_all(&spec.from, &from_path)?;
    let to = hosts.find_all(&spec.to, &format!("{path}.to"))?;
    let name = |at: usize| shorten(hosts.name(at));
    if let Some(&at) = from.iter().find(|&&at| cores.of_host(at).is_none()) {
        let message = format!("{} is an endpoint; a core of a server sends packets on", name(at));
        return Err(Issue::between(Code::WrongHostKind, &[&from_path, &format!("{path}.kind")], message));
    }
    if let Some(&at) = from.iter().find(|&&at| cores.of_host(at).is_some_and(|own| !own.may_be_shared())) {
        let host = hosts.table_path(at);
        let message = format!("{} is not simulated line by line, as a host that sends packets on is", name(at));
        return Err(Issue::between(Code::NeedsLineFidelity, &[&from_path, &format!("{host}.fidelity")], message));
    }
    let mut pairs = Vec::new();
    for draft in takes.iter().map(|&number| &before[number]) {
        let each = draft.drawn.pairs.iter().flat_map(|pair| std::iter::repeat_n(*pair, draft.drawn.count as usize));
        for (_, at) in each {
            if !from.contains(&at) {
                let message = format!("{} ends at {}, which is not among them", draft.path, name(at));
                return Err(Issue::between(Code::MustAgree, &[&from_path, &takes_path], message));
            }
            pairs.push((at, to[pairs.len() % to.len()]));
        }
        if draft.flow.mtu_bytes > spec.mtu.map_or(0, |mtu| mtu.0 as u32) {
            let message = format!("{} has larger packets; they are sent on whole", draft.path);
            return Err(Issue::between(
                Code::DoesNotFit,
                &[&format!("{path}.mtu"), &format!("{}.mtu", draft.path)],
                message,
            ));
        }
    }
    if let Some(&idle) = from.iter().find(|&&at| pairs.iter().all(|&(used, _)| used != at)) {
        let message = format!("no flow that is taken ends at {}", name(idle));
        return Err(Issue::between(Code::MustAgree, &[&from_path, &takes_path], message));
    }
    Ok(DrawnFlows { pairs, count: 1, starts_ps: Vec::new(), bytes: Vec::new() })
}

/// Checks that the number, start times and sources of flows are not given, as the flows that are taken determine
/// them.
fn check_keys(path: &str, spec: &FlowSpec) -> Result<(), Issue> {
    let keys = [
        ("count", spec.count > 1),
        ("pairs", spec.pairs.is_some()),
        ("senders", spec.senders.is_some()),
        ("from_cores", spec.from_cores.is_some()),
        ("start", spec.start.0 > 0),
        ("stagger", spec.stagger.0 > 0),
    ];
    match keys.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => {
            let message = "has no effect: there is a flow for each that is taken, on the core at which that ends";
            Err(Issue::between(Code::NoEffect, &[&format!("{path}.{key}"), &format!("{path}.takes")], message))
        }
        None => Ok(()),
    }
}
