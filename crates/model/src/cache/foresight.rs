//! Reuse predictor: decides which clean lines of the cores a victim LLC takes.
//!
//! How hardware predicts reuse is not published. This predictor follows bypass algorithms for exclusive caches (Gaur,
//! Chaudhuri and Subramoney, ISCA 2011): observed sets take every line, and the hit rate of a core in these sets
//! decides if the other sets take the clean lines of that core, too.

use crate::params::{CleanVictims, LlcParams};
use serde::{Deserialize, Serialize};

/// Number of sets per observed set.
const OBSERVED: u64 = 32;
/// Range of the saturating counter: number of reads of observed sets that reverse a saturated prediction.
const FIRM: i16 = 256;

/// Saturating counter of a core's hits in the observed sets of the LLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ReusePredictor {
    /// Hits minus misses, within `-FIRM..FIRM`.
    balance: i16,
}

impl ReusePredictor {
    fn note(&mut self, hit: bool) {
        self.balance = (self.balance + if hit { 1 } else { -1 }).clamp(-FIRM, FIRM - 1);
    }

    fn foresees_reuse(self) -> bool {
        // From 0 on, so that clean victims are accepted until misses prevail.
        self.balance >= 0
    }
}

/// Returns true if the set of a line is observed: one of every 32 consecutive sets, at a varying position.
#[inline]
fn is_observed(params: &LlcParams, line: u64) -> bool {
    let set = line % u64::from(params.sets);
    let group = set / OBSERVED;
    // The position varies from group to group, so that no stride meets all observed sets or none.
    (set ^ group ^ (group / OBSERVED)) % OBSERVED == 0
}

/// Reuse predictors, by core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ReusePredictors {
    cores: Vec<ReusePredictor>,
}

impl ReusePredictors {
    pub(super) fn new(cores: u32) -> Self {
        Self { cores: vec![ReusePredictor::default(); cores as usize] }
    }

    /// Records the result of a core's read at the LLC.
    #[inline]
    pub(super) fn observe(&mut self, params: &LlcParams, core: u32, line: u64, hit: bool) {
        if params.clean_victims == CleanVictims::Foreseen && is_observed(params, line) {
            self.cores[core as usize].note(hit);
        }
    }

    /// Returns true if the LLC takes a clean line from a core.
    #[inline]
    pub(super) fn takes_clean(&self, params: &LlcParams, core: u32, line: u64) -> bool {
        match params.clean_victims {
            CleanVictims::All => true,
            // Observed sets accept every line, or they could not tell if it would be reused.
            CleanVictims::Foreseen => self.cores[core as usize].foresees_reuse() || is_observed(params, line),
            CleanVictims::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::edge_tests::foreseeing;

    #[test]
    fn one_set_of_each_32_is_observed_and_not_always_the_same() {
        let params = foreseeing(2048).params().llc.clone();
        let observed: Vec<u64> = (0..2048).filter(|&line| is_observed(&params, line)).collect();
        assert_eq!(observed.len(), 64);
        assert!((0..64).all(|group| observed.iter().filter(|&&line| line / 32 == group).count() == 1));
        assert!(observed.iter().any(|line| line % 32 == 5));
    }

    #[test]
    fn an_opinion_changes_after_as_many_hits_as_make_it_firm() {
        let params = foreseeing(2048).params().llc.clone();
        let mut caches = ReusePredictors::new(2);
        let (observed, other) = (0, 1);
        assert!(is_observed(&params, observed) && !is_observed(&params, other));
        assert!(caches.takes_clean(&params, 0, other), "until a core has missed");
        (0..10_000).for_each(|_| caches.observe(&params, 0, observed, false));
        (0..10_000).for_each(|_| caches.observe(&params, 0, other, true));
        assert!(
            !caches.takes_clean(&params, 0, other) && caches.takes_clean(&params, 0, observed),
            "other sets tell nothing"
        );
        (1..FIRM).for_each(|_| caches.observe(&params, 0, observed, true));
        assert!(!caches.takes_clean(&params, 0, other));
        caches.observe(&params, 0, observed, true);
        assert!(caches.takes_clean(&params, 0, other));
        (0..10_000).for_each(|_| caches.observe(&params, 0, observed, true));
        (0..FIRM).for_each(|_| caches.observe(&params, 0, observed, false));
        assert!(!caches.takes_clean(&params, 0, other));
        assert!(caches.takes_clean(&params, 1, other), "each core has an opinion of its own");
    }
}
