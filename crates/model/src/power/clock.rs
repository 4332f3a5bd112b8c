//! Clock of a core. Times given at the reference clock stand for cycles, which take longer at a lower frequency.

use serde::{Deserialize, Serialize};

/// Current and reference frequency of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Frequency at which times are given, in kHz. 0 for a core without P-states.
    pub reference_khz: u32,
    /// Current frequency, in kHz.
    pub khz: u32,
}

impl Clock {
    /// Converts a `time` at the reference clock, in any unit, to the current clock.
    #[inline]
    #[must_use]
    pub fn stretched(self, time: u64) -> u64 {
        scaled(time, self.reference_khz.into(), self.khz.into())
    }

    /// Converts a `time` at the current clock to the reference clock.
    #[must_use]
    pub fn unstretched(self, time: u64) -> u64 {
        scaled(time, self.khz.into(), self.reference_khz.into())
    }

    /// Converts a remaining `time` at the clock `before` to the current one.
    #[must_use]
    pub fn rescale_remaining(self, before: Self, time: u64) -> u64 {
        scaled(time, before.khz.into(), self.khz.into())
    }
}

/// Change of the clock of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// The core switches to another frequency.
    To(Clock),
    /// The core halts for this long, in ps.
    Halt(u64),
}

/// Converts a time from one clock to another, rounded up.
#[inline]
pub(crate) fn scaled(time: u64, from_khz: u64, to_khz: u64) -> u64 {
    // Speed only; 0 for both stands for a core without P-states.
    if from_khz == to_khz {
        return time;
    }
    // Rounded up, so that work never takes no time because of its clock.
    let scaled = (u128::from(time) * u128::from(from_khz)).div_ceil(u128::from(to_khz.max(1)));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}
