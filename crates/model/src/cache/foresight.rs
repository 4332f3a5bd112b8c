//! Reuse predictor: decides which clean lines of the cores a victim LLC takes.
//!
//! How hardware predicts reuse is not published. This predictor follows bypass algorithms for exclusive caches (Gaur,
//! Chaudhuri and Subramoney, ISCA 2011): observed sets take every line, and the hit rate of a core there decides
//! whether the other sets take its clean lines, too.

use super::Caches;
use crate::params::CleanVictims;
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

impl Caches {
    /// Returns true if the set of a line is observed: one of every 32 consecutive sets, at a varying position.
    #[inline]
    fn is_observed(&self, line: u64) -> bool {
        let set = line % u64::from(self.params.llc.sets);
        let group = set / OBSERVED;
        // The position varies from group to group, so that no stride meets all observed sets or none.
        (set ^ group ^ (group / OBSERVED)) % OBSERVED == 0
    }

    /// Records the result of a core's read at the LLC.
    #[inline]
    pub(super) fn observe(&mut self, core: u32, line: u64, hit: bool) {
        if self.params.llc.clean_victims == CleanVictims::Foreseen && self.is_observed(line) {
            self.foresight[core as usize].note(hit);
        }
    }

    /// Returns true if the LLC takes a clean line from a core.
    #[inline]
    pub(super) fn takes_clean(&self, core: u32, line: u64) -> bool {
        match self.params.llc.clean_victims {
            CleanVictims::All => true,
            // Observed sets accept every line, or they could not tell if it would be reused.
            CleanVictims::Foreseen => self.foresight[core as usize].foresees_reuse() || self.is_observed(line),
            CleanVictims::None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::edge_tests::foreseeing as caches;

    #[test]
    fn one_set_of_each_32_is_observed_and_not_always_the_same() {
        let caches = caches(2048);
        let observed: Vec<u64> = (0..2048).filter(|&line| caches.is_observed(line)).collect();
        assert_eq!(observed.len(), 64);
        assert!((0..64).all(|group| observed.iter().filter(|&&line| line / 32 == group).count() == 1));
        assert!(observed.iter().any(|line| line % 32 == 5));
    }

    #[test]
    fn an_opinion_changes_after_as_many_hits_as_make_it_firm() {
        let mut caches = caches(2048);
        let (observed, other) = (0, 1);
        assert!(caches.is_observed(observed) && !caches.is_observed(other));
        assert!(caches.takes_clean(0, other), "until a core has missed");
        (0..10_000).for_each(|_| caches.observe(0, observed, false));
        (0..10_000).for_each(|_| caches.observe(0, other, true));
        assert!(!caches.takes_clean(0, other) && caches.takes_clean(0, observed), "other sets tell nothing");
        (1..FIRM).for_each(|_| caches.observe(0, observed, true));
        assert!(!caches.takes_clean(0, other));
        caches.observe(0, observed, true);
        assert!(caches.takes_clean(0, other));
        (0..10_000).for_each(|_| caches.observe(0, observed, true));
        (0..FIRM).for_each(|_| caches.observe(0, observed, false));
        assert!(!caches.takes_clean(0, other));
        assert!(caches.takes_clean(1, other), "each core has an opinion of its own");
    }
}
