//! Sets of bytes of a stream.

use super::SackBlock;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Set of bytes: disjoint intervals that do not touch, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Intervals {
    blocks: VecDeque<SackBlock>,
    bytes: u64,
}

impl Intervals {
    /// Returns the number of bytes in the set.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    pub(crate) fn first(&self) -> Option<SackBlock> {
        self.blocks.front().copied()
    }

    pub(crate) fn last(&self) -> Option<SackBlock> {
        self.blocks.back().copied()
    }

    /// Iterates over the intervals, highest first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = SackBlock> + '_ {
        self.blocks.iter().rev().copied()
    }

    /// Adds the bytes from `start` to `end`. Returns how many of them were not in the set.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> u64 {
        if start >= end {
            return 0;
        }
        let from = self.at_or_after(start);
        let mut to = from;
        let mut merged = SackBlock { start, end };
        let mut had = 0;
        while let Some(block) = self.blocks.get(to).filter(|block| block.start <= end) {
            merged.start = merged.start.min(block.start);
            merged.end = merged.end.max(block.end);
            had += block.end - block.start;
            to += 1;
        }
        if to == from {
            self.blocks.insert(from, merged);
        } else {
            self.blocks[from] = merged;
            self.erase(from + 1, to);
        }
        let added = merged.end - merged.start - had;
        self.bytes += added;
        added
    }

    /// Removes the bytes from `start` to `end`.
    pub(crate) fn remove(&mut self, start: u64, end: u64) {
        let mut index = self.at_or_after(start);
        while let Some(block) = self.blocks.get(index).copied().filter(|block| block.start < end) {
            let cut = SackBlock { start: block.start.max(start), end: block.end.min(end) };
            if cut.start >= cut.end {
                index += 1;
                continue;
            }
            self.bytes -= cut.end - cut.start;
            index = self.replace(index, block, cut);
        }
    }

    /// Removes `cut` from `block`, the interval at `index`. Returns the index of the next interval.
    fn replace(&mut self, index: usize, block: SackBlock, cut: SackBlock) -> usize {
        let before = SackBlock { start: block.start, end: cut.start };
        let after = SackBlock { start: cut.end, end: block.end };
        match (before.start < before.end, after.start < after.end) {
            (false, false) => {
                self.blocks.remove(index);
                index
            }
            (true, true) => {
                self.blocks[index] = before;
                self.blocks.insert(index + 1, after);
                index + 2
            }
            (true, false) => {
                self.blocks[index] = before;
                index + 1
            }
            (false, true) => {
                self.blocks[index] = after;
                index + 1
            }
        }
    }

    /// Removes all bytes below `limit`.
    pub(crate) fn remove_below(&mut self, limit: u64) {
        while let Some(block) = self.blocks.front_mut() {
            if block.start >= limit {
                return;
            }
            if block.end > limit {
                self.bytes -= limit - block.start;
                block.start = limit;
                return;
            }
            self.bytes -= block.end - block.start;
            self.blocks.pop_front();
        }
    }

    /// Returns the interval that contains `byte`.
    pub(crate) fn covering(&self, byte: u64) -> Option<SackBlock> {
        let index = self.blocks.partition_point(|block| block.end <= byte);
        self.blocks.get(index).copied().filter(|block| block.start <= byte)
    }

    /// Returns true if all bytes from `start` to `end` are in the set.
    pub(crate) fn contains(&self, start: u64, end: u64) -> bool {
        self.covering(start).is_some_and(|block| end <= block.end)
    }

    /// Calls `with` for every interval between `start` and `end` that is not in the set.
    pub(crate) fn gaps(&self, start: u64, end: u64, mut with: impl FnMut(u64, u64)) {
        let mut at = start;
        let first = self.blocks.partition_point(|block| block.end <= start);
        for block in self.blocks.range(first..).take_while(|block| block.start < end) {
            if at < block.start {
                with(at, block.start);
            }
            at = block.end;
        }
        if at < end {
            with(at, end);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.blocks.clear();
        self.bytes = 0;
    }

    /// Returns the index of the first interval that ends at or after `start`. The check of the last interval is a
    /// shortcut for the most frequent case.
    fn at_or_after(&self, start: u64) -> usize {
        match self.blocks.back() {
            Some(last) if last.end < start => self.blocks.len(),
            _ => self.blocks.partition_point(|block| block.end < start),
        }
    }

    fn erase(&mut self, from: usize, to: usize) {
        if from < to {
            self.blocks.drain(from..to);
        }
    }
}
