//! Finds keys of a network, its flows, transports and jobs that had no effect on the results, and limits and rules
//! that did not come into play.

use super::transports;
use super::IdleKeys;
use crate::read::ends::network;
use crate::read::flows::FlowTotals;
use crate::read::ports::PortTotals;
use crate::report::view::WorldView;
use hostnet_config::Plan;
use hostnet_model::ether::Endpoint;
use hostnet_model::met::Limit;
use hostnet_model::params::{CableEnd, CableParams, FlowParams, HostKind, JobParams, SwitchParams};
use serde_json::Value;
use std::collections::BTreeSet;

/// Keys of transports that matter to messages that a network carries whole: sizes of packets, and of what may be in
/// flight, and when acknowledgements come.
const OF_MESSAGES: [&str; 10] = [
    "base",
    "initial_window",
    "send_buffer",
    "receive_buffer",
    "rto_min",
    "ack_segments",
    "message",
    "in_flight",
    "payload",
    "ack_packets",
];

/// Finds such keys outside of the tables of servers. `totals` are the totals of the flows over the window.
pub(crate) fn find_network_idle_keys(view: &WorldView, totals: &[FlowTotals]) -> IdleKeys {
    let plan = view.plan;
    let (no_effect, others): (Vec<&String>, Vec<&String>) = plan.given.iter().partition(|path| is_unused(view, path));
    let never_met = others.into_iter().filter(|path| is_never_met(view, totals, path)).cloned().collect();
    IdleKeys { no_effect: no_effect.into_iter().cloned().collect(), never_met }
}

/// Returns true if a key cannot have changed the result, whatever its value.
fn is_unused(view: &WorldView, path: &str) -> bool {
    let (plan, cluster) = (view.plan, &view.plan.cluster);
    let parts: Vec<&str> = path.split('.').collect();
    if !cluster.fidelity.is_packet() && is_of_packets(&parts) {
        return true;
    }
    match parts[..] {
        ["network", "switch", key, ..] | ["switch", _, key, ..] => match key {
            "sum" => cluster.jobs.iter().all(|job| job.reducers.is_empty()),
            "sharers" => cluster.switches.iter().all(|switch| switch.sharers.is_none()),
            // Flow control reserves a part of the buffer, which takes room from other priorities.
            "pfc" => is_of_absent_priorities(plan) && sum_of_switches(view, |port| port.overflowed_packets) == 0,
            _ => false,
        },
        ["transport", name, ..] => transports::tables_with(plan, name).next().is_none(),
        // A stagger delays each flow of a table after the one before, so one flow has none.
        ["flow", name, "stagger"] => flows_of(plan, name).count() == 1,
        ["flow", name, "pairs"] => is_one_pair(plan, name),
        ["flow" | "job", _, "priority"] => is_one_priority(plan),
        ["job", name, "copy_rate" | "copy_latency"] => {
            cluster.jobs.iter().find(|job| job.name == name).is_some_and(|job| !shares_hosts(job))
        }
        _ => false,
    }
}

/// Returns true if a key only matters to packets: it has no effect on messages that a network carries whole.
fn is_of_packets(path: &[&str]) -> bool {
    match path {
        ["network", "switch", key, ..] | ["switch", _, key, ..] => matches!(*key, "buffer" | "alpha" | "ecn" | "pfc"),
        ["transport", _, key] => !OF_MESSAGES.contains(key),
        ["job", _, key] => *key == "gro",
        _ => false,
    }
}

/// Returns the flows of a table `[flow.NAME]`.
fn flows_of<'a>(plan: &'a Plan, name: &str) -> impl Iterator<Item = &'a FlowParams> {
    let class = transports::class_of(plan, ("flow", name));
    plan.cluster.flows.iter().filter(move |flow| Some(usize::from(flow.class)) == class)
}

/// Returns true if no flow has a priority that a switch may pause.
fn is_of_absent_priorities(plan: &Plan) -> bool {
    let paused = |switch: &SwitchParams| switch.pfc.as_ref().map_or(0, |pfc| pfc.priorities);
    let all = plan.cluster.switches.iter().map(paused).fold(0, |all, some| all | some);
    plan.cluster.flows.iter().all(|flow| all >> flow.priority & 1 == 0)
}

/// Returns true if a table of flows has one host on either side and draws nothing else at random, so that `pairs` has
/// no choice.
fn is_one_pair(plan: &Plan, name: &str) -> bool {
    let table = &plan.effective["flow"][name];
    let is_one = |side: &str| {
        let host = match &table[side] {
            Value::Array(names) if names.len() == 1 => names[0].as_str(),
            names => names.as_str(),
        };
        host.is_some_and(|host| plan.effective["host"][host]["count"].as_u64() == Some(1))
    };
    is_one("from") && is_one("to") && ["load", "sizes"].iter().all(|key| table[key].is_null())
}

/// Returns true if all packets have one priority, which nothing can pause.
fn is_one_priority(plan: &Plan) -> bool {
    let cluster = &plan.cluster;
    let priorities: BTreeSet<u8> = cluster.flows.iter().map(|flow| flow.priority).collect();
    let pauses = cluster.switches.iter().any(|switch| switch.pfc.is_some())
        || cluster.hosts.iter().any(|host| match &host.kind {
            HostKind::Server(server) => {
                server.sockets.iter().any(|socket| socket.nic.as_ref().is_some_and(|nic| nic.pfc.is_some()))
            }
            HostKind::Endpoint(_) => false,
        });
    priorities.len() == 1 && !pauses
}

/// Returns true if a host has several ranks of a job.
fn shares_hosts(job: &JobParams) -> bool {
    let mut seen = BTreeSet::new();
    !job.hosts.iter().all(|host| seen.insert(host))
}

/// Returns true if a key sets a limit or a rule that did not come into play in the window.
fn is_never_met(view: &WorldView, totals: &[FlowTotals], path: &str) -> bool {
    // A network that carries messages whole does not note which limits it has reached.
    if !view.plan.cluster.fidelity.is_packet() {
        return false;
    }
    let parts: Vec<&str> = path.split('.').collect();
    let sum = |pick: fn(&PortTotals) -> u64| sum_of_switches(view, pick);
    match parts[..] {
        ["network", "switch", key, ..] | ["switch", _, key, ..] => match key {
            "buffer" | "alpha" => !learn(view) && sum(|port| port.overflowed_packets) == 0,
            "ecn" => sum(|port| port.overflowed_packets + port.marked_packets) == 0,
            "pfc" => sum(|port| port.overflowed_packets + port.pauses_asked) == 0,
            _ => false,
        },
        ["transport", name, key] => transports::is_never_met(view, totals, (name, key)),
        ["cable", name, "down"] => {
            let spans = cables_of(view, name).flat_map(|cable| &cable.down_ps);
            // A time that lies outside of the window had no part in the results.
            spans.into_iter().all(|span| view.share_of_window(*span) == 0.0)
        }
        ["network", "bottleneck", "down"] => view
            .plan
            .cluster
            .cables
            .iter()
            .flat_map(|cable| &cable.down_ps)
            .all(|span| view.share_of_window(*span) == 0.0),
        ["flow", name, "deaf"] => {
            flows_of(view.plan, name).filter_map(|flow| flow.deaf_ps).all(|span| view.share_of_window(span) == 0.0)
        }
        ["host", name, "queue"] => {
            let mut own = endpoints(view).filter(|(host, _)| is_of_table(host, name));
            own.all(|(_, endpoint)| !endpoint.met().has(Limit::PortQueue))
        }
        _ => false,
    }
}

/// Returns true if any switch learns addresses: flooded copies that find no room are not counted, so its limits may
/// have been reached unnoticed.
fn learn(view: &WorldView) -> bool {
    view.plan.cluster.switches.iter().any(|switch| switch.learning.is_some())
}

/// Sums a counter of the ports of all switches, since the start of the run.
fn sum_of_switches(view: &WorldView, pick: impl Fn(&PortTotals) -> u64) -> u64 {
    let ports = view.ports().filter(|(port, _)| matches!(port.end, CableEnd::Switch(_)));
    ports.map(|(port, _)| pick(&port.totals)).sum()
}

/// Returns the cables that a table `[cable.NAME]` describes: by their ends, or by the name of a host or of two
/// switches.
fn cables_of<'a>(view: &'a WorldView, name: &'a str) -> impl Iterator<Item = &'a CableParams> {
    let ends = view.plan.effective["cable"][name]["ends"].as_array();
    let ends = ends.map(|ends| ends.iter().filter_map(Value::as_str).collect::<Vec<_>>());
    view.plan.cluster.cables.iter().filter(move |cable| {
        let [one, other] = cable.ends.map(|end| view.name_of(end));
        match &ends {
            Some(ends) => ends.iter().all(|end| [one, other].contains(end)),
            None => {
                let joined = [format!("{one}_{other}"), format!("{other}_{one}")];
                joined.iter().any(|joined| joined == name) || [one, other].iter().any(|end| is_of_table(end, name))
            }
        }
    })
}

/// Returns the endpoints with their names as hosts.
fn endpoints<'a>(view: &'a WorldView) -> impl Iterator<Item = (&'a str, &'a Endpoint)> {
    let hosts = &view.plan.cluster.hosts;
    let names: Vec<&str> =
        hosts.iter().filter(|host| matches!(host.kind, HostKind::Endpoint(_))).map(|host| host.name.as_str()).collect();
    network(view.simulation)
        .endpoints()
        .map(|(number, endpoint)| (names[number as usize], endpoint))
        .collect::<Vec<_>>()
        .into_iter()
}

/// Returns true if a host has the name of a table, or that name with a number.
fn is_of_table(host: &str, table: &str) -> bool {
    host == table || host.rsplit_once('-').is_some_and(|(of, _)| of == table)
}
