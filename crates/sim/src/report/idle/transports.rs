//! Finds limits and rules of transports that did not come into play.

use crate::read::ends::{ends, rdma_ends};
use crate::read::flows::FlowTotals;
use crate::report::view::WorldView;
use hostnet_config::Plan;
use hostnet_model::met::{Limit, ReachedLimits};
use hostnet_model::params::Traffic;
use hostnet_model::World;
use std::collections::BTreeSet;

/// Keys of DCQCN and DCTCP that act only on marks.
const ECN_KEYS: [&str; 10] = [
    "gain",
    "alpha",
    "notify",
    "alpha_timer",
    "increase_timer",
    "increase_bytes",
    "fast_rounds",
    "additive",
    "hyper",
    "least",
];

/// Keys of limits, each with the flag that the transport sets when it reaches the limit.
const LIMIT_KEYS: [(&str, Limit); 7] = [
    ("send_buffer", Limit::SendBuffer),
    ("receive_buffer", Limit::ReceiveBuffer),
    ("tso", Limit::Offload),
    ("initial_window", Limit::CongestionWindow),
    ("ack_segments", Limit::AckCount),
    ("ack_delay", Limit::AckDelay),
    ("in_flight", Limit::InFlight),
];

/// Returns the tables that use a transport, as pairs of kind (`flow` or `job`) and name.
pub(super) fn tables_with<'a>(plan: &'a Plan, transport: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
    ["flow", "job"].into_iter().flat_map(move |kind| {
        let tables = plan.effective[kind].as_object().into_iter().flatten();
        let own = tables.filter(move |(_, table)| table["transport"] == transport);
        own.map(move |(name, _)| (kind, name.as_str()))
    })
}

/// Returns the number of the traffic class of a table of flows or of a job.
pub(super) fn class_of(plan: &Plan, (kind, name): (&str, &str)) -> Option<usize> {
    // A table of flows may name its class; a job always has its own.
    let class = plan.effective[kind][name]["class"].as_str().filter(|_| kind == "flow").unwrap_or(name);
    plan.cluster.classes.iter().position(|other| other == class)
}

/// Returns true if a key of a transport did not come into play. `totals` are the totals of the flows over the window.
pub(super) fn is_never_met(view: &WorldView, totals: &[FlowTotals], (name, key): (&str, &str)) -> bool {
    let classes: BTreeSet<usize> =
        tables_with(view.plan, name).filter_map(|table| class_of(view.plan, table)).collect();
    let is_own = |flow: usize| classes.contains(&usize::from(view.plan.cluster.flows[flow].class));
    let sum = |totals: &[FlowTotals]| {
        let own = totals.iter().enumerate().filter(|(flow, _)| is_own(*flow));
        own.fold(FlowTotals::default(), |sum, (_, totals)| sum.plus(totals))
    };
    let (in_window, in_all) = (sum(totals), sum(&view.flows.flows));
    if let Some((_, limit)) = LIMIT_KEYS.iter().find(|(of, _)| *of == key) {
        return !may_be_posted(view, *limit, is_own) && !met(view, *limit, is_own).has(*limit);
    }
    match key {
        "rto_min" | "rto_initial" | "timeout" => in_window.timeouts == 0,
        "tail_loss_probe" => in_window.timeouts + in_window.probes == 0,
        "sack" => in_window.retransmitted_packets == 0,
        // Without ECN, switches drop packets instead of marking them.
        "ecn" if view.plan.effective["transport"][name]["ecn"] == true => marks(&in_window) == 0,
        "ecn" => marks(&in_all) + in_all.fabric_dropped == 0,
        "base" => is_undisturbed(&in_all) && view.plan.effective["transport"][name]["ecn"].is_boolean(),
        _ => ECN_KEYS.contains(&key) && marks(&in_window) == 0,
    }
}

/// Returns true if nothing was lost or marked, so that every congestion control of TCP behaves alike.
fn is_undisturbed(totals: &FlowTotals) -> bool {
    marks(totals) + totals.retransmitted_packets + totals.timeouts + totals.probes == 0
}

/// Returns true if a key limits the messages in flight of ranks, which stop at this limit without setting its flag.
fn may_be_posted(view: &WorldView, limit: Limit, is_own: impl Fn(usize) -> bool) -> bool {
    let posts = |traffic: &Traffic| matches!(traffic, Traffic::Messages(_));
    let mut flows = view.plan.cluster.flows.iter().enumerate().filter(|(flow, _)| is_own(*flow));
    limit == Limit::InFlight && flows.any(|(_, flow)| posts(&flow.traffic))
}

/// Returns the limits that were reached at the ends of some flows. Segmentation offload is ignored at endpoints,
/// where each segment is a packet.
fn met(view: &WorldView, limit: Limit, is_own: impl Fn(usize) -> bool) -> ReachedLimits {
    let worlds = view.simulation.worlds();
    let worlds = worlds.filter(|world| limit != Limit::Offload || matches!(world, World::Server(_)));
    let of_world = |world| {
        let streams = ends(world).into_iter().map(|(flow, _, connection, _)| (flow, connection.counters().met));
        let rdma = rdma_ends(world).into_iter().map(|(flow, _, connection)| (flow, connection.counters().met));
        streams.chain(rdma).filter(|(flow, _)| is_own(*flow as usize)).map(|(_, met)| met).collect::<ReachedLimits>()
    };
    worlds.map(of_world).collect()
}

/// Returns the marks and congestion notifications of the flows.
fn marks(totals: &FlowTotals) -> u64 {
    totals.marked_segments + totals.marked_by_host + totals.notifications
}
