//! Helpers shared by the tests of the codec.

#![allow(unreachable_pub)]

pub mod engine;
pub mod printed;

use hostnet_codec::{Codec, Mode};
use proptest::prelude::*;

/// Creates a strategy for bits of floats: arbitrary ones, and ones near the classes of gradients.
pub fn bits() -> impl Strategy<Value = u32> {
    let near = (105_u32..130, any::<u32>()).prop_map(|(exponent, rest)| exponent << 23 | rest & 0x807F_FFFF);
    let edge = (105_u32..130, -2_i32..=2, any::<bool>())
        .prop_map(|(exponent, by, minus)| (exponent << 23).wrapping_add_signed(by) | u32::from(minus) << 31);
    let odd = prop::sample::select(vec![
        0.0_f32.to_bits(),
        (-0.0_f32).to_bits(),
        f32::NAN.to_bits(),
        0xFFC0_1234,
        0x7F80_0001,
        f32::INFINITY.to_bits(),
        f32::NEG_INFINITY.to_bits(),
        f32::MIN_POSITIVE.to_bits(),
        1,
        0x807F_FFFF,
        f32::MAX.to_bits(),
    ]);
    prop_oneof![2 => any::<u32>(), 6 => near, 3 => edge, 1 => odd]
}

/// Creates a strategy for codecs.
pub fn codecs() -> impl Strategy<Value = Codec> {
    (prop::sample::select(Mode::ALL.to_vec()), 1..=15_i64).prop_map(|(mode, bound)| codec(mode, bound))
}

/// Returns a codec that must exist.
pub fn codec(mode: Mode, bound: i64) -> Codec {
    Codec::new(mode, bound).expect("the bound is 1 to 15")
}

pub fn floats(bits: &[u32]) -> Vec<f32> {
    bits.iter().copied().map(f32::from_bits).collect()
}

pub fn bits_of(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

pub fn payload(codec: Codec, values: &[f32]) -> Vec<u8> {
    let mut out = Vec::new();
    codec.encode(values, &mut out);
    out
}

/// Random number generator without dependencies: 64-bit xorshift.
pub struct Draws(pub u64);

impl Draws {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
