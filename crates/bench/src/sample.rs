//! Repeated measurements on a machine that runs other programs as well.

/// One repetition of a benchmark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Duration of the measured part, in seconds.
    pub seconds: f64,
    /// Events handled in the measured part.
    pub events: u64,
    /// Largest number of events pending at the same time.
    pub pending_max: u64,
    /// Hash of the result.
    pub hash: u64,
}

/// Work whose instructions are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Number of lines, packets, requests or flit-hops.
    pub units: u64,
    /// Hash of the result.
    pub hash: u64,
}

/// The repetitions of several benchmarks that do the same work.
#[derive(Clone, Debug)]
pub struct Samples(Vec<Vec<Sample>>);

/// Runs the `benchmarks` alternately, `repetitions` times each, so that a disturbance affects all of them alike.
///
/// # Panics
/// Panics if the results of two runs differ.
pub fn interleaved(repetitions: usize, benchmarks: &[&dyn Fn() -> Sample]) -> Samples {
    let mut samples = vec![Vec::with_capacity(repetitions); benchmarks.len()];
    for _ in 0..repetitions.max(1) {
        for (benchmark, samples) in benchmarks.iter().zip(&mut samples) {
            samples.push(benchmark());
        }
    }
    let mut all = samples.iter().flatten();
    let expected = all.next().map(|sample| (sample.events, sample.hash));
    assert!(all.all(|sample| Some((sample.events, sample.hash)) == expected), "equal work gave different results");
    Samples(samples)
}

impl Samples {
    /// Returns the repetition of benchmark `index` with the median time.
    ///
    /// # Panics
    /// Panics if there is no such benchmark.
    #[must_use]
    pub fn typical(&self, index: usize) -> Sample {
        let mut sorted = self.0[index].clone();
        sorted.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
        sorted[sorted.len() / 2]
    }

    /// Returns the speed of benchmark `index` relative to benchmark `reference`: the median over the repetitions.
    ///
    /// # Panics
    /// Panics if there is no such benchmark.
    #[must_use]
    pub fn times_as_fast(&self, index: usize, reference: usize) -> f64 {
        let pairs = self.0[reference].iter().zip(&self.0[index]);
        let mut ratios: Vec<f64> = pairs.map(|(reference, sample)| reference.seconds / sample.seconds).collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ratios.len() / 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn medians_ignore_a_disturbance() {
        let turn = Cell::new(0_u32);
        let sample = |seconds: f64| Sample { seconds, events: 5, pending_max: 2, hash: 7 };
        let slow = || {
            turn.set(turn.get() + 1);
            sample(if turn.get() == 2 { 100.0 } else { 4.0 })
        };
        let samples = interleaved(3, &[&slow, &|| sample(2.0)]);
        assert_eq!(samples.typical(0).seconds, 4.0);
        assert_eq!(samples.times_as_fast(1, 0), 2.0);
    }

    #[test]
    #[should_panic(expected = "different results")]
    fn a_different_result_is_found_out() {
        let sample = |hash| Sample { seconds: 1.0, events: 5, pending_max: 2, hash };
        interleaved(1, &[&|| sample(1), &|| sample(2)]);
    }
}
