//! Tells whether a class has its fair share of a place that is full: what gets less there is held back elsewhere, or
//! starves, and more of the place need not help it.

use super::class::Class;
use super::limit::{not_known, worst, Limit, NOT_KNOWN};
use crate::read::flows::FlowTotals;
use crate::report::view::WorldView;
use hostnet_model::params::FlowParams;
use std::collections::BTreeSet;

/// A class waits for a place if flows that pass it carry this share of its data, and each of them gets this share of
/// the mean there: flows that share a queue get about the same.
const MOST: f64 = 0.5;

/// Flows, and what they carried.
#[derive(Clone, Copy, Default)]
struct Carried {
    flows: usize,
    bytes: u64,
}

impl Carried {
    fn plus(self, totals: &FlowTotals) -> Self {
        Self { flows: self.flows + 1, bytes: self.bytes + bytes_of(totals) }
    }

    fn each(self) -> f64 {
        self.bytes as f64 / self.flows.max(1) as f64
    }
}

fn bytes_of(totals: &FlowTotals) -> u64 {
    totals.received_bytes.iter().sum()
}

/// The limit at the worst of the hosts where something is full, and why it may not hold back a class that has less than
/// its share there.
pub(super) struct FullPlace {
    found: Limit,
    elsewhere: Option<String>,
}

impl FullPlace {
    /// Returns the limit, or that it is not known for a class with less than its share.
    pub(super) fn limit(self) -> Limit {
        let Self { found, elsewhere } = self;
        match elsewhere.filter(|_| found.limit != NOT_KNOWN) {
            None => found,
            Some(elsewhere) => {
                not_known(found.load, format!("{}; but {elsewhere}: it may be held back elsewhere", found.why))
            }
        }
    }

    /// Returns the limit if the class has its share.
    pub(super) fn with_share(self) -> Option<Limit> {
        self.elsewhere.is_none().then_some(self.found)
    }
}

/// Finds the worst of the limits at hosts; `passes` tells the flows that pass the place that is full at a host.
pub(super) fn full_place(
    view: &WorldView,
    hosts: &BTreeSet<u16>,
    class: &Class,
    full: impl Fn(u16) -> Option<Limit>,
    passes: impl Fn(&FlowParams, u16) -> bool,
) -> Option<FullPlace> {
    let full: Vec<(u16, Limit)> = hosts.iter().filter_map(|&host| Some((host, full(host)?))).collect();
    let found = worst(full.iter().map(|(_, limit)| limit.clone()))?;
    let elsewhere = beyond_fair_share(view, class, |_, flow| full.iter().any(|&(host, _)| passes(flow, host)));
    Some(FullPlace { found, elsewhere })
}

/// Says why a place that is full may not hold a class back; `passes` tells the flows that pass it, by number. Flows
/// that begin at the rate of a load are not compared: they last for as long as their bytes.
pub(super) fn beyond_fair_share(
    view: &WorldView,
    class: &Class,
    passes: impl Fn(usize, &FlowParams) -> bool,
) -> Option<String> {
    let flows = view.plan.cluster.flows.iter().enumerate().zip(class.all);
    let there = flows.filter(|((number, flow), _)| passes(*number, flow));
    let (mut own, mut all) = (Carried::default(), Carried::default());
    for ((number, _), totals) in there {
        let is_own = class.numbers.binary_search(&number).is_ok();
        own = if is_own { own.plus(totals) } else { own };
        all = if is_own || bytes_of(totals) > 0 { all.plus(totals) } else { all };
    }
    let whole = bytes_of(&class.totals);
    if (own.bytes as f64) < MOST * whole as f64 {
        let share = 100.0 * own.bytes as f64 / whole as f64;
        return Some(format!("only {share:.0} % of what the class carries pass there"));
    }
    if class.has_load || own.each() >= MOST * all.each() {
        return None;
    }
    let share = 100.0 * own.each() / all.each();
    Some(format!("each of its flows gets {share:.0} % of the mean of those that pass there"))
}
