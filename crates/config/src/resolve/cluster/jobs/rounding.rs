//! Durations in execution traces.

use hostnet_traffic::chakra::DURATION_MAX_PS;

const PS_PER_US: i128 = 1_000_000;

/// Rounds times to whole microseconds and carries the remainder to the next time.
#[derive(Default)]
pub(super) struct Rounding(i128);

impl Rounding {
    pub(super) fn of(&mut self, ps: u64) -> u64 {
        let wanted = self.0 + i128::from(ps);
        let micros = (wanted + PS_PER_US / 2).div_euclid(PS_PER_US).max(0);
        let rounded = u64::try_from(micros * PS_PER_US).unwrap_or(u64::MAX).min(DURATION_MAX_PS);
        self.0 = wanted - i128::from(rounded);
        rounded
    }
}
