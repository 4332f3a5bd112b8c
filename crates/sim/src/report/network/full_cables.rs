//! Finds full cables and fabrics that decide how much data arrives.
//!
//! A cable does not count if a port downstream is full and drops packets, or has a growing queue, because then part
//! of the cable's traffic does not arrive.

use super::cable_check::confirm_cable;
use super::class::{cable_words, ports_on_path, TrafficClass};
use super::fair_share::below_fair_share;
use super::flow_paths::FlowPaths;
use super::limit::{not_known, TrafficLimit, DROPPED, FULL};
use super::queues::{gbps_words, GBPS};
use crate::read::ports::{PortPlace, PortTotals, PortView};
use crate::report::view::WorldView;
use hostnet_model::params::CableEnd;
use std::collections::BTreeSet;

/// Share of a cable at or above which flooded traffic is reported.
const FLOODED: f64 = 0.05;

/// Share of the arriving bytes that a growing queue keeps.
const GROWS: f64 = 0.01;
/// Bytes that a growing queue keeps at least: more than a single burst.
const BACKLOG_BYTES: f64 = 20_000.0;

/// Port on the path of a class, with its counters at the start of the window.
type PassedPort<'a> = (PortView<'a>, PortTotals);

/// Port with the highest utilization of its cable or fabric.
struct Fullest<'a> {
    load: f64,
    overflows: bool,
    passed_port: PassedPort<'a>,
}

/// Returns the utilization of the cable at a port, 0 to 1.
fn cable_load(view: &WorldView, (port, before): &PassedPort) -> Option<f64> {
    Some(view.sent_gbps(port, *before) / view.rate_gbps(port)?)
}

/// Returns the utilization of a learning switch's fabric towards one of its ports.
fn fabric_load(view: &WorldView, (port, before): &PassedPort) -> Option<f64> {
    let CableEnd::Switch(switch) = port.end else { return None };
    let learning = view.plan.cluster.switches[usize::from(switch)].learning?;
    let carried = view.gbps(port.totals.carried_bytes - before.carried_bytes);
    Some(carried / (learning.fabric_bytes_per_s as f64 * GBPS))
}

/// Returns true if a port or the fabric upstream of it is overloaded: it is full, and drops packets or has a growing
/// queue.
fn overflows_queue(view: &WorldView, passed_port: &PassedPort) -> bool {
    let (port, before) = passed_port;
    // Saturating, as the bytes that wait may shrink, unlike the other counters.
    let grown = |pick: fn(&PortTotals) -> u64| pick(&port.totals).saturating_sub(pick(before)) as f64;
    let (dropped, sent) = (grown(|port| port.overflowed_packets), grown(|port| port.sent_packets));
    let (waiting, left) = (grown(|port| port.waiting_bytes), grown(|port| port.sent_bytes));
    let full =
        [cable_load(view, passed_port), fabric_load(view, passed_port)].into_iter().flatten().any(|load| load >= FULL);
    let grows = waiting >= GROWS * (waiting + left) && waiting >= BACKLOG_BYTES;
    // Drops or a queue of a burst show no overload, so the cable or the fabric must be full as well.
    full && (dropped > 0.0 && dropped >= DROPPED * (dropped + sent) || grows)
}

/// Lists the ports on the path of a class that decide how much arrives: those without an overloaded port downstream.
/// For each, the second value is true if the port itself is overloaded.
fn deciding_ports<'a>(view: &'a WorldView<'a>, class: &'a TrafficClass) -> Vec<(PassedPort<'a>, bool)> {
    let all: Vec<(PassedPort, bool)> = ports_on_path(view, class)
        .map(|passed_port| {
            let overflows = overflows_queue(view, &passed_port);
            (passed_port, overflows)
        })
        .collect();
    let dropping: BTreeSet<PortPlace> =
        all.iter().filter(|(_, overflows)| *overflows).map(|((port, _), _)| port.place()).collect();
    if dropping.is_empty() {
        return all;
    }
    // A path without an overloaded port decides from its beginning.
    let behind = |way: &Vec<PortPlace>| way.iter().rposition(|place| dropping.contains(place)).unwrap_or(0);
    let deciding: BTreeSet<PortPlace> =
        class.flow_paths.iter().flat_map(|way| way[behind(way)..].iter().copied()).collect();
    all.into_iter().filter(|((port, _), _)| deciding.contains(&port.place())).collect()
}

/// Returns the port of a class with the highest `load`, if that is full. Overloaded ports come first.
fn fullest_port<'a>(
    view: &'a WorldView<'a>,
    class: &'a TrafficClass,
    load: impl Fn(&PassedPort) -> Option<f64>,
) -> Option<Fullest<'a>> {
    let loads = deciding_ports(view, class).into_iter();
    let full = loads
        .filter_map(|(passed_port, overflows)| Some(Fullest { load: load(&passed_port)?, overflows, passed_port }));
    let full = full.filter(|port| port.load >= FULL);
    // A port that overflows is overloaded, while one with more load may just carry what arrives.
    full.max_by(|one, other| one.overflows.cmp(&other.overflows).then(one.load.total_cmp(&other.load)))
}

/// Names the fullest cable, unless something else is as full.
pub(super) fn full_cable(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let Fullest { load, overflows, passed_port: (port, before) } =
        fullest_port(view, class, |passed_port| cable_load(view, passed_port))?;
    let (sent, rate) = (view.sent_gbps(&port, before), view.rate_gbps(&port)?);
    let place = cable_words(view, &port);
    let mut why = format!("the cable {place} carries {sent:.1} of {} Gbps", gbps_words(rate));
    let flooded = view.flooded_gbps(&port, before).min(sent);
    if flooded / rate >= FLOODED {
        why += &format!(", {flooded:.1} of them flooded, as the receivers were not in its table yet");
    }
    why += &equally_full_words(view, class, &port);
    // A class with less than its share waits for its own clock, or starves (clusters.md, Full cables).
    if let Some(elsewhere) = port_below_fair_share(view, class, port.place()) {
        return Some(not_known(Some(load), format!("{why}; but {elsewhere}: it may be held back elsewhere")));
    }
    Some(confirm_cable(view, TrafficLimit { limit: "cable", place, load: Some(load), why }, class, overflows))
}

/// Describes why a port may not hold a class back, or returns `None` if it may.
fn port_below_fair_share(view: &WorldView, class: &TrafficClass, place: PortPlace) -> Option<String> {
    let flow_paths = FlowPaths::new(view)?;
    below_fair_share(view, class, |number, flow| flow_paths.data_passes(number as u32, flow, place))
}

/// Describes which other cables are full on the paths through a port: all of them would have to be faster.
fn equally_full_words(view: &WorldView, class: &TrafficClass, port: &PortView) -> String {
    let (place, flow_paths) = (port.place(), class.flow_paths.iter());
    let along: BTreeSet<PortPlace> = flow_paths.filter(|way| way.contains(&place)).flatten().copied().collect();
    let is_other = |passed_port: &PassedPort| {
        passed_port.0.place() != place
            && along.contains(&passed_port.0.place())
            && cable_load(view, passed_port).is_some_and(|load| load >= FULL)
    };
    let others: Vec<String> =
        ports_on_path(view, class).filter(is_other).map(|(other, _)| cable_words(view, &other)).collect();
    match &others[..] {
        [] => String::new(),
        [other] => format!("; {other} is full as well"),
        [other, more @ ..] => format!("; {other} and {} more are full as well", more.len()),
    }
}

/// Names the fullest fabric of a learning switch towards one of its ports.
pub(super) fn full_fabric(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let Fullest { load, passed_port: (port, before), .. } =
        fullest_port(view, class, |passed_port| fabric_load(view, passed_port))?;
    let carried = view.gbps(port.totals.carried_bytes - before.carried_bytes);
    let place = view.name_of(port.end).to_owned();
    let peer = port.peer().map_or("", |peer| view.name_of(peer));
    let why = format!(
        "the fabric of {place} carries {carried:.1} of {} Gbps to its port to {peer}",
        gbps_words(carried / load)
    );
    Some(TrafficLimit { limit: "fabric", place, load: Some(load), why })
}
