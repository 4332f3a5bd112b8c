//! Statistics of the occupancy of a queue over time.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// A quantity over time: its mean, standard deviation and extremes since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct OccupancyStats {
    value: u64,
    since: Time,
    reset_at: Time,
    sum: u128,
    sum_of_squares: u128,
    min: u64,
    max: u64,
}

impl OccupancyStats {
    /// Sets the quantity to `value` from `now` on.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, value: u64) {
        self.settle(now);
        self.value = value;
        // The maximum counts even if it lasts no time: the queue did reach it.
        self.max = self.max.max(value);
    }

    /// Brings the sums up to `now`, so that the getters cover the time until `now`.
    #[inline]
    pub fn settle(&mut self, now: Time) {
        let elapsed_ps = now.since(self.since);
        if elapsed_ps == 0 {
            return;
        }
        // A value that lasts no time is no minimum: a packet may enter a full queue at the very time another leaves
        // it.
        self.min = self.min.min(self.value);
        let area = u128::from(self.value) * u128::from(elapsed_ps);
        self.sum += area;
        self.sum_of_squares += area * u128::from(self.value);
        self.since = now;
    }

    /// Starts a new measurement window at `now`; the value stays.
    pub fn reset(&mut self, now: Time) {
        let value = self.value;
        *self = Self { value, since: now, reset_at: now, sum: 0, sum_of_squares: 0, min: value, max: value };
    }

    /// Returns the current value.
    #[must_use]
    pub fn value(&self) -> u64 {
        self.value
    }

    /// Returns the least value that lasted for some time since the last reset.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.min
    }

    /// Returns the greatest value since the last reset.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// Returns the mean over time since the last reset, up to the last change or update; the current value if no
    /// time has passed.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self.since.since(self.reset_at) {
            0 => self.value as f64,
            elapsed_ps => self.sum as f64 / elapsed_ps as f64,
        }
    }

    /// Returns the standard deviation over the same time as [`OccupancyStats::mean`]; 0 if no time has passed.
    #[must_use]
    pub fn standard_deviation(&self) -> f64 {
        match self.since.since(self.reset_at) {
            0 => 0.0,
            // Rounding may make a variance of 0 slightly negative.
            elapsed_ps => (self.sum_of_squares as f64 / elapsed_ps as f64 - self.mean().powi(2)).max(0.0).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_over_time() {
        let mut level = OccupancyStats::default();
        let at = Time::from_ps;
        level.set(at(10), 3);
        level.set(at(10), 4);
        level.set(at(20), 2);
        level.settle(at(40));
        assert_eq!((level.min(), level.max(), level.value()), (0, 4, 2));
        assert_eq!(level.mean(), (4.0 * 10.0 + 2.0 * 20.0) / 40.0);
        let mean_of_squares: f64 = (16.0 * 10.0 + 4.0 * 20.0) / 40.0;
        assert!((level.standard_deviation() - (mean_of_squares - 4.0).sqrt()).abs() < 1e-12);
        level.reset(at(40));
        assert_eq!((level.min(), level.max(), level.mean(), level.standard_deviation()), (2, 2, 2.0, 0.0));
        level.set(at(50), 9);
        level.settle(at(50));
        assert_eq!((level.min(), level.max(), level.mean()), (2, 9, 2.0));
    }
}
