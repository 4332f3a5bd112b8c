//! Traces through caches: what a hierarchy of them leaves over for memory.

use hostnet_config::{Code, Fault};
use hostnet_kernel::Rng;
use hostnet_model::cache::TagArray;
use hostnet_model::params::Replacement;
use hostnet_traffic::{Access, Request, LINE_BYTES};

/// The most levels.
pub const LEVELS_MAX: usize = 8;
/// The most lines of a level: 64 GiB.
pub const LINES_MAX: u64 = 1 << 30;
const WAYS_MAX: u32 = 32;

/// A level of the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LevelParams {
    /// Bytes, a whole number of sets of `ways` lines of 64 B.
    pub bytes: u64,
    /// Ways, 1 to 32.
    pub ways: u32,
    /// Which line of a set leaves.
    pub replacement: Replacement,
}

/// What a level has seen. An access that lies across lines is one, and misses when any of its lines does.
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
    /// Lines that came in.
    pub fills: u64,
    /// Dirty lines that left for the level below.
    pub write_backs: u64,
}

struct Level {
    /// The odd factor of the number of sets; a slice has the rest of it, a power of two.
    slices: Vec<TagArray<bool>>,
    counts: LevelCounts,
}

/// Caches behind each other, all of them write-back and write-allocate. Levels hold lines independently of each other:
/// none takes a line out of another. A dirty line that leaves a level makes that line dirty in the next level that
/// holds it, and does not count as a use there; when none does, memory is written.
pub struct CacheFilter {
    levels: Vec<Level>,
}

impl LevelParams {
    /// Sets.
    #[must_use]
    pub fn sets(&self) -> u64 {
        self.bytes / self.set_bytes()
    }

    fn set_bytes(&self) -> u64 {
        LINE_BYTES * u64::from(self.ways)
    }

    /// The rule that the level breaks, with what would be right.
    ///
    /// # Errors
    /// The rule in words.
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

impl Level {
    fn new(params: &LevelParams, number: usize) -> Self {
        let sets = params.sets();
        let slice_sets = 1 << sets.trailing_zeros();
        let array = |slice| {
            let rng = Rng::new(number as u64, slice);
            TagArray::new(slice_sets as u32, params.ways, params.replacement, rng)
        };
        Self { slices: (0..sets / slice_sets).map(array).collect(), counts: LevelCounts::default() }
    }

    /// The slice of a line, and its number there.
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

    /// Uses a line; returns whether it is held.
    #[inline]
    fn hit(&mut self, line: u64, dirties: bool) -> bool {
        let (slice, place) = self.place(line);
        let Some(slot) = slice.lookup(place) else { return false };
        if dirties {
            slice.set_data(slot, true);
        }
        true
    }

    /// Lets a line in that is not held. Returns the dirty line that leaves for it.
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
        Some(if count == 1 { left } else { left * count + line % count })
    }

    /// Makes a line dirty if it is held; returns whether it is.
    fn write_back(&mut self, line: u64) -> bool {
        let (slice, place) = self.place(line);
        let Some(slot) = slice.find(place) else { return false };
        slice.set_data(slot, true);
        true
    }
}

impl CacheFilter {
    /// Empty caches, the one next to the processor first.
    ///
    /// # Panics
    /// If there are no levels or more than [`LEVELS_MAX`], or one breaks a rule of [`LevelParams::check`].
    #[must_use]
    pub fn new(levels: &[LevelParams]) -> Self {
        assert!((1..=LEVELS_MAX).contains(&levels.len()), "{} levels are not 1 to {LEVELS_MAX}", levels.len());
        assert!(levels.iter().all(|level| level.check().is_ok()), "a level breaks a rule");
        Self { levels: levels.iter().enumerate().map(|(number, level)| Level::new(level, number)).collect() }
    }

    /// An access goes through the caches. What is left over for memory goes to `memory`: misses as reads, write-backs
    /// as writes, in the order in which they happen; their clock is 0.
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

    /// What each level has seen, the one next to the processor first.
    #[must_use]
    pub fn counts(&self) -> Vec<LevelCounts> {
        self.levels.iter().map(|level| level.counts).collect()
    }

    /// Looks a line up level by level, and lets it into those that have not got it. Returns how many they are. Only the
    /// first level learns of a store.
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
        // From below, so that a line that a level gives up is still looked for below.
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
