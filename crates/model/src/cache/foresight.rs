//! Which clean lines of the cores a victim LLC takes.
//!
//! How hardware foresees reuse is not published. Here it does as bypass algorithms for exclusive caches do (Gaur,
//! Chaudhuri and Subramoney, ISCA 2011): some sets are observed, they take every line, and how often a core finds there
//! what it asks for says whether the others shall take its clean lines as well.

use super::Caches;
use crate::params::CleanVictims;
use serde::{Deserialize, Serialize};

/// One set of so many is observed.
const OBSERVED: u64 = 32;
/// Reads of observed sets that it takes to change an opinion that is firm.
const FIRM: i16 = 256;

/// What a core finds in the observed sets of the LLC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Foresight {
    /// Hits less misses, within `-FIRM..FIRM`.
    balance: i16,
}

impl Foresight {
    fn note(&mut self, hit: bool) {
        self.balance = (self.balance + if hit { 1 } else { -1 }).clamp(-FIRM, FIRM - 1);
    }

    fn foresees_reuse(self) -> bool {
        self.balance >= 0
    }
}

impl Caches {
    /// Whether the set of a line is observed: one of each 32 that follow each other, not always the same of them.
    #[inline]
    fn is_observed(&self, line: u64) -> bool {
        let set = line % u64::from(self.params.llc.sets);
        let group = set / OBSERVED;
        (set ^ group ^ (group / OBSERVED)) % OBSERVED == 0
    }

    /// A core has asked the LLC for a line.
    #[inline]
    pub(super) fn observe(&mut self, core: u32, line: u64, hit: bool) {
        if self.params.llc.clean_victims == CleanVictims::Foreseen && self.is_observed(line) {
            self.foresight[core as usize].note(hit);
        }
    }

    /// Whether the LLC takes a clean line from a core.
    #[inline]
    pub(super) fn takes_clean(&self, core: u32, line: u64) -> bool {
        match self.params.llc.clean_victims {
            CleanVictims::All => true,
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
