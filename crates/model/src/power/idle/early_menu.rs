//! Menu governor of early kernels: predicts by the next timer, corrected by how far sleeps have fallen short of it,
//! or by the mean of the last sleeps.

use super::menu::{bucket, BUCKETS, DECAY, INTERVALS, LONG_PS, PS_PER_NS, RESOLUTION, VARIANCE_SMALL};
use super::CStateLatency;
use serde::{Deserialize, Serialize};

/// Timers that expire sooner than this are polled for, in ps.
const SOON_PS: u64 = 5_000_000;
/// Longest time to the next kernel timer, in ps (assumed).
const TIMER_MAX_PS: u64 = 1_000_000_000_000;
/// Weight of each outstanding storage read against sleep (`performance_multiplier`).
const RELUCTANCE: u64 = 10;

/// `menu.c` of Linux 2.6.38, for a core with a stopped tick and without the average load of `performance_multiplier`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EarlyMenu {
    depths: Vec<CStateLatency>,
    /// Corrections by magnitude, without and with outstanding IO, in units of 1 / (`RESOLUTION` x `DECAY`).
    corrections: [u64; 2 * BUCKETS],
    /// Last sleeps, exit latency included, in ns.
    intervals: [u64; INTERVALS],
    /// Index of the oldest sleep.
    oldest: usize,
    timer_ps: u64,
    bucket: usize,
    exit_ps: u64,
}

impl EarlyMenu {
    pub(super) fn new(depths: Vec<CStateLatency>) -> Self {
        Self {
            depths,
            corrections: [RESOLUTION * DECAY; 2 * BUCKETS],
            intervals: [0; INTERVALS],
            oldest: 0,
            timer_ps: 0,
            bucket: 0,
            exit_ps: 0,
        }
    }

    /// Returns the C-state to sleep in, with `reads` outstanding storage reads.
    pub(super) fn select(&mut self, timer_ps: u64, qos_ps: Option<u64>, reads: u32) -> Option<usize> {
        self.timer_ps = timer_ps.min(TIMER_MAX_PS);
        // Six corrections without and six with storage outstanding, as `which_bucket` of Linux.
        self.bucket = bucket(self.timer_ps) + if reads > 0 { BUCKETS } else { 0 };
        let predicted_ps = self.predicted_ps();
        let reluctance = 1 + RELUCTANCE * u64::from(reads);
        let suits = |depth: &CStateLatency| {
            depth.fits(qos_ps)
                && depth.residency_ps <= predicted_ps
                && depth.exit_ps.saturating_mul(reluctance) <= predicted_ps
        };
        // Polls only if a timer expires within 5 us (`menu_select` of 2.6.38).
        let lightest =
            Some(0).filter(|_| self.timer_ps > SOON_PS && self.depths.first().is_some_and(|own| own.fits(qos_ps)));
        let chosen = self.depths.iter().rposition(suits).or(lightest);
        self.exit_ps = chosen.map_or(0, |at| self.depths[at].exit_ps);
        chosen
    }

    pub(super) fn reflect(&mut self, slept_ps: u64) {
        // Linux subtracts the exit latency only from sleeps that were longer.
        let measured_ps = if slept_ps > self.exit_ps { slept_ps - self.exit_ps } else { slept_ps };
        let correction = &mut self.corrections[self.bucket];
        *correction -= correction.div_ceil(DECAY);
        *correction += if self.timer_ps > 0 && measured_ps < LONG_PS {
            (u128::from(RESOLUTION) * u128::from(measured_ps) / u128::from(self.timer_ps)).min(u128::from(RESOLUTION))
                as u64
        } else {
            RESOLUTION
        };
        // Never 0, from which a multiplication would not recover (as in Linux).
        *correction = (*correction).max(1);
        self.intervals[self.oldest] = slept_ps / PS_PER_NS;
        self.oldest = (self.oldest + 1) % INTERVALS;
    }

    /// Returns the predicted sleep, in ps.
    pub(super) fn predicted_ps(&self) -> u64 {
        let unit = u128::from(RESOLUTION * DECAY);
        let corrected = (u128::from(self.timer_ps) * u128::from(self.corrections[self.bucket]) + unit / 2) / unit;
        let mean = self.intervals.iter().sum::<u64>() / INTERVALS as u64;
        let squares: u128 = self.intervals.iter().map(|ns| u128::from(ns.abs_diff(mean)).pow(2)).sum();
        // A deviation of less than 20 us, at any mean.
        let alike = mean > 0 && squares / (INTERVALS as u128) < VARIANCE_SMALL;
        // A typical sleep beyond the timer is no prediction: the timer ends it.
        if alike && mean.saturating_mul(PS_PER_NS) <= self.timer_ps {
            return mean * PS_PER_NS;
        }
        u64::try_from(corrected).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::tables;

    const US: u64 = 1_000_000;
    const MS: u64 = 1000 * US;

    fn fresh() -> EarlyMenu {
        EarlyMenu::new(CStateLatency::all(&tables::cstates()))
    }

    /// Returns a governor after sleeps of the given lengths in us, with a timer 40 ms ahead.
    fn after(us: &[u64]) -> EarlyMenu {
        let mut menu = fresh();
        for us in us {
            let _ = menu.select(40 * MS, None, 0);
            menu.exit_ps = 0;
            menu.reflect(us * US);
        }
        let _ = menu.select(40 * MS, None, 0);
        menu
    }

    #[test]
    fn sleeps_that_are_all_alike_are_expected_again() {
        assert_eq!(after(&[60; 8]).predicted_ps(), 60 * US);
        assert_eq!(after(&[41, 79, 41, 79, 41, 79, 41, 79]).predicted_ps(), 60 * US, "a deviation of 19 us");
        assert!(after(&[39, 81, 39, 81, 39, 81, 39, 81]).predicted_ps() > 10 * MS, "of 21: the timer is corrected");
        assert!(after(&[60, 60, 60, 60, 60, 60, 60, 9000]).predicted_ps() > MS, "one that is not is enough");
    }

    #[test]
    fn a_correction_moves_by_an_eighth() {
        // 8192 - 1024 + 1024 x 10 / 40 = 7424 of 8192.
        assert_eq!(after(&[10_000]).predicted_ps(), 40 * MS * 7424 / 8192);
    }

    #[test]
    fn the_lightest_sleep_is_taken_rather_than_polling_unless_a_timer_comes_soon() {
        let mut menu = after(&[1; 8]);
        assert_eq!(menu.select(40 * MS, None, 0), Some(0));
        assert_eq!(menu.select(5 * US, None, 0), None);
        assert_eq!(menu.select(5 * US + 1, None, 0), Some(0));
        assert_eq!(menu.select(40 * MS, Some(0), 0), None, "PM QoS allows none");
    }

    #[test]
    fn waits_for_storage_make_it_reluctant() {
        let deepest = tables::cstates().len() - 1;
        let exit_ps = tables::cstates()[deepest].exit_ps;
        let mut menu = fresh();
        assert_eq!(menu.select(exit_ps * 21, None, 2), Some(deepest));
        assert!(menu.select(exit_ps * 21 - 1, None, 2) < Some(deepest), "21 times the exit is longer");
        assert_eq!(menu.select(exit_ps * 21 - 1, None, 0), Some(deepest));
    }
}
