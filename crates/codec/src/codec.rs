//! Configuration of a codec: its mode and its bound.

use crate::format::Mode;
use crate::payload;
use crate::quantiser::Quantiser;
use thiserror::Error;

/// Smallest exponent k of a bound 2^-k; the largest bound is 2^-1.
pub const BOUND_EXPONENT_MIN: u32 = 1;
/// Largest exponent k of a bound 2^-k: the fifteen fractional bits of the 16-bit class keep 2^-15.
pub const BOUND_EXPONENT_MAX: u32 = 15;

impl Mode {
    /// All modes, in the order of their numbers in streams.
    pub const ALL: [Self; 3] = [Self::Thesis, Self::Bounded, Self::Nearest];

    /// Returns the name of the mode, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Thesis => "thesis",
            Self::Bounded => "bounded",
            Self::Nearest => "nearest",
        }
    }

    /// Returns the mode called `name`, or `None` if there is no such mode.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// Error of a bound that no codec supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("bound {exponent}: must be {BOUND_EXPONENT_MIN} to {BOUND_EXPONENT_MAX}, which means 2^-1 to 2^-15")]
pub struct BoundError {
    /// Exponent k of the requested bound 2^-k.
    pub exponent: i64,
}

/// Codec with a mode and a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codec {
    mode: Mode,
    bound_exponent: u8,
    pub(crate) quantiser: Quantiser,
}

impl Codec {
    /// Creates a codec with the bound 2^-`bound_exponent`.
    ///
    /// # Errors
    /// Returns a [`BoundError`] if the exponent is not 1 to 15.
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

    /// Returns the mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the exponent k of the bound 2^-k.
    #[must_use]
    pub fn bound_exponent(&self) -> u32 {
        u32::from(self.bound_exponent)
    }

    /// Returns the bound on the absolute error of a float.
    #[must_use]
    pub fn bound(&self) -> f32 {
        // 2^-k as the bits of a float: a biased exponent of 127 - k and no mantissa.
        f32::from_bits((127 - self.bound_exponent()) << 23)
    }

    /// Appends the payload of `values` to `out`: groups of eight, the last one padded with zeros, which take no bytes.
    ///
    /// Concatenated payloads of parts that are whole groups form the payload of the whole.
    pub fn encode(&self, values: &[f32], out: &mut Vec<u8>) {
        payload::encode(&self.quantiser, values, out);
    }

    /// Returns the value of a float after encoding and decoding.
    #[must_use]
    pub fn round(&self, value: f32) -> f32 {
        f32::from_bits(self.quantiser.round(value.to_bits()))
    }

    /// Replaces every float by its decoded value, and returns the largest error. Floats that are not finite are
    /// unchanged and have an error of 0.
    pub fn roundtrip(&self, values: &mut [f32]) -> f32 {
        payload::Engine::detect().roundtrip(&self.quantiser, values)
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
