//! Distribution of reads over banks, as hardware counters show it.

use serde::{Deserialize, Serialize};

/// Number of observed banks: the first banks of the first rank, as many as there are counters.
const OBSERVED: usize = 4;
/// Reads of the observed banks in a sample.
const SAMPLE: u32 = 1000;
/// Mean number of reads per observed bank in a sample.
const MEAN: u32 = SAMPLE / OBSERVED as u32;

/// Loads of four banks in samples of 1000 of their reads ("Understanding the Host Network", section 5.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BankLoads {
    reads: [u32; OBSERVED],
    /// Number of samples by the largest load in them, less the mean load.
    samples: Vec<u32>,
}

impl Default for BankLoads {
    fn default() -> Self {
        Self { reads: [0; OBSERVED], samples: vec![0; (SAMPLE - MEAN) as usize + 1] }
    }
}

impl BankLoads {
    /// Counts a read of a bank.
    #[inline]
    pub(super) fn read(&mut self, bank: usize) {
        if bank < OBSERVED {
            self.reads[bank] += 1;
            if self.reads.iter().sum::<u32>() == SAMPLE {
                let largest = self.reads.iter().max().map_or(MEAN, |&largest| largest);
                self.samples[(largest - MEAN) as usize] += 1;
                self.reads = [0; OBSERVED];
            }
        }
    }

    /// Returns the number of samples, and the number of those in which the largest load is at least `deviation` times
    /// the mean.
    #[must_use]
    pub fn samples_from(&self, deviation: f64) -> (u64, u64) {
        // Clamped, because a deviation beyond the largest possible load selects no sample.
        let first = ((deviation - 1.0) * f64::from(MEAN)).ceil().clamp(0.0, self.samples.len() as f64) as usize;
        let count = |samples: &[u32]| samples.iter().map(|&samples| u64::from(samples)).sum();
        (count(&self.samples), count(&self.samples[first..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_a_thousand_reads_of_the_watched_banks() {
        let mut loads = BankLoads::default();
        (0..999).for_each(|read| loads.read(read % 4));
        (0..500).for_each(|_| loads.read(4));
        assert_eq!(loads.samples_from(1.0), (0, 0), "one read short");
        loads.read(3);
        assert_eq!((loads.samples_from(1.0), loads.samples_from(1.001)), ((1, 1), (1, 0)), "even");
        (0..500).for_each(|_| loads.read(0));
        (0..500).for_each(|_| loads.read(1));
        assert_eq!((loads.samples_from(2.0), loads.samples_from(2.004)), ((2, 1), (2, 0)), "twice the mean");
        (0..1000).for_each(|_| loads.read(2));
        assert_eq!(loads.samples_from(4.0), (3, 1), "all in one bank");
    }
}
