//! The home of a line: the slice of the CHA that answers for it, and its place in memory.

use super::{Decoder, Place};
use serde::{Deserialize, Serialize};

/// The home of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Home {
    /// The slice of the CHA.
    pub slice: u8,
    /// Where it lies in memory.
    pub place: Place,
}

/// The homes of all lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Homes {
    slices: u32,
    decoder: Decoder,
}

impl Homes {
    /// Lines that are spread over `slices` slices, and lie where `decoder` says.
    #[must_use]
    pub fn new(slices: u32, decoder: Decoder) -> Self {
        Self { slices, decoder }
    }

    /// The home of line `line` (physical address / 64).
    #[must_use]
    #[inline]
    pub fn of(&self, line: u64) -> Home {
        Home { slice: slice_of(line, self.slices), place: self.decoder.place(line) }
    }

    /// Where a line lies in memory.
    #[must_use]
    #[inline]
    pub fn place(&self, line: u64) -> Place {
        self.decoder.place(line)
    }
}

/// The slice of a line: a multiplicative hash, scaled to any number of slices.
#[must_use]
#[inline]
pub fn slice_of(line: u64, slices: u32) -> u8 {
    let hash = line.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((hash * u64::from(slices)) >> 32) as u8
}
