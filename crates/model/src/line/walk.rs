//! Addresses that a core touches, and dirty lines that leave its caches.

use super::Pages;
use crate::params::AccessPattern;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Walk over the lines of a buffer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Walk {
    base: u64,
    lines: u64,
    stride_lines: u64,
    random: bool,
    at: u64,
    /// Virtual addresses of the run of pages that the walk is in.
    run: Range<u64>,
    /// Physical line of the start of that run.
    run_line: u64,
}

impl Walk {
    /// Creates a walk over `bytes` bytes of virtual memory from `base` on. It starts at a line that `rng` draws.
    #[must_use]
    pub fn new(base: u64, bytes: u64, pattern: AccessPattern, rng: &mut Rng) -> Self {
        let lines = (bytes / 64).max(1);
        let (stride_lines, random) = match pattern {
            AccessPattern::Sequential => (1, false),
            AccessPattern::Strided { bytes } => ((bytes / 64).max(1), false),
            AccessPattern::Random => (1, true),
        };
        Self { base, lines, stride_lines, random, at: rng.below(lines), run: 0..0, run_line: 0 }
    }

    /// Returns the walk moved ahead by half a buffer, where lines lie that it dirtied long ago.
    #[must_use]
    pub fn opposite(&self) -> Self {
        // Half a buffer away: other rows, but the same access pattern (docs/models/core.md).
        Self { at: (self.at + self.lines / 2) % self.lines, run: 0..0, ..self.clone() }
    }

    /// Returns the next physical line.
    #[inline]
    pub fn next(&mut self, pages: &Pages, rng: &mut Rng) -> u64 {
        let address = self.advance(rng);
        self.physical(address, pages)
    }

    /// Returns the next virtual address.
    #[inline]
    pub(crate) fn advance(&mut self, rng: &mut Rng) -> u64 {
        let line = if self.random {
            rng.below(self.lines)
        } else {
            let line = self.at;
            self.at += self.stride_lines;
            // Speed only: a division only where the walk wraps around.
            if self.at >= self.lines {
                self.at %= self.lines;
            }
            line
        };
        self.base + line * 64
    }

    #[inline]
    fn physical(&mut self, address: u64, pages: &Pages) -> u64 {
        // Speed only: the mapping is looked up once per run of pages.
        if !self.run.contains(&address) {
            let start = address - address % pages.run_bytes();
            self.run = start..start + pages.run_bytes();
            self.run_line = pages.physical(start) / 64;
        }
        self.run_line + (address - self.run.start) / 64
    }
}

/// Dirty lines that are about to leave the caches. A store miss pushes one line in and an arbitrary one out, so that
/// lines leave nearly, but not exactly, in the order in which they were written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Evictions {
    walk: Walk,
    pool: Vec<u64>,
}

impl Evictions {
    /// Creates the evictions of a core that writes along `walk`, through a pool of `lines` lines.
    #[must_use]
    pub fn new(mut walk: Walk, lines: u32, pages: &Pages, rng: &mut Rng) -> Self {
        let pool = (0..lines).map(|_| walk.next(pages, rng)).collect();
        Self { walk, pool }
    }

    /// Returns the next line to leave.
    #[inline]
    pub fn next(&mut self, pages: &Pages, rng: &mut Rng) -> u64 {
        let line = self.walk.next(pages, rng);
        self.exchange(line, rng)
    }

    /// Returns the next line to leave, where `line_of` says where an address lies.
    pub(crate) fn next_at(&mut self, line_of: impl Fn(u64) -> u64, rng: &mut Rng) -> u64 {
        let line = line_of(self.walk.advance(rng));
        self.exchange(line, rng)
    }

    /// Moves the dirty lines in `from`, a page, to the page that begins at line `to`.
    pub(crate) fn relocate(&mut self, from: Range<u64>, to: u64) {
        let moved = self.pool.iter_mut().filter(|line| from.contains(line));
        moved.for_each(|line| *line = to + (*line - from.start));
    }

    /// Puts a line into the pool, and returns the one that leaves it.
    #[inline]
    fn exchange(&mut self, line: u64, rng: &mut Rng) -> u64 {
        if self.pool.is_empty() {
            return line;
        }
        // An arbitrary line of the pool leaves, so that lines leave nearly in order (docs/models/core.md).
        let index = rng.below(self.pool.len() as u64) as usize;
        std::mem::replace(&mut self.pool[index], line)
    }
}
