//! Finds the keys of a network, its flows, transports and jobs that cannot have changed the result, and the rules of
//! transports that did not come into play.

use super::Idle;
use crate::read::flows::FlowTotals;
use hostnet_config::Plan;
use hostnet_model::params::{FlowParams, HostKind, JobParams};
use std::collections::BTreeSet;

/// Finds such keys outside of the tables of hosts; `totals` say what the flows did in the window.
pub(crate) fn of_network(plan: &Plan, totals: &[FlowTotals]) -> Idle {
    let given = plan.given.iter().filter(|path| !path.starts_with("host."));
    let (no_effect, others): (Vec<&String>, Vec<&String>) = given.partition(|path| is_unused(plan, path));
    let never_met = others.into_iter().filter(|path| is_never_met(plan, totals, path)).cloned().collect();
    Idle { no_effect: no_effect.into_iter().cloned().collect(), never_met }
}

fn is_unused(plan: &Plan, path: &str) -> bool {
    let cluster = &plan.cluster;
    let parts: Vec<&str> = path.split('.').collect();
    match parts[..] {
        ["network", "switch", key] | ["switch", _, key] => match key {
            "sum" => cluster.jobs.iter().all(|job| job.reducers.is_empty()),
            "sharers" => cluster.switches.iter().all(|switch| switch.sharers.is_none()),
            _ => false,
        },
        ["flow", name, "stagger"] => flows_of(plan, name).count() == 1,
        ["flow" | "job", _, "priority"] => is_one_priority(plan),
        ["job", name, "copy_rate" | "copy_latency"] => {
            cluster.jobs.iter().find(|job| job.name == name).is_some_and(|job| !shares_hosts(job))
        }
        _ => false,
    }
}

/// Returns the flows of a class.
fn flows_of<'a>(plan: &'a Plan, name: &'a str) -> impl Iterator<Item = &'a FlowParams> {
    let class = plan.cluster.classes.iter().position(|class| class == name);
    plan.cluster.flows.iter().filter(move |flow| Some(usize::from(flow.class)) == class)
}

/// Returns true if all packets are of one priority, and none is paused.
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

fn is_never_met(plan: &Plan, totals: &[FlowTotals], path: &str) -> bool {
    let parts: Vec<&str> = path.split('.').collect();
    let ["transport", name, key] = parts[..] else { return false };
    let own = plan.cluster.flows.iter().zip(totals).filter(|(flow, _)| transport_of(plan, flow) == Some(name));
    let sum = own.fold(FlowTotals::default(), |sum, (_, totals)| sum.plus(totals));
    match key {
        "rto_min" | "rto_initial" | "timeout" => sum.timeouts == 0,
        "tail_loss_probe" => sum.timeouts + sum.probes == 0,
        "sack" => sum.retransmitted_packets == 0,
        // Without ECN nothing is marked: switches drop instead.
        "ecn" => plan.effective["transport"][name]["ecn"] == true && marks(&sum) == 0,
        "gain" | "alpha" => marks(&sum) == 0,
        _ => false,
    }
}

/// Returns the marks that senders heard of.
fn marks(totals: &FlowTotals) -> u64 {
    totals.marked_segments + totals.marked_by_host + totals.notifications
}

/// Returns the name of the transport that the table of a flow gives, if it gives one.
fn transport_of<'a>(plan: &'a Plan, flow: &FlowParams) -> Option<&'a str> {
    let class = plan.cluster.classes.get(usize::from(flow.class))?;
    let tables = ["flow", "job"].map(|kind| &plan.effective[kind][class.as_str()]["transport"]);
    tables.into_iter().find_map(|name| name.as_str())
}
