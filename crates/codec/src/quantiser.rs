//! One float: its class, and its bits.
//!
//! The fixed-point number of a class is the float times a power of two, without its fraction: algorithm 3 says the same
//! with shifts. So both classes are the top bytes of one word, sign first, then 31 fractional bits, and decoding is a
//! conversion and a multiplication instead of a search for the leading one.

use crate::format::{Mode, CLASS_MASK};

/// Bits of the exponent of 1.0, from which on a float stays as it is.
const ONE: u32 = 127 << 23;
const SIGN: u32 = 1 << 31;
const MAGNITUDE: u32 = !SIGN;
const FRACTIONS: f32 = (1_u32 << 31) as f32;

/// Half of the last bit of the 8-bit class, and of the 16-bit class.
const HALVES: [u32; 2] = [1 << 23, 1 << 15];

/// The largest k of a bound 2^-k that seven fractional bits keep: without a half, and with rounding to the nearest.
const EIGHT_BITS_MAX: u32 = 7;
const EIGHT_BITS_NEAREST_MAX: u32 = 8;

/// Where the classes begin, as bits of magnitudes, and what is added before bits are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quantiser {
    /// Magnitudes below have no bits.
    pub(crate) zero_below: u32,
    /// Magnitudes below have 8 bits at most.
    pub(crate) eight_below: u32,
    /// Added to words of 8 and of 16 bits.
    pub(crate) halves: [u32; 2],
}

impl Quantiser {
    pub(crate) fn new(mode: Mode, bound_exponent: u32) -> Self {
        let least = 127 - bound_exponent;
        let printed = least + bound_exponent.div_ceil(2);
        let eight_bits = match mode {
            Mode::Thesis => true,
            Mode::Bounded => bound_exponent <= EIGHT_BITS_MAX,
            Mode::Nearest => bound_exponent <= EIGHT_BITS_NEAREST_MAX,
        };
        Self {
            zero_below: least << 23,
            eight_below: if eight_bits { printed } else { least } << 23,
            halves: if mode == Mode::Nearest { HALVES } else { [0; 2] },
        }
    }

    /// The class of a float, which is its tag.
    #[inline(always)]
    pub(crate) fn class(&self, bits: u32) -> u32 {
        let magnitude = bits & MAGNITUDE;
        u32::from(magnitude >= self.zero_below) + u32::from(magnitude >= self.eight_below) + u32::from(magnitude >= ONE)
    }

    /// The word of a float, of which its class takes the top bytes.
    #[inline(always)]
    pub(crate) fn word(&self, bits: u32) -> u32 {
        let magnitude = bits & MAGNITUDE;
        let half = if magnitude >= self.eight_below { self.halves[1] } else { self.halves[0] };
        let fixed = (f32::from_bits(magnitude) * FRACTIONS) as i32 as u32;
        // What would round up to 1.0 has no bits there; it stays below.
        let word = fixed.wrapping_add(half).min(MAGNITUDE) | bits & SIGN;
        if magnitude >= ONE {
            bits
        } else {
            word
        }
    }

    /// What a float becomes when it is encoded and decoded.
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

    /// Puts in the place of every float what it becomes; the largest error.
    #[inline(always)]
    pub(crate) fn roundtrip(&self, values: &mut [f32]) -> f32 {
        let mut worst = 0;
        for value in values {
            let rounded = f32::from_bits(self.round(value.to_bits()));
            let error = (*value - rounded).abs().to_bits() as i32;
            // Of numbers that are not negative the bits are in the same order, and a maximum of integers is quicker.
            // What is not finite stays as it is, and has no error.
            worst = worst.max(if value.to_bits() & MAGNITUDE >= ONE { 0 } else { error });
            *value = rounded;
        }
        f32::from_bits(worst as u32)
    }
}

/// The bits of the float of a word of 0, 8 or 16 bits.
#[inline(always)]
pub(crate) fn float(word: u32) -> u32 {
    ((word & MAGNITUDE) as i32 as f32 * (1.0 / FRACTIONS)).to_bits() | word & SIGN
}
