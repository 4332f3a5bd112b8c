//! Random numbers: an independent stream per part, in integers only, so that no float decides an order.

use rand_core::{Rng as _, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

/// Seeded stream of random integers (xoshiro256++). The draws are frozen: they never change between releases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rng(Xoshiro256PlusPlus);

impl Rng {
    /// Creates the stream of part `stream` in the run with `seed`. Streams of one seed are independent.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        // mix(0) is 0: the golden ratio keeps stream 0 from leaving the seed as it is.
        Self(Xoshiro256PlusPlus::seed_from_u64(mix(seed ^ mix(stream.wrapping_add(0x9e37_79b9_7f4a_7c15)))))
    }

    /// Draws a uniform 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Draws a uniform number below `bound`.
    ///
    /// # Panics
    /// Panics if `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "no number is below 0");
        // Multiply and shift: one draw per number, without a division or a rejection.
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Draws true with a probability of `share` / 2^32.
    pub fn chance(&mut self, share: u64) -> bool {
        // The upper half: a share of 2^32 is then always true, 0 never.
        (self.next_u64() >> 32) < share
    }

    /// Draws a uniform number in `mean - spread ..= mean + spread`; `spread` is capped at `mean`.
    pub fn around(&mut self, mean: u64, spread: u64) -> u64 {
        let spread = spread.min(mean);
        if spread == 0 {
            return mean;
        }
        // Both ends are included, so that the draws are symmetric around `mean`.
        mean - spread + self.below(2 * spread + 1)
    }
}

/// Returns the finaliser of splitmix64, a bijection that spreads every input bit over all output bits.
#[must_use]
#[inline]
pub fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_frozen() {
        // Expected values are from an independent implementation of xoshiro256++, seeded by splitmix64.
        let mut rng = Rng::new(1, 2);
        assert_eq!([rng.next_u64(), rng.next_u64()], [10_429_541_738_275_224_741, 7_851_883_561_255_609_884]);
        assert_eq!([(); 6].map(|()| rng.below(1000)), [659, 478, 275, 540, 910, 880]);
        assert_eq!([(); 8].map(|()| rng.chance(1 << 31)), [false, false, true, true, false, false, true, true]);
        assert_eq!([(); 4].map(|()| rng.around(1000, 50)), [961, 1018, 961, 980]);
        assert_eq!(Rng::new(1, 3).next_u64(), 2_125_327_021_072_796_924);
        assert_eq!(Rng::new(2, 2).next_u64(), 8_726_644_038_990_730_650);
    }

    #[test]
    fn draws_are_even() {
        let mut rng = Rng::new(9, 9);
        let mut counts = [0_u32; 7];
        (0..70_000).for_each(|_| counts[rng.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| (9_600..10_400).contains(count)), "{counts:?}");
        let hits = (0..64_000).filter(|_| rng.chance(1 << 30)).count();
        assert!((15_500..16_500).contains(&hits), "{hits} of 64000 with a chance of a quarter");
    }

    #[test]
    fn around_stays_inside() {
        let mut rng = Rng::new(7, 0);
        for _ in 0..1000 {
            assert!((70..=130).contains(&rng.around(100, 30)));
        }
        assert_eq!(rng.around(100, 0), 100);
    }
}
