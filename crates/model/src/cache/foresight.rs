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
