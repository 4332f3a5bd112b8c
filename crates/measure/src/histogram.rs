//! Latency histograms.

use serde::{Deserialize, Serialize};

/// Sub-buckets per power of two: 64 gives a resolution of 1/64.
const SUB_BITS: u32 = 6;
const SUB: u64 = 1 << SUB_BITS;
/// Values up to 2^44 ps = 17 s; larger ones count in the last bucket.
const BUCKETS: usize = ((44 - SUB_BITS as usize + 1) * SUB as usize) + SUB as usize;

/// Counts of values in log-linear buckets, with the exact sum. Values are picoseconds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    counts: Vec<u64>,
    count: u64,
    sum: u128,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], count: 0, sum: 0 }
    }
}

impl Histogram {
    /// Adds one value in ps.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.counts[bucket(value)] += 1;
        self.count += 1;
        self.sum += u128::from(value);
    }

    /// How many values were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The exact sum of the values.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// The exact mean in ps, or none when nothing was recorded.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The middle of the bucket that holds the value of rank `share` (0 to 1), in ps.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        let mut seen = 0;
        for (index, &count) in self.counts.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return Some(middle(index));
            }
        }
        None
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
    }

    /// Forgets all values and keeps the memory.
    pub fn reset(&mut self) {
        self.counts.fill(0);
        self.count = 0;
        self.sum = 0;
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    // Values below `SUB` have a bucket each, those of a power of two above it `SUB` buckets.
    let shift = 63 - SUB_BITS - (value | SUB).leading_zeros();
    let index = u64::from(shift) * SUB + (value >> shift);
    (index as usize).min(BUCKETS - 1)
}

fn middle(index: usize) -> f64 {
    let index = index as u64;
    if index < SUB {
        return index as f64;
    }
    let shift = index / SUB - 1;
    let low = (SUB + index % SUB) << shift;
    low as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_within_resolution(mut values in prop::collection::vec(0_u64..1 << 40, 1..300), share in 0.0..1.0_f64) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let found = histogram.quantile(share).expect("values were recorded");
            prop_assert!((found - exact).abs() <= exact / 64.0 + 0.5, "{found} is not near {exact}");
            prop_assert_eq!(histogram.sum(), values.iter().map(|&value| u128::from(value)).sum::<u128>());
        }

        #[test]
        fn merging_is_recording_both(a in prop::collection::vec(any::<u64>(), 0..50), b in prop::collection::vec(any::<u64>(), 0..50)) {
            let record = |values: &[u64]| {
                let mut histogram = Histogram::default();
                values.iter().for_each(|&value| histogram.record(value));
                histogram
            };
            let mut merged = record(&a);
            merged.merge(&record(&b));
            prop_assert_eq!(merged, record(&[a, b].concat()));
        }
    }
}
