//! Contents of a first-level cache.

/// Sets and ways of a cache of 32 KiB, as in Intel's server cores up to Cascade Lake (optimization manual, 2.5.5).
const SETS: usize = 64;
const WAYS: usize = 8;
/// Marks an empty way; no line has this number.
const EMPTY: u64 = u64::MAX;

/// A cache of 32 KiB with 8 ways and LRU replacement.
pub(super) struct L1 {
    /// Lines of each set from most to least recently used, each stored as twice its number, plus one if it is dirty.
    sets: Box<[[u64; WAYS]; SETS]>,
}

impl L1 {
    pub(super) fn new() -> Self {
        Self { sets: Box::new([[EMPTY; WAYS]; SETS]) }
    }

    /// Accesses a line, which must be below 2^58. Returns true if the cache serves it alone: the line is held, and a
    /// store does not make it dirty for the first time.
    #[inline]
    pub(super) fn serve_access(&mut self, line: u64, store: bool) -> bool {
        let set = &mut self.sets[line as usize % SETS];
        let way = set.iter().position(|held| held / 2 == line);
        // Read before the rotation moves the line.
        let dirty = way.is_some_and(|way| set[way] % 2 == 1);
        // On a miss the least recently used line comes to the front and is overwritten.
        set[..=way.unwrap_or(WAYS - 1)].rotate_right(1);
        set[0] = 2 * line + u64::from(dirty || store);
        // The first store to a clean line goes beyond: the line must become dirty there too (docs/traffic.md).
        way.is_some() && (dirty || !store)
    }
}
