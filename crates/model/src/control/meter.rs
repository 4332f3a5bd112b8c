//! Meters, which turn registers of the IIO into signals.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Difference between two reads of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RegisterDifference {
    pub(super) counted: u64,
    pub(super) ps: u64,
}

impl RegisterDifference {
    /// Returns the mean occupancy in units of 2^-10 lines, for a register that accumulates it every `clock_ps` ps.
    pub(super) fn occupancy(self, clock_ps: u64) -> u64 {
        self.per_ps(u128::from(clock_ps) << 10)
    }

    /// Returns the bandwidth in bytes per second, for a register that counts lines.
    pub(super) fn bandwidth(self) -> u64 {
        self.per_ps(64 * 1_000_000_000_000)
    }

    fn per_ps(self, scale: u128) -> u64 {
        // Saturates: two reads 1 ps apart may give a rate beyond 64 bits.
        u64::try_from(u128::from(self.counted) * scale / u128::from(self.ps)).unwrap_or(u64::MAX)
    }
}

/// Last read of a register.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct RegisterMeter {
    last: Option<(Time, u64)>,
}

impl RegisterMeter {
    /// Records a read of `value`. Returns the difference to the previous read, or nothing for the first read and for a
    /// second read at the same instant.
    pub(super) fn read(&mut self, now: Time, value: u64) -> Option<RegisterDifference> {
        let (before, counted) = self.last.replace((now, value))?;
        // Registers wrap, and so does their difference.
        let difference = RegisterDifference { counted: value.wrapping_sub(counted), ps: now.since(before) };
        // Two reads at one time give no rate.
        (difference.ps > 0).then_some(difference)
    }
}

/// Exponentially weighted moving average that starts at 0, in integers as in a kernel.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct MovingAverage {
    value: u64,
}

impl MovingAverage {
    /// Adds a sample with a weight of 2 to the minus `shift`, and returns the average. It rounds down: from below, it
    /// stays up to 2^shift - 1 units below a constant sample.
    pub(super) fn take(&mut self, sample: u64, shift: u32) -> u64 {
        // `u128`, so that a sample of 64 bits times its weight does not overflow.
        let weight = (1_u128 << shift) - 1;
        self.value = ((u128::from(self.value) * weight + u128::from(sample)) >> shift) as u64;
        self.value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_first_read_and_a_second_at_the_same_time_tell_nothing() {
        let mut meter = RegisterMeter::default();
        assert_eq!(meter.read(Time::from_ps(7), 100), None);
        assert_eq!(meter.read(Time::from_ps(7), 100), None);
        assert_eq!(meter.read(Time::from_ps(17), 130), Some(RegisterDifference { counted: 30, ps: 10 }));
    }

    #[test]
    fn a_register_may_wrap() {
        let mut meter = RegisterMeter::default();
        let _ = meter.read(Time::ZERO, u64::MAX - 9);
        assert_eq!(meter.read(Time::from_ps(1), 5), Some(RegisterDifference { counted: 15, ps: 1 }));
    }

    #[test]
    fn signals_are_lines_and_bytes_per_second() {
        // 65 lines over 300 clocks of 2 ns, in which 150 lines arrived.
        let ps = 600_000;
        assert_eq!(RegisterDifference { counted: 65 * 300, ps }.occupancy(2000), 65 << 10);
        assert_eq!(RegisterDifference { counted: 150, ps }.bandwidth(), 16_000_000_000);
        assert_eq!(RegisterDifference { counted: u64::MAX, ps: 1 }.bandwidth(), u64::MAX);
    }

    #[test]
    fn an_average_without_shift_is_the_sample() {
        let mut average = MovingAverage::default();
        assert_eq!(average.take(12_345, 0), 12_345);
        assert_eq!(average.take(1, 0), 1);
    }

    #[test]
    fn one_sample_has_its_weight() {
        let mut average = MovingAverage::default();
        assert_eq!(average.take(8 << 10, 3), 1 << 10);
        assert_eq!(average.take(8 << 10, 3), (7 << 10) / 8 + (1 << 10));
        assert_eq!(MovingAverage::default().take(255, 8), 0);
        assert_eq!(MovingAverage::default().take(256, 8), 1);
    }

    proptest! {
        #[test]
        fn an_average_comes_to_a_constant_sample(
            start in 0_u64..1 << 40,
            sample in 0_u64..1 << 40,
            shift in 0_u32..=8
        ) {
            let mut average = MovingAverage { value: start };
            let mut before = start;
            for _ in 0..40 << shift {
                let now = average.take(sample, shift);
                let between = if start >= sample { sample..=before } else { before..=sample };
                prop_assert!(between.contains(&now), "{now} after {before} for {sample}");
                before = now;
            }
            prop_assert!(sample.abs_diff(before) < 1 << shift, "{before} for {sample}");
            if start >= sample {
                prop_assert_eq!(before, sample);
            }
        }
    }
}
