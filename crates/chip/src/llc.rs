//! Contents of a slice of the LLC: lines of data and their dirty bits.

use crate::CacheParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

const DIRTY: u64 = 1 << 63;
/// First of the lines that fill the LLC at the start.
const OTHERS: u64 = 1 << 62;

/// Sets of lines, each ordered from least to most recently used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Llc {
    sets: Vec<u64>,
    ways: usize,
    /// Number of slices. Line numbers are divided by it before a set is chosen, because neighbouring lines are in
    /// other slices.
    slices: u64,
}

impl Llc {
    /// Creates a cache full of lines that are never accessed.
    pub(crate) fn new((slice, slices): (u16, u16), cache: &CacheParams, rng: &mut Rng) -> Self {
        let (lines, ways) = (cache.slice_lines, cache.ways);
        let other = |index: u32, rng: &mut Rng| {
            // The LLC starts full, as in a system that has run for long: fills evict lines, this share of them dirty.
            let dirty = rng.below(100) < u64::from(cache.dirty_percent);
            // Numbers of this slice modulo the slices, far above every address, so that no access finds them.
            let line = OTHERS / u64::from(slices) * u64::from(slices)
                + u64::from(index) * u64::from(slices)
                + u64::from(slice);
            line | if dirty { DIRTY } else { 0 }
        };
        let sets = (0..lines).map(|index| other(index, rng)).collect();
        Self { sets, ways: ways as usize, slices: u64::from(slices) }
    }

    fn set(&mut self, line: u64) -> &mut [u64] {
        let sets = self.sets.len() / self.ways;
        // Without the division lines of a slice would use only some of its sets.
        let set = ((line / self.slices) % sets as u64) as usize;
        &mut self.sets[set * self.ways..(set + 1) * self.ways]
    }

    /// Looks a line up and makes it the most recently used. Returns its dirty bit if the line is present.
    pub(crate) fn look(&mut self, line: u64) -> Option<bool> {
        let set = self.set(line);
        let way = set.iter().position(|held| held & !DIRTY == line)?;
        let dirty = set[way] & DIRTY != 0;
        // Moves the line to the end, the most recently used place.
        set[way..].rotate_left(1);
        Some(dirty)
    }

    /// Inserts a line. Returns the evicted line if it was dirty.
    pub(crate) fn put(&mut self, line: u64, dirty: bool) -> Option<u64> {
        let mark = line | if dirty { DIRTY } else { 0 };
        if self.look(line).is_some() {
            if let Some(last) = self.set(line).last_mut() {
                *last = mark;
            }
            return None;
        }
        let set = self.set(line);
        // Sets are full from the start, so the least recently used line is always evicted.
        let gone = set[0];
        set.rotate_left(1);
        if let Some(last) = set.last_mut() {
            *last = mark;
        }
        (gone & DIRTY != 0).then_some(gone & !DIRTY)
    }
}
