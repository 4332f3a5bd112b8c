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
