//! Simulated time.

use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign, Sub};

/// Simulated time, in picoseconds since the start of the run. The range is 213 days.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Time(u64);

impl Time {
    /// Start of the run.
    pub const ZERO: Self = Self(0);
    /// Largest time, later than every event.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the time `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds since the start.
    #[must_use]
    pub const fn ps(self) -> u64 {
        self.0
    }

    /// Returns the nanoseconds since the start, for display and plots.
    #[must_use]
    pub fn ns(self) -> f64 {
        self.0 as f64 / 1000.0
    }

    /// Returns the picoseconds from `earlier` to `self`.
    ///
    /// # Panics
    /// Panics if `earlier` is later than `self`: time never runs backwards.
    #[must_use]
    #[inline]
    pub fn since(self, earlier: Self) -> u64 {
        // Checked in release builds too: a wrapped difference would be a latency of months.
        self.0.checked_sub(earlier.0).unwrap_or_else(|| ran_backwards(self, earlier))
    }

    /// Returns `self + ps`, or [`Time::MAX`] if the sum does not fit.
    #[must_use]
    pub const fn saturating_add(self, ps: u64) -> Self {
        Self(self.0.saturating_add(ps))
    }
}

/// Panics out of line, so that callers of [`Time::since`] do not carry the code of the message.
#[cold]
#[inline(never)]
fn ran_backwards(later: Time, earlier: Time) -> ! {
    panic!("time ran backwards: {} ps after {} ps", later.0, earlier.0)
}

impl Add<u64> for Time {
    type Output = Self;
    fn add(self, ps: u64) -> Self {
        Self(self.0 + ps)
    }
}

impl AddAssign<u64> for Time {
    fn add_assign(&mut self, ps: u64) {
        self.0 += ps;
    }
}

impl Sub<u64> for Time {
    type Output = Self;
    fn sub(self, ps: u64) -> Self {
        Self(self.0 - ps)
    }
}
