//! Checks if a class whose flows begin at the rate of a load carries all of it.

use super::class::TrafficClass;
use super::completions::bytes_of;
use super::limit::TrafficLimit;
use crate::report::view::WorldView;
use hostnet_model::params::CableEnd;

/// Largest growth of the backlog in the window at which a load counts as carried, as a share of the load.
const GROWS: f64 = 0.02;
/// Share of the load by which a backlog may shrink in the window. A class that works off more of an earlier backlog
/// carries more than its load, so the load is not its limit.
const CATCHES_UP: f64 = 0.05;

/// Load that was offered in a window, and the part that was carried, in bytes.
struct LoadOffer {
    offered: u64,
    carried: u64,
    /// Backlog at the start of the window, and at its end: data that could have arrived by then.
    waited: [u64; 2],
}

impl LoadOffer {
    /// Returns the growth of the backlog, as a share of the offered load.
    fn grown(&self) -> f64 {
        (self.waited[1] as f64 - self.waited[0] as f64) / self.offered.max(1) as f64
    }

    fn is_carried(&self) -> bool {
        self.offered > 0 && self.grown() <= GROWS && self.grown() >= -CATCHES_UP
    }
}

/// Names the load as the limit of a class that carries all of it: nothing on its path can give it more.
pub(super) fn offered_load(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let offer = offer_of(view, class).filter(LoadOffer::is_carried)?;
    let why = format!("it carries what its load offers: {}", offer_words(view, &offer));
    Some(TrafficLimit { limit: "offered load", place: String::new(), load: None, why })
}

/// Describes how far a class is behind its load.
pub(super) fn behind_words(view: &WorldView, class: &TrafficClass) -> String {
    let words = offer_of(view, class).map_or_else(String::new, |offer| offer_words(view, &offer));
    format!("it carries less than its load offers: {words}")
}

fn offer_words(view: &WorldView, offer: &LoadOffer) -> String {
    let [carried, offered] = [offer.carried, offer.offered].map(|bytes| view.gbps(bytes));
    format!("{carried:.1} of {offered:.1} Gbps, and its backlog changes by {:+.1} % of that", 100.0 * offer.grown())
}

/// Returns the load of a class, if its flows begin at the rate of one.
fn offer_of(view: &WorldView, class: &TrafficClass) -> Option<LoadOffer> {
    // Flows without a load begin at fixed times, so there is no rate to fall behind.
    if !class.has_load {
        return None;
    }
    let fastest = fastest_cables(view);
    let (from_ps, to_ps) = (view.window_start.ps(), view.now.ps());
    let mut offer = LoadOffer { offered: 0, carried: class.totals.received_bytes.iter().sum(), waited: [0; 2] };
    for ((flow, &number), totals) in class.flows.iter().zip(&class.numbers).zip(&class.each) {
        let Some(bytes) = bytes_of(flow) else { continue };
        if (from_ps..to_ps).contains(&flow.start_ps) {
            offer.offered += bytes;
        }
        let before: u64 = view.before.flows.get(number).map_or(0, |before| before.received_bytes.iter().sum());
        let received = [before, before + totals.received_bytes.iter().sum::<u64>()];
        let rate = fastest[usize::from(flow.from)].min(fastest[usize::from(flow.to)]);
        for ((waited, received), at_ps) in offer.waited.iter_mut().zip(received).zip([from_ps, to_ps]) {
            // Data that the cables of the two hosts could have carried since the flow began.
            let most = u128::from(at_ps.saturating_sub(flow.start_ps)) * u128::from(rate) / 1_000_000_000_000;
            *waited += u64::try_from(most).unwrap_or(u64::MAX).min(bytes).saturating_sub(received);
        }
    }
    Some(offer)
}

/// Returns the rate of the fastest cable of each host, in bytes per second.
fn fastest_cables(view: &WorldView) -> Vec<u64> {
    let mut fastest = vec![0; view.plan.cluster.hosts.len()];
    for cable in &view.plan.cluster.cables {
        for end in cable.ends {
            if let CableEnd::Host(host) = end {
                fastest[usize::from(host)] = cable.bytes_per_s.max(fastest[usize::from(host)]);
            }
        }
    }
    fastest
}
