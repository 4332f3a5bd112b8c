//! Holders of lines, as the snoop filter or the directory bits of an inclusive LLC record them.

use super::LineData;
use std::ops::Range;

/// Cores that may have a line: none, one, or several (any core).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder(u16);

impl LineData for Holder {
    const BITS: u32 = u16::BITS;

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(bits as u16)
    }
}

impl Default for Holder {
    fn default() -> Self {
        Self::NONE
    }
}

impl Holder {
    pub(super) const NONE: Self = Self(u16::MAX);
    pub(super) const SEVERAL: Self = Self(u16::MAX - 1);
    pub(super) const CORES_MAX: u32 = Self::SEVERAL.0 as u32;

    #[inline]
    pub(super) fn core(core: u32) -> Self {
        Self(core as u16)
    }

    /// Adds a core.
    #[inline]
    pub(super) fn and(self, core: u32) -> Self {
        if self == Self::NONE || self == Self::core(core) {
            Self::core(core)
        } else {
            Self::SEVERAL
        }
    }

    #[inline]
    pub(super) fn includes(self, core: u32) -> bool {
        self == Self::SEVERAL || self == Self::core(core)
    }

    /// Returns the range of cores to snoop, out of `cores`.
    #[inline]
    pub(super) fn cores(self, cores: usize) -> Range<usize> {
        match self {
            Self::NONE => 0..0,
            Self::SEVERAL => 0..cores,
            Self(core) => usize::from(core)..usize::from(core) + 1,
        }
    }
}
