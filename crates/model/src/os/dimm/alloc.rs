//! Rows of a DIMM that the driver of a core allocates as buffers (allocCache): one row of each sub-array.
//!
//! A row of two pages is allocated as a whole, because a clone within a sub-array overwrites the whole row. The row in
//! the sub-array of another row has the index of that row modulo the number of rows.

use serde::{Deserialize, Serialize};

/// Rows of the driver of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AllocCache {
    first: u32,
    rows: u32,
    /// Rows in use, one bit each.
    used: Vec<u64>,
    handed_out: u32,
}

impl AllocCache {
    /// Creates `rows` rows from `first` on, a multiple of `rows`. The DIMM must have as many sub-arrays as there are
    /// rows.
    #[must_use]
    pub fn new(first: u32, rows: u32) -> Self {
        Self { first, rows, used: vec![0; rows.div_ceil(64) as usize], handed_out: 0 }
    }

    fn is_used(&self, at: u32) -> bool {
        self.used[at as usize / 64] >> (at % 64) & 1 == 1
    }

    fn mark(&mut self, at: u32, count: u32, used: bool) {
        for at in at..at + count {
            let bit = 1 << (at % 64);
            let word = &mut self.used[at as usize / 64];
            assert_eq!(*word & bit == 0, used, "a row is handed out once, and comes back once");
            *word ^= bit;
        }
        self.handed_out = if used { self.handed_out + count } else { self.handed_out - count };
    }

    /// Returns `Ok` if `count` rows from `at` on are free, else the index after the last one in use.
    fn is_free(&self, at: u32, count: u32) -> Result<(), u32> {
        // From the end, so that the search continues behind the last row in use.
        match (at..at + count).rev().find(|&at| self.is_used(at)) {
            None => Ok(()),
            Some(used) => Err(used + 1),
        }
    }

    /// Allocates `count` consecutive rows: in the sub-arrays of the rows from `near` on if these are free.
    pub fn take(&mut self, near: u32, count: u32) -> Option<u32> {
        if count == 0 || count > self.rows || self.handed_out + count > self.rows {
            return None;
        }
        // Source and copy in one sub-array allow the fast clone within it (RowClone, FPM).
        let own = near % self.rows;
        // First from the wanted row to the end, then from the start up to where the search began.
        for (mut at, end) in [(own, self.rows), (0, own + count - 1)] {
            while at + count <= end.min(self.rows) {
                match self.is_free(at, count) {
                    Ok(()) => {
                        self.mark(at, count, true);
                        return Some(self.first + at);
                    }
                    Err(next) => at = next,
                }
            }
        }
        None
    }

    /// Returns true if a row belongs to this driver.
    #[must_use]
    pub fn owns(&self, row: u32) -> bool {
        (self.first..self.first + self.rows).contains(&row)
    }

    /// Frees `count` rows from `row` on.
    ///
    /// # Panics
    /// Panics if one of them is not in use.
    pub fn give_back(&mut self, row: u32, count: u32) {
        self.mark(row - self.first, count, false);
    }

    /// Returns the number of rows in use.
    #[must_use]
    pub fn handed_out(&self) -> u32 {
        self.handed_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn rows_are_conserved_and_near_if_possible(
            rows in 1_u32..200,
            turns in prop::collection::vec((0_u32..1000, 1_u32..4, any::<bool>()), 1..200),
        ) {
            let first = rows * 5;
            let mut cache = AllocCache::new(first, rows);
            let mut taken: Vec<(u32, u32)> = Vec::new();
            let mut used = BTreeSet::new();
            for (near, count, gives_back) in turns {
                if gives_back && !taken.is_empty() {
                    let (row, count) = taken.swap_remove(near as usize % taken.len());
                    cache.give_back(row, count);
                    prop_assert!((row..row + count).all(|row| used.remove(&row)));
                    continue;
                }
                let own = near % rows;
                let free = |at: u32| at + count <= rows && (at..at + count).all(|at| !used.contains(&(first + at)));
                let (any, near_free) = ((0..rows).any(free), free(own));
                let row = cache.take(near, count);
                prop_assert_eq!(row.is_some(), any);
                let Some(row) = row else { continue };
                prop_assert!(!near_free || row == first + own);
                prop_assert!((row..row + count).all(|row| cache.owns(row) && used.insert(row)));
                taken.push((row, count));
                prop_assert_eq!(cache.handed_out() as usize, used.len());
            }
        }
    }
}
