//! Cache of the buffer device (nCache): clean lines of local memory.
//!
//! A read of the host takes its line out, because the host's caches have the line then. Every write to memory takes
//! its line out, too. So the cache never holds anything that memory does not hold.

use crate::params::NCacheParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Cached line and its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct CachedLine {
    line: u64,
    /// True for the first line of a packet, after which nothing is prefetched.
    first: bool,
}

/// Cache of the buffer device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NCache {
    ways: usize,
    sets: u64,
    /// Lines, set by set.
    lines: Vec<Option<CachedLine>>,
    rng: Rng,
}

impl NCache {
    /// Creates an empty cache, which draws its victims from `rng`.
    #[must_use]
    pub fn new(params: &NCacheParams, rng: Rng) -> Self {
        let ways = params.ways.max(1) as usize;
        Self { ways, sets: params.sets.into(), lines: vec![None; params.sets as usize * ways], rng }
    }

    /// Returns the indices of the set of a line.
    fn set(&self, line: u64) -> std::ops::Range<usize> {
        if self.sets == 0 {
            return 0..0;
        }
        let first = (line % self.sets) as usize * self.ways;
        first..first + self.ways
    }

    fn find(&self, line: u64) -> Option<usize> {
        self.set(line).find(|&at| self.lines[at].is_some_and(|held| held.line == line))
    }

    /// Returns true if the cache has a line.
    #[must_use]
    pub fn has(&self, line: u64) -> bool {
        self.find(line).is_some()
    }

    /// Takes out a line that the host reads. Returns its flag, if the cache had the line.
    pub fn consume(&mut self, line: u64) -> Option<bool> {
        let at = self.find(line)?;
        self.lines[at].take().map(|held| held.first)
    }

    /// Takes out a line that is written to memory.
    pub fn invalidate(&mut self, line: u64) {
        if let Some(at) = self.find(line) {
            self.lines[at] = None;
        }
    }

    /// Inserts a line of memory. A random line of a full set is evicted.
    pub fn insert(&mut self, line: u64, first: bool) {
        let set = self.set(line);
        if set.is_empty() {
            return;
        }
        let held = Some(CachedLine { line, first });
        // A line that is there is replaced in place, or it would be there twice.
        let place = self.find(line).or_else(|| set.clone().find(|&at| self.lines[at].is_none()));
        let place = place.unwrap_or_else(|| set.start + (self.rng.next_u64() % self.ways as u64) as usize);
        self.lines[place] = held;
    }

    /// Returns the lines that the cache has.
    pub fn lines(&self) -> impl Iterator<Item = u64> + '_ {
        self.lines.iter().flatten().map(|held| held.line)
    }
}
