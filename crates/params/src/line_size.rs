//! Size of a line of the simulated memory.

use serde::{Deserialize, Serialize};
use std::ops::{Shl, Shr};

/// Size of a line of the simulated memory: 64 B, or a burst of several such lines that are handled together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineSize {
    /// Binary logarithm of the number of 64 B lines.
    shift: u32,
}

impl LineSize {
    /// A line of 64 B.
    pub const LINE: Self = Self { shift: 0 };

    /// A burst of 256 B, as many lines as the largest payload of a PCIe write of today's servers.
    pub const BURST: Self = Self::burst(2);

    /// Creates a burst of `2^shift` lines.
    #[must_use]
    pub const fn burst(shift: u32) -> Self {
        Self { shift }
    }

    /// Returns the binary logarithm of the number of 64 B lines.
    #[must_use]
    pub const fn shift(self) -> u32 {
        self.shift
    }

    /// Returns true if a line stands for several lines of 64 B.
    #[must_use]
    pub const fn is_burst(self) -> bool {
        self.shift > 0
    }

    /// Returns the number of bytes of a line.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        64 << self.shift
    }

    /// Converts a count of 64 B lines to the nearest number of lines of this size.
    #[must_use]
    pub fn round(self, lines: u32) -> u32 {
        let half = self.expand(1_u32) >> 1;
        self.shrink(lines + half)
    }

    /// Like [`LineSize::round`], but at least one.
    #[must_use]
    pub fn count(self, lines: u32) -> u32 {
        self.round(lines).max(1)
    }

    /// Converts slices with `entries` lines each to fewer slices with as many lines in total, rounded. Returns the
    /// number of slices, and of lines of this size in each.
    #[must_use]
    pub fn divide_slices(self, slices: u32, entries: u32) -> [u32; 2] {
        let fewer = self.count(slices);
        [fewer, ((self.count(slices * entries) + fewer / 2) / fewer).max(1)]
    }

    /// Converts a count of lines to lines of 64 B, or a number of bytes in proportion.
    #[must_use]
    #[inline]
    pub fn expand<T: Shl<u32, Output = T>>(self, count: T) -> T {
        count << self.shift
    }

    /// Converts a count of 64 B lines to lines of this size, rounded down, or a number of bytes in proportion.
    #[must_use]
    #[inline]
    pub fn shrink<T: Shr<u32, Output = T>>(self, count: T) -> T {
        count >> self.shift
    }
}

/// Binary logarithm of the bytes of a line.
pub const LINE_BITS: u32 = 6;

/// Bytes of a line.
pub const LINE_BYTES: u64 = 1 << LINE_BITS;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_as_many_bytes_as_its_lines() {
        for (size, lines) in [(LineSize::LINE, 1), (LineSize::burst(2), 4)] {
            assert_eq!((size.bytes(), size.expand(1_u64), size.shrink(lines)), (64 * lines, lines, 1));
            assert_eq!(size.is_burst(), lines > 1);
            assert_eq!(size.shrink(2 * lines - 1), 1, "a rest fills no line");
        }
    }
}
