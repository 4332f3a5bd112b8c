//! Tells whether a class whose flows begin at the rate of a load carries all of it.

use super::completions::bytes_of;
use super::limits::{Class, Limit};
use crate::report::view::WorldView;
use hostnet_model::params::End;

/// A load is carried when the data that waits grows by no more than this share of it in the window.
const GROWS: f64 = 0.02;
/// A load says nothing of a class that still carries this share of it more than it, of what waited before.
const CATCHES_UP: f64 = 0.05;

/// What a load offered in a window, and what came of it, in bytes.
struct Offer {
    offered: u64,
    carried: u64,
    /// What waited at the start and at the end of the window, and might have come by then.
    waited: [u64; 2],
}

impl Offer {
    /// By how much what waits has grown, as a share of what was offered.
    fn grown(&self) -> f64 {
        (self.waited[1] as f64 - self.waited[0] as f64) / self.offered.max(1) as f64
    }

    fn is_carried(&self) -> bool {
        self.offered > 0 && self.grown() <= GROWS && self.grown() >= -CATCHES_UP
    }
}

impl WorldView<'_> {
    /// Returns true if the flows of a class begin at the rate of a load.
    pub(super) fn has_load(&self, class: usize) -> bool {
        let table = &self.plan.effective["flow"][&self.plan.cluster.classes[class]];
        !table["load"].is_null()
    }

    /// A class that carries all that its load offers: nothing on its way can give it more.
    pub(super) fn offered_load(&self, class: &Class) -> Option<Limit> {
        let offer = self.offer(class).filter(Offer::is_carried)?;
        let why = format!("it carries what its load offers: {}", self.offer_words(&offer));
        Some(Limit { limit: "offered load", place: String::new(), load: None, why })
    }

    /// Says how far a class is behind its load.
    pub(super) fn behind_words(&self, class: &Class) -> String {
        let words = self.offer(class).map_or_else(String::new, |offer| self.offer_words(&offer));
        format!("it carries less than its load offers: {words}")
    }

    fn offer_words(&self, offer: &Offer) -> String {
        let [carried, offered] = [offer.carried, offer.offered].map(|bytes| self.gbps(bytes));
        format!("{carried:.1} of {offered:.1} Gbps, and what waits changes by {:+.1} % of that", 100.0 * offer.grown())
    }

    fn offer(&self, class: &Class) -> Option<Offer> {
        if !class.has_load {
            return None;
        }
        let fastest = self.fastest_cables();
        let (from_ps, to_ps) = (self.window_start.ps(), self.now.ps());
        let mut offer = Offer { offered: 0, carried: class.totals.received_bytes.iter().sum(), waited: [0; 2] };
        for ((flow, &number), totals) in class.flows.iter().zip(&class.numbers).zip(&class.each) {
            let Some(bytes) = bytes_of(flow) else { continue };
            if (from_ps..to_ps).contains(&flow.start_ps) {
                offer.offered += bytes;
            }
            let before: u64 = self.before.flows.get(number).map_or(0, |before| before.received_bytes.iter().sum());
            let received = [before, before + totals.received_bytes.iter().sum::<u64>()];
            let rate = fastest[usize::from(flow.from)].min(fastest[usize::from(flow.to)]);
            for ((waited, received), at_ps) in offer.waited.iter_mut().zip(received).zip([from_ps, to_ps]) {
                // What its own cables could have carried since it began.
                let most = u128::from(at_ps.saturating_sub(flow.start_ps)) * u128::from(rate) / 1_000_000_000_000;
                *waited += u64::try_from(most).unwrap_or(u64::MAX).min(bytes).saturating_sub(received);
            }
        }
        Some(offer)
    }

    /// Bytes per second of the fastest cable of each host.
    fn fastest_cables(&self) -> Vec<u64> {
        let mut fastest = vec![0; self.plan.cluster.hosts.len()];
        for cable in &self.plan.cluster.cables {
            for end in cable.ends {
                if let End::Host(host) = end {
                    fastest[usize::from(host)] = cable.bytes_per_s.max(fastest[usize::from(host)]);
                }
            }
        }
        fastest
    }
}
