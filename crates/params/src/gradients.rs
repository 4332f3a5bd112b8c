//! Recorded gradients, as the compression engines of NICs use them.

use serde::{Deserialize, Serialize};

/// Bytes of a float.
const FLOAT_BYTES: u64 = 4;

/// Compressed sizes of the floats of recorded gradients, in order. A vector repeats them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GradientParams {
    /// Number of floats; at least 1.
    floats: u64,
    /// Floats between two points, a multiple of 8; the last interval may be shorter.
    step: u64,
    /// Bits left of all floats before each point, and of all floats at the end.
    bits_before: Vec<u64>,
}

impl GradientParams {
    /// Largest number of points, which bounds the memory of the engines of many hosts. Gradients with more groups of
    /// eight floats are averaged between two points.
    pub const POINTS: u64 = 2048;

    /// Creates the sizes of `floats` floats, at least 1. `groups` yields the bits left of each group of eight floats
    /// without its tag; the last group may have fewer floats. Surplus groups are ignored.
    #[must_use]
    pub fn new(floats: u64, groups: impl IntoIterator<Item = u64>) -> Self {
        let all = floats.div_ceil(8);
        let per_point = all.div_ceil(Self::POINTS).max(1);
        let (mut bits_before, mut sum) = (Vec::new(), 0);
        for (number, bits) in (0..all).zip(groups) {
            if number % per_point == 0 {
                bits_before.push(sum);
            }
            sum += bits;
        }
        // One point more ends the last interval.
        bits_before.push(sum);
        Self { floats, step: 8 * per_point, bits_before }
    }

    /// Returns the bits left of the first `float` floats, for fewer floats than were recorded.
    fn bits_before(&self, float: u64) -> u64 {
        let (point, more) = ((float / self.step) as usize, float % self.step);
        let (from, to) = (self.bits_before[point], self.bits_before[(point + 1).min(self.bits_before.len() - 1)]);
        // The last interval may be shorter.
        let between = self.step.min(self.floats - point as u64 * self.step);
        from + ((to - from) * more + between / 2) / between
    }

    /// Returns the bits left of the first `float` floats of a vector, which repeats the recorded gradients.
    fn bits_before_repeated(&self, float: u64) -> u64 {
        let all = self.bits_before.last().copied().unwrap_or(0);
        float / self.floats * all + self.bits_before(float % self.floats)
    }

    /// Returns the bits left of `floats` floats from byte `at` of a vector, without tags.
    #[must_use]
    pub fn left_bits(&self, at: u64, floats: u64) -> u64 {
        let from = at / FLOAT_BYTES % self.floats;
        self.bits_before_repeated(from + floats) - self.bits_before(from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn groups_have_what_was_recorded(
            groups in proptest::collection::vec(0_u64..=256, 1..100), missing in 0_u64..8, at in 0_usize..300,
        ) {
            let floats = 8 * groups.len() as u64 - missing;
            let gradients = GradientParams::new(floats, groups.iter().copied());
            let last = groups.len() - 1;
            let group = at % groups.len();
            let own = if group == last { 8 - missing } else { 8 };
            prop_assert_eq!(gradients.left_bits(32 * group as u64, own), groups[group]);
            // After any number of repetitions the vector continues with the first group.
            let from = 4 * floats * (at as u64);
            prop_assert_eq!(gradients.left_bits(from + 32 * group as u64, own), groups[group]);
            prop_assert_eq!(gradients.left_bits(from, 3 * floats), 3 * groups.iter().sum::<u64>());
        }

        #[test]
        fn parts_add_up_however_many_points_there_are(
            groups in 1_u64..20_000, cuts in proptest::collection::vec(0_u64..200_000, 1..20),
        ) {
            let gradients = GradientParams::new(8 * groups, (0..groups).map(|group| group * group % 257));
            let mut cuts = cuts;
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|cut| gradients.left_bits(4 * cut[0], cut[1] - cut[0])).sum::<u64>();
            let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
            prop_assert_eq!(parts, gradients.left_bits(4 * first, last - first));
            prop_assert!(gradients.bits_before.len() as u64 <= GradientParams::POINTS + 1);
        }
    }
}
