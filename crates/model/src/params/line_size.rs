//! The size of a line.

use serde::{Deserialize, Serialize};
use std::ops::{Shl, Shr};

/// What a line of the simulated memory stands for: a line of 64 B, or a burst of several that go the same way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct LineSize {
    /// Lines of 64 B, as a power of two.
    shift: u32,
}

impl LineSize {
    /// A line of 64 B.
    pub const LINE: Self = Self { shift: 0 };

    /// A burst of `2^shift` lines.
    #[must_use]
    pub const fn burst(shift: u32) -> Self {
        Self { shift }
    }

    /// Lines of 64 B, as a power of two.
    #[must_use]
    pub const fn shift(self) -> u32 {
        self.shift
    }

    /// Whether it is more than a line.
    #[must_use]
    pub const fn is_burst(self) -> bool {
        self.shift > 0
    }

    /// Bytes of a line.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        64 << self.shift
    }

    /// The lines of 64 B that so many lines stand for; likewise bytes.
    #[must_use]
    #[inline]
    pub fn expand<T: Shl<u32, Output = T>>(self, count: T) -> T {
        count << self.shift
    }

    /// How many lines stand for so many of 64 B, without a rest that fills none; likewise bytes.
    #[must_use]
    #[inline]
    pub fn shrink<T: Shr<u32, Output = T>>(self, count: T) -> T {
        count >> self.shift
    }
}

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
