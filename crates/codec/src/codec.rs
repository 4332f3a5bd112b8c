//! What a codec is set to: its mode and its bound.

use crate::format::Mode;
use crate::payload;
use crate::quantiser::Quantiser;
use thiserror::Error;

/// The largest bound is 2^-1.
pub const BOUND_EXPONENT_MIN: u32 = 1;
/// The smallest bound is 2^-15: that is what the fifteen fractional bits of the 16-bit class can keep.
pub const BOUND_EXPONENT_MAX: u32 = 15;

impl Mode {
    /// All modes, in the order of their numbers in streams.
    pub const ALL: [Self; 3] = [Self::Thesis, Self::Bounded, Self::Nearest];

    /// Its name, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Thesis => "thesis",
            Self::Bounded => "bounded",
            Self::Nearest => "nearest",
        }
    }

    /// The mode of that name; `None` if there is none.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// A bound that no codec keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("bound {exponent}: must be {BOUND_EXPONENT_MIN} to {BOUND_EXPONENT_MAX}, which means 2^-1 to 2^-15")]
pub struct BoundError {
    /// The exponent that was given: k of 2^-k.
    pub exponent: i64,
}

/// A mode and a bound. Small, and free to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    mode: Mode,
    bound_exponent: u8,
    pub(crate) quantiser: Quantiser,
}

impl Codec {
    /// A codec with the bound 2^-`bound_exponent`, 2^-1 to 2^-15.
    ///
    /// # Errors
    /// The exponent is not 1 to 15.
    pub fn new(mode: Mode, bound_exponent: i64) -> Result<Self, BoundError> {
        let range = i64::from(BOUND_EXPONENT_MIN)..=i64::from(BOUND_EXPONENT_MAX);
        match u8::try_from(bound_exponent) {
            Ok(exponent) if range.contains(&bound_exponent) => {
                let quantiser = Quantiser::new(mode, u32::from(exponent));
                Ok(Self { mode, bound_exponent: exponent, quantiser })
            }
            _ => Err(BoundError { exponent: bound_exponent }),
        }
    }

    /// Its mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// k of its bound 2^-k.
    #[must_use]
    pub fn bound_exponent(&self) -> u32 {
        u32::from(self.bound_exponent)
    }

    /// Its bound on the absolute error of a float.
    #[must_use]
    pub fn bound(&self) -> f32 {
        f32::from_bits((127 - self.bound_exponent()) << 23)
    }

    /// Appends the payload of `values` to `out`: groups of eight, the last filled up with zeros that take no byte.
    ///
    /// Payloads of parts that are whole groups, one after the other, are the payload of the whole.
    pub fn encode(&self, values: &[f32], out: &mut Vec<u8>) {
        payload::encode(&self.quantiser, values, out);
    }

    /// What a float becomes when it is encoded and decoded.
    #[must_use]
    pub fn round(&self, value: f32) -> f32 {
        f32::from_bits(self.quantiser.round(value.to_bits()))
    }

    /// Puts in the place of every float what it becomes, and returns the largest error: 0 of what is not finite, which
    /// stays as it is.
    pub fn roundtrip(&self, values: &mut [f32]) -> f32 {
        payload::Engine::of_this_processor().roundtrip(&self.quantiser, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_that_no_class_keeps_are_refused() {
        for exponent in [i64::MIN, -10, 0, 16, 266, i64::MAX] {
            let error = Codec::new(Mode::Thesis, exponent).unwrap_err();
            assert_eq!(error, BoundError { exponent });
            assert!(error.to_string().contains("must be 1 to 15"), "{error}");
        }
        assert_eq!(Codec::new(Mode::Thesis, 1).map(|codec| codec.bound()), Ok(0.5));
        assert_eq!(Codec::new(Mode::Nearest, 15).map(|codec| codec.bound()), Ok(1.0 / 32768.0));
    }

    #[test]
    fn modes_have_names_of_their_own() {
        for mode in Mode::ALL {
            assert_eq!(Mode::named(mode.name()), Some(mode));
        }
        assert_eq!(Mode::named("Thesis"), None);
    }
}
