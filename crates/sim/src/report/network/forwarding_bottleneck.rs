//! Finds the limit of packets that a host has no room to forward.

use super::class::TrafficClass;
use super::limit::TrafficLimit;
use crate::read::flows::FlowTotals;
use crate::report::view::WorldView;
use hostnet_model::params::Traffic;

/// Share of the packets for a forwarding function that sockets must drop to be reported.
const DROPPED: f64 = 0.01;

/// Returns the flows that forward the packets of the flows `own`, if there are any.
pub(super) fn forwarded_flows(view: &WorldView, own: &[usize]) -> Option<Vec<usize>> {
    let flows = &view.plan.cluster.flows;
    let takes = |number: &usize| match flows[*number].traffic {
        Traffic::Forward(params) => own.binary_search(&(params.flow as usize)).is_ok(),
        _ => false,
    };
    Some((0..flows.len()).filter(takes).collect()).filter(|numbers: &Vec<usize>| !numbers.is_empty())
}

/// Names the limit of packets that sockets drop before a function forwards them: the limit `onward` of the class that
/// forwards them, if it is known.
pub(super) fn forwarding_limit(class: &TrafficClass, onward: impl FnOnce() -> TrafficLimit) -> Option<TrafficLimit> {
    let FlowTotals { socket_dropped, received_segments, .. } = class.totals;
    let share = socket_dropped as f64 / (socket_dropped + received_segments).max(1) as f64;
    if share < DROPPED {
        return None;
    }
    let next = onward();
    let words = format!("sockets drop {:.0} % of what is to be sent on", share * 100.0);
    // Limits that rest on something full have a load.
    if next.load.is_none() {
        let why = format!("{words}, and nothing on the way on is full");
        return Some(TrafficLimit { limit: "not known", place: String::new(), load: Some(share), why });
    }
    Some(TrafficLimit { why: format!("{words}: {}", next.why), ..next })
}
