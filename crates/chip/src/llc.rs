//! What a slice of the LLC holds: lines of data, and whether they are dirty.

use crate::CacheParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

const DIRTY: u64 = 1 << 63;
/// The first of the lines that are there at the beginning.
const OTHERS: u64 = 1 << 62;

/// Sets of lines, the least recently used first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Llc {
    sets: Vec<u64>,
    ways: usize,
    /// By what lines are divided before they are put into sets: neighbours are in other slices.
    slices: u64,
}

impl Llc {
    /// A full cache of lines that nobody will ask for.
    pub(crate) fn new((slice, slices): (u16, u16), cache: &CacheParams, rng: &mut Rng) -> Self {
        let (lines, ways) = (cache.slice_lines, cache.ways);
        let other = |index: u32, rng: &mut Rng| {
            let dirty = rng.below(100) < u64::from(cache.dirty_percent);
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
        let set = ((line / self.slices) % sets as u64) as usize;
        &mut self.sets[set * self.ways..(set + 1) * self.ways]
    }

    /// Whether a line is there, and dirty; it is the most recently used then.
    pub(crate) fn look(&mut self, line: u64) -> Option<bool> {
        let set = self.set(line);
        let way = set.iter().position(|held| held & !DIRTY == line)?;
        let dirty = set[way] & DIRTY != 0;
        set[way..].rotate_left(1);
        Some(dirty)
    }

    /// Puts a line there, and returns the line that had to go, if it was dirty.
    pub(crate) fn put(&mut self, line: u64, dirty: bool) -> Option<u64> {
        let mark = line | if dirty { DIRTY } else { 0 };
        if self.look(line).is_some() {
            if let Some(last) = self.set(line).last_mut() {
                *last = mark;
            }
            return None;
        }
        let set = self.set(line);
        let gone = set[0];
        set.rotate_left(1);
        if let Some(last) = set.last_mut() {
            *last = mark;
        }
        (gone & DIRTY != 0).then_some(gone & !DIRTY)
    }
}
