//! The clock of a channel: from time to edges and back, exactly and without division.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// A clock whose period is a ratio of ps. Edge `n` is computed from `n`, so no rounding adds up.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Clock {
    numerator: u64,
    denominator: u64,
    /// Clocks per ps and ps per clock, in units of 2^-64 of 1 and of 2^-32 of 1.
    clocks_per_ps: u64,
    ps_per_clock: u64,
}

impl Clock {
    /// A clock with a period of `numerator / denominator` ps.
    ///
    /// # Panics
    /// If the period is not longer than 1 ps or not shorter than 1 ms.
    pub fn new(numerator: u64, denominator: u64) -> Self {
        assert!(denominator > 0 && numerator > denominator, "a period is longer than 1 ps");
        assert!(numerator / denominator < 1_000_000_000, "a period is shorter than 1 ms");
        Self {
            numerator,
            denominator,
            clocks_per_ps: ((u128::from(denominator) << 64) / u128::from(numerator)) as u64,
            ps_per_clock: ((u128::from(numerator) << 32) / u128::from(denominator)) as u64,
        }
    }

    /// The time of edge `clock`, rounded up to a ps.
    #[inline]
    pub fn edge(&self, clock: u64) -> Time {
        let mut ps = ((u128::from(clock) * u128::from(self.ps_per_clock)) >> 32) as u64;
        while wide(ps, self.denominator) < wide(clock, self.numerator) {
            ps += 1;
        }
        Time::from_ps(ps)
    }

    /// The first clock whose edge is at or after `time`.
    #[inline]
    pub fn at_or_after(&self, time: Time) -> u64 {
        let mut clock = ((u128::from(time.ps()) * u128::from(self.clocks_per_ps)) >> 64) as u64;
        while wide(clock, self.numerator) < wide(time.ps(), self.denominator) {
            clock += 1;
        }
        clock
    }
}

/// The product, which may not fit 64 bits when the data rate is no speed grade.
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
        fn edges_are_exact(numerator in 100_u64..20_000, denominator in 1_u64..12, clock in 0_u64..1 << 40, ps in 0_u64..1 << 50) {
            prop_assume!(numerator > denominator);
            let period = Clock::new(numerator, denominator);
            prop_assert_eq!(period.edge(clock).ps(), (clock * numerator).div_ceil(denominator));
            prop_assert_eq!(period.at_or_after(Time::from_ps(ps)), (ps * denominator).div_ceil(numerator));
        }
    }
}
