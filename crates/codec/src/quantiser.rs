//! Coding of one float: its class and its bits.
//!
//! The fixed-point number of a class is the float times a power of two, truncated; algorithm 3 expresses the same with
//! shifts. The 8-bit and 16-bit classes are the top bytes of one word, with the sign first and then 31 fractional
//! bits. So decoding is a conversion and a multiplication instead of a search for the leading one.

use crate::format::{Mode, CLASS_MASK};

/// Bit pattern of 1.0. Floats of this magnitude and above are not compressed.
const ONE: u32 = 127 << 23;
const SIGN: u32 = 1 << 31;
const MAGNITUDE: u32 = !SIGN;
const FRACTIONS: f32 = (1_u32 << 31) as f32;

/// Half of the last bit of the 8-bit class, and of the 16-bit class.
const HALVES: [u32; 2] = [1 << 23, 1 << 15];

/// Largest k of a bound 2^-k that seven fractional bits keep by truncation; [`EIGHT_BITS_NEAREST_MAX`] is that by
/// rounding to the nearest.
const EIGHT_BITS_MAX: u32 = 7;
const EIGHT_BITS_NEAREST_MAX: u32 = 8;

/// Thresholds of the classes, as bit patterns of magnitudes, and rounding constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantiser {
    /// Threshold below which a float has no bits.
    pub(crate) zero_below: u32,
    /// Threshold below which a float has 8 bits at most.
    pub(crate) eight_below: u32,
    /// Constants added to words of the 8-bit class and the 16-bit class before truncation.
    pub(crate) halves: [u32; 2],
}

impl Quantiser {
    pub(crate) fn new(mode: Mode, bound_exponent: u32) -> Self {
        // Biased exponent of the bound; floats below it have no bits.
        let least = 127 - bound_exponent;
        // The published threshold: the exponent 127 - floor(k / 2) of docs/codec-format.md.
        let printed = least + bound_exponent.div_ceil(2);
        let eight_bits = match mode {
            Mode::Thesis => true,
            Mode::Bounded => bound_exponent <= EIGHT_BITS_MAX,
            Mode::Nearest => bound_exponent <= EIGHT_BITS_NEAREST_MAX,
        };
        Self {
            zero_below: least << 23,
            // Without the 8-bit class its range is empty, and the 16-bit class begins at the bound.
            eight_below: if eight_bits { printed } else { least } << 23,
            halves: if mode == Mode::Nearest { HALVES } else { [0; 2] },
        }
    }

    /// Returns the class of a float, which is its tag.
    #[inline(always)]
    pub(crate) fn class(&self, bits: u32) -> u32 {
        let magnitude = bits & MAGNITUDE;
        // Magnitudes order as integers like the floats; infinities and NaN come out as the 32-bit class.
        u32::from(magnitude >= self.zero_below) + u32::from(magnitude >= self.eight_below) + u32::from(magnitude >= ONE)
    }

    /// Returns the word of a float; the class of the float keeps its top bytes.
    #[inline(always)]
    pub(crate) fn word(&self, bits: u32) -> u32 {
        let magnitude = bits & MAGNITUDE;
        let half = if magnitude >= self.eight_below { self.halves[1] } else { self.halves[0] };
        // Exact, since the factor is a power of two; from 1.0 on `as` saturates, and the result is not used.
        let fixed = (f32::from_bits(magnitude) * FRACTIONS) as i32 as u32;
        // A value that would round up to 1.0 cannot be represented, so it is clamped below.
        let word = fixed.wrapping_add(half).min(MAGNITUDE) | bits & SIGN;
        if magnitude >= ONE {
            bits
        } else {
            word
        }
    }

    /// Returns the bits of a float after encoding and decoding.
    #[inline(always)]
    pub(crate) fn round(&self, bits: u32) -> u32 {
        let magnitude = bits & MAGNITUDE;
        let mask = if magnitude >= self.eight_below { CLASS_MASK[2] } else { CLASS_MASK[1] };
        let mask = if magnitude >= self.zero_below { mask } else { 0 };
        let short = float(self.word(bits) & mask);
        if magnitude >= ONE {
            bits
        } else {
            short
        }
    }

    /// Replaces every float by its decoded value, and returns the largest error.
    #[inline(always)]
    pub(crate) fn roundtrip(&self, values: &mut [f32]) -> f32 {
        let mut worst = 0;
        for value in values {
            let rounded = f32::from_bits(self.round(value.to_bits()));
            let error = (*value - rounded).abs().to_bits() as i32;
            // The bit patterns of non-negative floats are ordered as the floats, and an integer maximum is faster.
            // Floats that are not finite are unchanged and have no error.
            worst = worst.max(if value.to_bits() & MAGNITUDE >= ONE { 0 } else { error });
            *value = rounded;
        }
        f32::from_bits(worst as u32)
    }
}

/// Returns the bits of the float that a word of 0, 8 or 16 bits encodes.
#[inline(always)]
pub(crate) fn float(word: u32) -> u32 {
    ((word & MAGNITUDE) as i32 as f32 * (1.0 / FRACTIONS)).to_bits() | word & SIGN
}
