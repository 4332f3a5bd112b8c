//! Filters traces through a cache hierarchy; the misses and write-backs that remain are the requests for memory.

use hostnet_config::{Code, Fault};
use hostnet_kernel::Rng;
use hostnet_model::cache::TagArray;
use hostnet_model::params::Replacement;
use hostnet_traffic::{Access, Request, LINE_BYTES};

/// Maximum number of levels.
pub const LEVELS_MAX: usize = 8;
/// Maximum number of lines of a level: 64 GiB.
pub const LINES_MAX: u64 = 1 << 30;
const WAYS_MAX: u32 = 32;

/// Parameters of a level of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelParams {
    /// Capacity, in bytes: a whole number of sets of `ways` lines of 64 B.
    pub bytes: u64,
    /// Ways, 1 to 32.
    pub ways: u32,
    /// Rule that chooses the victim of a set.
    pub replacement: Replacement,
}

/// Counters of a level. An access that spans several lines counts once, and misses if any of its lines does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LevelCounts {
    /// Accesses that load.
    pub loads: u64,
    /// Accesses that store.
    pub stores: u64,
    /// Loads that miss.
    pub load_misses: u64,
    /// Stores that miss.
    pub store_misses: u64,
    /// Lines filled into the level.
    pub fills: u64,
    /// Dirty lines evicted to the level below.
    pub write_backs: u64,
}

struct CacheLevel {
    /// One array per unit of the odd factor of the number of sets. Each has the remaining factor, a power of two, as
    /// its number of sets.
    slices: Vec<TagArray<bool>>,
    counts: LevelCounts,
}

/// A hierarchy of write-back, write-allocate caches. Levels hold lines independently of each other: none invalidates a
/// line in another. A dirty victim makes its line dirty in the next level that holds the line, which does not count as
/// a use in that level. If no level holds the line, memory is written.
pub struct CacheFilter {
    levels: Vec<CacheLevel>,
}

impl LevelParams {
    /// Returns the number of sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.bytes / self.set_bytes()
    }

    fn set_bytes(&self) -> u64 {
        LINE_BYTES * u64::from(self.ways)
    }

    /// Checks the parameters against the limits of a level.
    ///
    /// # Errors
    /// The rule that the level breaks, with a valid value.
    pub fn check(&self) -> Result<(), Fault> {
        if !(1..=WAYS_MAX).contains(&self.ways) {
            let message = format!("{} ways: must be 1 to {WAYS_MAX}", self.ways);
            return Err(Fault::new(Code::OutOfRange, message));
        }
        if self.bytes / LINE_BYTES > LINES_MAX {
            let message = format!("{} bytes: must be at most {} bytes", self.bytes, LINES_MAX * LINE_BYTES);
            return Err(Fault::new(Code::OutOfRange, message));
        }
        if self.bytes == 0 || self.bytes % self.set_bytes() != 0 {
            let nearest = (self.bytes + self.set_bytes() / 2) / self.set_bytes() * self.set_bytes();
            let (bytes, ways, nearest) = (self.bytes, self.ways, nearest.max(self.set_bytes()));
            let sets = "a whole number of sets";
            let message =
                format!("{bytes} bytes: must be {sets} of {ways} ways of 64 B; the nearest is {nearest} bytes");
            return Err(Fault::new(Code::NotAMultiple, message));
        }
        Ok(())
    }
}

impl CacheLevel {
    fn new(params: &LevelParams, number: usize) -> Self {
        let sets = params.sets();
        let slice_sets = 1 << sets.trailing_zeros();
        let array = |slice| {
            let rng = Rng::new(number as u64, slice);
            TagArray::new(slice_sets as u32, params.ways, params.replacement, rng)
        };
        Self { slices: (0..sets / slice_sets).map(array).collect(), counts: LevelCounts::default() }
    }

    /// Returns the slice of a line, and the number of the line in that slice.
    #[inline]
    fn place(&mut self, line: u64) -> (&mut TagArray<bool>, u64) {
        match &mut self.slices[..] {
            [only] => (only, line),
            slices => {
                let count = slices.len() as u64;
                (&mut slices[(line % count) as usize], line / count)
            }
        }
    }

    /// Looks a line up as an access does, and makes it dirty if `dirties`. Returns true on a hit.
    #[inline]
    fn hit(&mut self, line: u64, dirties: bool) -> bool {
        let (slice, place) = self.place(line);
        let Some(slot) = slice.lookup(place) else { return false };
        if dirties {
            slice.set_data(slot, true);
        }
        true
    }

    /// Fills a line that the level does not hold. Returns the dirty victim, if any.
    #[inline]
    fn fill(&mut self, line: u64, dirty: bool) -> Option<u64> {
        self.counts.fills += 1;
        let count = self.slices.len() as u64;
        let (slice, place) = self.place(line);
        let mask = slice.all_ways();
        let (left, left_dirty) = slice.insert(place, dirty, mask)?;
        if !left_dirty {
            return None;
        }
        self.counts.write_backs += 1;
        // A slice stores the line number divided by the number of slices; this restores the number of the victim.
        Some(if count == 1 { left } else { left * count + line % count })
    }

    /// Makes a line dirty if the level holds it. Returns true if so.
    fn write_back(&mut self, line: u64) -> bool {
        let (slice, place) = self.place(line);
        let Some(slot) = slice.find(place) else { return false };
        slice.set_data(slot, true);
        true
    }
}

impl CacheFilter {
    /// Creates empty caches from the parameters of `levels`, the level next to the processor first.
    ///
    /// # Panics
    /// Panics if there are no levels or more than [`LEVELS_MAX`], or if a level breaks a rule of
    /// [`LevelParams::check`].
    #[must_use]
    pub fn new(levels: &[LevelParams]) -> Self {
        assert!((1..=LEVELS_MAX).contains(&levels.len()), "{} levels are not 1 to {LEVELS_MAX}", levels.len());
        assert!(levels.iter().all(|level| level.check().is_ok()), "a level breaks a rule");
        Self { levels: levels.iter().enumerate().map(|(number, level)| CacheLevel::new(level, number)).collect() }
    }

    /// Sends an access through the caches. Passes the requests that remain to `memory` in the order in which they
    /// occur: misses as reads, write-backs as writes. The clock of each request is 0.
    #[inline]
    pub fn access(&mut self, access: &Access, mut memory: impl FnMut(Request)) {
        let (first, last) = access.lines();
        let mut depth = 0;
        for line in first..=last {
            depth = depth.max(self.line(line, access.store, &mut memory));
        }
        for (number, level) in self.levels.iter_mut().enumerate().take(depth + 1) {
            let missed = u64::from(number < depth);
            if access.store {
                level.counts.stores += 1;
                level.counts.store_misses += missed;
            } else {
                level.counts.loads += 1;
                level.counts.load_misses += missed;
            }
        }
    }

    /// Returns the counters of each level, the level next to the processor first.
    #[must_use]
    pub fn counts(&self) -> Vec<LevelCounts> {
        self.levels.iter().map(|level| level.counts).collect()
    }

    /// Looks a line up level by level, and fills it into the levels that miss. Returns the number of those levels.
    /// Only the first level sees that an access is a store.
    #[inline]
    fn line(&mut self, line: u64, store: bool, memory: &mut impl FnMut(Request)) -> usize {
        if self.levels[0].hit(line, store) {
            return 0;
        }
        let mut depth = 1;
        while self.levels.get_mut(depth).is_some_and(|level| !level.hit(line, false)) {
            depth += 1;
        }
        if depth == self.levels.len() {
            memory(Request { clock: 0, line, write: false, source: 0 });
        }
        // Fills from the lowest level up, so that the victim of a level can still be found below.
        for number in (0..depth).rev() {
            if let Some(left) = self.levels[number].fill(line, store && number == 0) {
                self.write_back(number + 1, left, memory);
            }
        }
        depth
    }

    fn write_back(&mut self, from: usize, line: u64, memory: &mut impl FnMut(Request)) {
        if !self.levels[from..].iter_mut().any(|level| level.write_back(line)) {
            memory(Request { clock: 0, line, write: true, source: 0 });
        }
    }
}
