//! The cache of the buffer device (nCache): clean lines of the local memory, without time.
//!
//! A read of the host takes a line out: it is in the host's caches then. Whoever writes a line to memory takes it out,
//! too. So what it has is what memory has.

use crate::params::NCacheParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// A line, and its flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Held {
    line: u64,
    /// Whether it is the first of a packet, after which nothing is prefetched.
    first: bool,
}

/// The cache of the buffer device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NCache {
    ways: usize,
    sets: u64,
    /// Set by set.
    lines: Vec<Option<Held>>,
    rng: Rng,
}

impl NCache {
    /// An empty one, which draws what leaves from `rng`.
    #[must_use]
    pub fn new(params: &NCacheParams, rng: Rng) -> Self {
        let ways = params.ways.max(1) as usize;
        Self { ways, sets: params.sets.into(), lines: vec![None; params.sets as usize * ways], rng }
    }

    /// The places of the set of a line.
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

    /// Whether it has a line.
    #[must_use]
    pub fn has(&self, line: u64) -> bool {
        self.find(line).is_some()
    }

    /// The host reads a line, which is gone then: its flag, if it was there.
    pub fn consume(&mut self, line: u64) -> Option<bool> {
        let at = self.find(line)?;
        self.lines[at].take().map(|held| held.first)
    }

    /// A line is written to memory.
    pub fn invalidate(&mut self, line: u64) {
        if let Some(at) = self.find(line) {
            self.lines[at] = None;
        }
    }

    /// Takes a line of memory in; of a full set one leaves that is drawn.
    pub fn insert(&mut self, line: u64, first: bool) {
        let set = self.set(line);
        if set.is_empty() {
            return;
        }
        let held = Some(Held { line, first });
        let place = self.find(line).or_else(|| set.clone().find(|&at| self.lines[at].is_none()));
        let place = place.unwrap_or_else(|| set.start + (self.rng.next_u64() % self.ways as u64) as usize);
        self.lines[place] = held;
    }

    /// Lines that it has.
    pub fn lines(&self) -> impl Iterator<Item = u64> + '_ {
        self.lines.iter().flatten().map(|held| held.line)
    }
}
