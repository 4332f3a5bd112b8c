//! Latency histograms.

use serde::{Deserialize, Serialize};

/// Binary logarithm of the sub-buckets per power of two: 64 of them give a resolution of 1/64.
const SUB_BITS: u32 = 6;
const SUB: u64 = 1 << SUB_BITS;
/// Number of buckets, for values up to 2^44 ps = 17 s; larger values count in the last bucket.
const BUCKETS: usize = ((44 - SUB_BITS as usize + 1) * SUB as usize) + SUB as usize;

/// Histogram of times in log-linear buckets, with the exact sum and maximum. Values are in ps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Histogram {
    /// Counts modulo 2^32; empty before the first value, as most histograms of a server never get one. Shorter counts
    /// keep more buckets in the processor's caches.
    counts: Vec<u32>,
    /// Buckets whose count has exceeded 2^32, once for each wrap, in order.
    wrapped: Vec<u16>,
    count: u64,
    sum: u128,
    most: u64,
}

impl Histogram {
    /// Records one value, in ps.
    #[inline]
    pub fn record(&mut self, value: u64) {
        self.count += 1;
        self.sum += u128::from(value);
        self.most = self.most.max(value);
        let bucket = bucket(value);
        match self.counts.get_mut(bucket) {
            Some(count) if *count < u32::MAX => *count += 1,
            // The rare cases in one branch: the first value, a count that wraps, and a value beyond the last bucket.
            _ => self.record_beyond(bucket.min(BUCKETS - 1)),
        }
    }

    /// Counts a value in a bucket that may be full, or not be there yet.
    #[cold]
    #[inline(never)]
    fn record_beyond(&mut self, bucket: usize) {
        self.counts.resize(BUCKETS, 0);
        let count = &mut self.counts[bucket];
        *count = count.wrapping_add(1);
        if *count == 0 {
            self.wrapped.push(bucket as u16);
            // Sorted, so that equal histograms have equal states in whatever order their buckets wrapped.
            self.wrapped.sort_unstable();
        }
    }

    /// Returns the number of values recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the exact sum of the values, in ps.
    #[must_use]
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Returns the exact mean in ps, or `None` if nothing was recorded.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Returns the largest value in ps, or 0 if nothing was recorded.
    #[must_use]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Returns the value of rank `share` (0 to 1) as the middle of its bucket, in ps, and at most the largest value.
    /// The last rank gives the largest value exactly.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        // Nearest-rank definition; a share of 0 is the first value.
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count);
        if rank == self.count {
            return Some(self.most as f64);
        }
        let mut seen = 0;
        let at_rank = self.buckets().find(|(_, count)| {
            seen += count;
            seen >= rank
        });
        at_rank.map(|(value, _)| value)
    }

    /// Returns the middle of each occupied bucket in ascending order, in ps, and at most the largest value, with the
    /// number of values in the bucket.
    pub fn buckets(&self) -> impl Iterator<Item = (f64, u64)> + '_ {
        let counts = self.counts.iter().enumerate().map(|(index, &count)| {
            let wraps = self.wrapped.iter().filter(|&&bucket| usize::from(bucket) == index).count();
            // The middle of the last occupied bucket may lie above every value in it.
            (middle(index).min(self.most as f64), u64::from(count) + ((wraps as u64) << 32))
        });
        counts.filter(|&(_, count)| count > 0)
    }

    /// Adds the counts of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        self.counts.resize(BUCKETS, 0);
        self.wrapped.extend(&other.wrapped);
        let mut wraps = false;
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine = mine.wrapping_add(*theirs);
            // A sum that wrapped is smaller than either summand.
            wraps |= *mine < *theirs;
        }
        if wraps {
            let pairs = self.counts.iter().zip(&other.counts).enumerate();
            let wrapped = pairs.filter(|(_, (mine, theirs))| mine < theirs);
            self.wrapped.extend(wrapped.map(|(bucket, _)| bucket as u16));
        }
        self.wrapped.sort_unstable();
        self.count += other.count;
        self.sum += other.sum;
        self.most = self.most.max(other.most);
    }

    /// Clears all values and keeps the memory.
    pub fn reset(&mut self) {
        self.counts.clear();
        self.wrapped.clear();
        self.count = 0;
        self.sum = 0;
        self.most = 0;
    }
}

/// Returns the bucket of a value, which may lie beyond the last one.
#[inline]
fn bucket(value: u64) -> usize {
    // Values below `SUB` have a bucket each; each power of two above has `SUB` buckets.
    let shift = 63 - SUB_BITS - (value | SUB).leading_zeros();
    (u64::from(shift) * SUB + (value >> shift)) as usize
}

fn middle(index: usize) -> f64 {
    let index = index as u64;
    if index < SUB {
        return index as f64;
    }
    let shift = index / SUB - 1;
    // Inverse of `bucket`: the leading bit is implicit, as in a float.
    let low = (SUB + index % SUB) << shift;
    low as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_go_on_beyond_32_bits() {
        let mut histogram = Histogram::default();
        histogram.record(7);
        histogram.record(9);
        for _ in 0..33 {
            histogram.merge(&histogram.clone());
        }
        let more = histogram.clone();
        histogram.record(9);
        assert_eq!(histogram.count(), (1 << 34) + 1);
        assert_eq!((histogram.quantile(0.4999), histogram.quantile(0.5001)), (Some(7.0), Some(9.0)));
        assert_ne!(histogram, more);
        histogram.counts[9] = u32::MAX;
        histogram.wrapped.clear();
        histogram.record(9);
        assert_eq!((histogram.counts[9], histogram.wrapped.as_slice()), (0, &[9][..]));
        histogram.reset();
        assert_eq!(histogram, Histogram::default());
    }

    proptest! {
        #[test]
        fn quantiles_are_within_resolution(
            mut values in prop::collection::vec(0_u64..1 << 40, 1..300),
            share in 0.0..1.0_f64
        ) {
            let mut histogram = Histogram::default();
            values.iter().for_each(|&value| histogram.record(value));
            values.sort_unstable();
            let rank = ((share * values.len() as f64).ceil() as usize).clamp(1, values.len());
            let exact = values[rank - 1] as f64;
            let found = histogram.quantile(share).expect("values were recorded");
            prop_assert!((found - exact).abs() <= exact / 64.0 + 0.5, "{found} is not near {exact}");
            let most = values[values.len() - 1];
            prop_assert_eq!((histogram.most(), histogram.quantile(1.0)), (most, Some(most as f64)));
            prop_assert_eq!(histogram.buckets().map(|(_, count)| count).sum::<u64>(), values.len() as u64);
            prop_assert!(histogram.buckets().is_sorted() && histogram.buckets().all(|(value, _)| value <= most as f64));
            prop_assert!(found <= most as f64 && histogram.mean().is_some_and(|mean| mean <= most as f64));
            prop_assert_eq!(histogram.sum(), values.iter().map(|&value| u128::from(value)).sum::<u128>());
        }

        #[test]
        fn merging_is_recording_both(
            a in prop::collection::vec(any::<u64>(), 0..50),
            b in prop::collection::vec(any::<u64>(), 0..50)
        ) {
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
