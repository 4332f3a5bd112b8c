//! Clock of a channel: converts time to clock edges and back, exactly and without division.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Clock whose period is a ratio of ps. Edge `n` is computed from `n`, so that rounding errors do not accumulate.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct DramClock {
    ps_per_clock: Ratio,
    clocks_per_ps: Ratio,
}

impl DramClock {
    /// Creates a clock with a period of `numerator / denominator` ps.
    ///
    /// # Panics
    /// Panics if the period is not longer than 1 ps or not shorter than 1 ms.
    pub fn new(numerator: u64, denominator: u64) -> Self {
        assert!(denominator > 0 && numerator > denominator, "a period is longer than 1 ps");
        assert!(numerator / denominator < 1_000_000_000, "a period is shorter than 1 ms");
        Self { ps_per_clock: Ratio::new(numerator, denominator), clocks_per_ps: Ratio::new(denominator, numerator) }
    }

    /// Returns the time of edge `clock`, rounded up to a ps.
    #[inline]
    pub fn edge(&self, clock: u64) -> Time {
        Time::from_ps(self.ps_per_clock.times(clock))
    }

    /// Returns the first clock whose edge is at or after `time`.
    #[inline]
    pub fn at_or_after(&self, time: Time) -> u64 {
        self.clocks_per_ps.times(time.ps())
    }
}

/// Ratio as an integer and a fraction in units of 2^-128, rounded up. The error of a product with 64 bits is less than
/// any fraction with a denominator of 64 bits, so products rounded up are exact.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Ratio {
    whole: u64,
    fraction: [u64; 2],
    /// 1 minus the reciprocal of the denominator. Added before rounding down, it has the effect of rounding up.
    almost_one: [u64; 2],
}

impl Ratio {
    fn new(numerator: u64, denominator: u64) -> Self {
        Self {
            whole: numerator / denominator,
            fraction: fraction(numerator % denominator, denominator),
            almost_one: fraction(denominator - 1, denominator),
        }
    }

    /// Returns the product, rounded up.
    #[inline]
    fn times(&self, factor: u64) -> u64 {
        // A product of two 64-bit numbers leaves room for two more 64-bit numbers, so no sum here overflows 128 bits.
        let [low, high] = self.fraction.map(|part| wide(factor, part));
        let [low_one, high_one] = self.almost_one.map(u128::from);
        let fraction = high + high_one + ((low + low_one) >> 64);
        factor * self.whole + (fraction >> 64) as u64
    }
}

/// Returns `numerator / denominator`, which is less than 1, in units of 2^-128, rounded up: the lower and the upper 64
/// bits.
fn fraction(numerator: u64, denominator: u64) -> [u64; 2] {
    let denominator = u128::from(denominator);
    let left = u128::from(numerator) << 64;
    let (high, left) = (left / denominator, (left % denominator) << 64);
    let rounded_up = (high << 64) + left.div_ceil(denominator);
    [rounded_up as u64, (rounded_up >> 64) as u64]
}

#[inline]
fn wide(a: u64, b: u64) -> u128 {
    u128::from(a) * u128::from(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn edges_are_exact(
            numerator in 100_u64..20_000,
            denominator in 1_u64..12,
            clock in 0_u64..1 << 40,
            ps in 0_u64..1 << 50
        ) {
            prop_assume!(numerator > denominator);
            let period = DramClock::new(numerator, denominator);
            prop_assert_eq!(period.edge(clock).ps(), (clock * numerator).div_ceil(denominator));
            prop_assert_eq!(period.at_or_after(Time::from_ps(ps)), (ps * denominator).div_ceil(numerator));
        }

        #[test]
        fn every_data_rate_is_exact(
            denominator in 1_u64..1 << 40,
            period in 2_u64..1_000_000,
            part in any::<u64>(),
            clock in 0_u64..1 << 44,
            ps in any::<u64>()
        ) {
            let numerator = denominator * period + part % denominator;
            let clock_of = DramClock::new(numerator, denominator);
            let exact = |a: u64, b: u64, c: u64| (u128::from(a) * u128::from(b)).div_ceil(u128::from(c)) as u64;
            for clock in [clock, clock / denominator * denominator, clock / denominator * denominator + 1] {
                prop_assert_eq!(clock_of.edge(clock).ps(), exact(clock, numerator, denominator));
            }
            for ps in [ps, ps / numerator * numerator, ps / numerator * numerator + 1] {
                prop_assert_eq!(clock_of.at_or_after(Time::from_ps(ps)), exact(ps, denominator, numerator));
            }
        }
    }
}
