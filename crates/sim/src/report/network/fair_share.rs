//! Checks if a class has its fair share of a place that is full. A class with less is held back elsewhere, or
//! starves, and more capacity at the place need not help it.

use super::class::TrafficClass;
use super::limit::{not_known, worst_limit, TrafficLimit, NOT_KNOWN};
use crate::read::flows::FlowTotals;
use crate::report::view::WorldView;
use hostnet_model::params::FlowParams;
use std::collections::BTreeSet;

/// Shares at or above which a class waits for a place: of its data, the share that passes the place, and of the mean
/// per flow at the place, the share that each flow of the class gets. Flows that share a queue get about the same.
const FAIR_SHARE_MIN: f64 = 0.5;

/// Number of flows, and the bytes that they carried.
#[derive(Clone, Copy, Default)]
struct FlowShare {
    flows: usize,
    bytes: u64,
}

impl FlowShare {
    fn plus(self, totals: &FlowTotals) -> Self {
        Self { flows: self.flows + 1, bytes: self.bytes + bytes_of(totals) }
    }

    /// Returns the mean bytes per flow.
    fn each(self) -> f64 {
        self.bytes as f64 / self.flows.max(1) as f64
    }
}

fn bytes_of(totals: &FlowTotals) -> u64 {
    totals.received_bytes.iter().sum()
}

/// The limit at the fullest of some hosts, and the reason why it may not hold back a class with less than its share.
pub(super) struct FullPlace {
    found: TrafficLimit,
    elsewhere: Option<String>,
}

impl FullPlace {
    /// Returns the limit, or that the limit is not known for a class with less than its share.
    pub(super) fn limit(self) -> TrafficLimit {
        let Self { found, elsewhere } = self;
        match elsewhere.filter(|_| found.limit != NOT_KNOWN) {
            None => found,
            Some(elsewhere) => {
                not_known(found.load, format!("{}; but {elsewhere}: it may be held back elsewhere", found.why))
            }
        }
    }

    /// Returns the limit, if the class has its share.
    pub(super) fn with_share(self) -> Option<TrafficLimit> {
        self.elsewhere.is_none().then_some(self.found)
    }
}

/// Finds the host with the fullest limit. `passes` returns true for flows that pass the full place at a host.
pub(super) fn full_place(
    view: &WorldView,
    hosts: &BTreeSet<u16>,
    class: &TrafficClass,
    full: impl Fn(u16) -> Option<TrafficLimit>,
    passes: impl Fn(&FlowParams, u16) -> bool,
) -> Option<FullPlace> {
    let full: Vec<(u16, TrafficLimit)> = hosts.iter().filter_map(|&host| Some((host, full(host)?))).collect();
    let found = worst_limit(full.iter().map(|(_, limit)| limit.clone()))?;
    let elsewhere = below_fair_share(view, class, |_, flow| full.iter().any(|&(host, _)| passes(flow, host)));
    Some(FullPlace { found, elsewhere })
}

/// Describes why a full place may not hold a class back, or returns `None` if the class has its share. `passes`
/// returns true for flows, by number, that pass the place. Flows that begin at the rate of a load are not compared
/// with others, because they last as long as their bytes take.
pub(super) fn below_fair_share(
    view: &WorldView,
    class: &TrafficClass,
    passes: impl Fn(usize, &FlowParams) -> bool,
) -> Option<String> {
    let flows = view.plan.cluster.flows.iter().enumerate().zip(class.all);
    let there = flows.filter(|((number, flow), _)| passes(*number, flow));
    let (mut own, mut all) = (FlowShare::default(), FlowShare::default());
    for ((number, _), totals) in there {
        let is_own = class.numbers.binary_search(&number).is_ok();
        own = if is_own { own.plus(totals) } else { own };
        // Idle flows of others do not compete; idle flows of the class are held back.
        all = if is_own || bytes_of(totals) > 0 { all.plus(totals) } else { all };
    }
    let whole = bytes_of(&class.totals);
    if (own.bytes as f64) < FAIR_SHARE_MIN * whole as f64 {
        let share = 100.0 * own.bytes as f64 / whole as f64;
        return Some(format!("only {share:.0} % of what the class carries passes there"));
    }
    if class.has_load || own.each() >= FAIR_SHARE_MIN * all.each() {
        return None;
    }
    let share = 100.0 * own.each() / all.each();
    Some(format!("each of its flows gets {share:.0} % of the mean of those that pass there"))
}
