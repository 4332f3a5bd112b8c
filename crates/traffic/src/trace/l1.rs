//! What a first-level cache holds.

/// Sets and ways of a cache of 32 KiB, that of Intel's server cores to Cascade Lake (optimization manual, 2.5.5).
const SETS: usize = 64;
const WAYS: usize = 8;
/// No line has this number.
const EMPTY: u64 = u64::MAX;

/// A cache of 32 KiB in 8 ways that gives up the line used longest ago.
pub(super) struct L1 {
    /// Per set, its lines from the one used last to the one used longest ago: each twice, plus one when it is dirty.
    sets: Box<[[u64; WAYS]; SETS]>,
}

impl L1 {
    pub(super) fn new() -> Self {
        Self { sets: Box::new([[EMPTY; WAYS]; SETS]) }
    }

    /// Uses a line, which is below 2^58. Returns whether nothing beyond need know: it was held, and is no more dirty
    /// than before.
    #[inline]
    pub(super) fn serves(&mut self, line: u64, store: bool) -> bool {
        let set = &mut self.sets[line as usize % SETS];
        let way = set.iter().position(|held| held / 2 == line);
        let dirty = way.is_some_and(|way| set[way] % 2 == 1);
        set[..=way.unwrap_or(WAYS - 1)].rotate_right(1);
        set[0] = 2 * line + u64::from(dirty || store);
        way.is_some() && (dirty || !store)
    }
}
