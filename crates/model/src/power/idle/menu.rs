//! Menu governor: predicts by the next timer, corrected by how far sleeps have fallen short of it, or by the typical
//! length of the last sleeps.

use super::CStateLatency;
use serde::{Deserialize, Serialize};

/// Number of corrections, one for each magnitude of the time to the timer (half of `BUCKETS` in Linux: those without
/// outstanding IO).
pub(super) const BUCKETS: usize = 6;
/// End of the first bucket, in ps. Each further bucket is ten times as long.
const BUCKET_PS: u64 = 10_000_000;
/// Scale of a correction: 1 is `RESOLUTION` times `DECAY`. A new sample has the weight 1 / `DECAY`.
pub(super) const RESOLUTION: u64 = 1024;
pub(super) const DECAY: u64 = 8;
/// Sleeps of at least this length count as if they had lasted to the timer (`MAX_INTERESTING`), in ps.
pub(super) const LONG_PS: u64 = 50_000_000_000;
/// Number of sleeps remembered (`INTERVALS`).
pub(super) const INTERVALS: usize = 8;
/// Number of sleeps at or below which no further one is left out.
const INTERVALS_LEAST: usize = INTERVALS * 3 / 4;
/// Longest typical sleep (`INT_MAX` us), in ns.
const TYPICAL_MAX_NS: u64 = 2_147_483_647_000;
/// Variance up to which sleeps are alike at any mean, in ns^2 (a deviation of 20 us).
pub(super) const VARIANCE_SMALL: u128 = 400_000_000;
/// Square of the ratio of mean to deviation, 6, above which sleeps are alike.
const MEAN_OVER_DEVIATION: u128 = 36;
pub(super) const PS_PER_NS: u64 = 1000;

/// `menu.c` of Linux 5.1, for a core with a stopped tick and no outstanding IO, in ps and ns where Linux counts in
/// us.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Menu {
    depths: Vec<CStateLatency>,
    /// Corrections by magnitude, in units of 1 / (`RESOLUTION` x `DECAY`).
    corrections: [u64; BUCKETS],
    /// Last sleeps, exit latency excluded, in ns.
    intervals: [u64; INTERVALS],
    /// Index of the oldest sleep.
    oldest: usize,
    /// Time to the timer at the last decision, in ps.
    timer_ps: u64,
    /// Last decision.
    chosen: Option<usize>,
}

impl Menu {
    pub(super) fn new(depths: Vec<CStateLatency>) -> Self {
        Self {
            depths,
            corrections: [RESOLUTION * DECAY; BUCKETS],
            intervals: [0; INTERVALS],
            oldest: 0,
            timer_ps: 0,
            chosen: None,
        }
    }

    pub(super) fn select(&mut self, timer_ps: u64, qos_ps: Option<u64>) -> Option<usize> {
        self.timer_ps = timer_ps;
        self.chosen = self.choose(qos_ps);
        self.chosen
    }

    pub(super) fn reflect(&mut self, slept_ps: u64) {
        let exit_ps = self.chosen.map_or(0, |at| self.depths[at].exit_ps);
        // The exit latency is not sleep; of short sleeps half is subtracted, as in Linux.
        let slept_ps = if slept_ps > exit_ps.saturating_mul(2) { slept_ps - exit_ps } else { slept_ps / 2 };
        // An event delayed beyond the timer counts as the timer.
        let slept_ps = slept_ps.min(self.timer_ps);
        let correction = &mut self.corrections[bucket(self.timer_ps)];
        *correction -= *correction / DECAY;
        *correction += if self.timer_ps > 0 && slept_ps < LONG_PS {
            scaled(slept_ps, RESOLUTION, self.timer_ps)
        } else {
            RESOLUTION
        };
        self.intervals[self.oldest] = slept_ps / PS_PER_NS;
        self.oldest = (self.oldest + 1) % INTERVALS;
    }

    /// Returns the predicted sleep, in ps: the smaller of the corrected time to the timer and the typical sleep.
    pub(super) fn predicted_ps(&self) -> u64 {
        let correction = self.corrections[bucket(self.timer_ps)];
        let unit = u128::from(RESOLUTION * DECAY);
        let corrected = (u128::from(self.timer_ps) * u128::from(correction) + unit / 2) / unit;
        let corrected_ps = u64::try_from(corrected).unwrap_or(u64::MAX);
        let typical_ps = self.typical_ns(corrected_ps / PS_PER_NS).map(|ns| ns.saturating_mul(PS_PER_NS));
        corrected_ps.min(typical_ps.unwrap_or(u64::MAX))
    }

    fn choose(&self, qos_ps: Option<u64>) -> Option<usize> {
        let predicted_ps = self.predicted_ps();
        // A core must not take longer to wake than it sleeps (`performance_multiplier`, 1 without outstanding IO).
        let latency_ps = qos_ps.unwrap_or(u64::MAX).min(predicted_ps);
        let fits = |depth: &CStateLatency| depth.fits(qos_ps) && depth.exit_ps <= latency_ps;
        let first = self.depths.first().filter(|depth| fits(depth) && depth.residency_ps <= self.timer_ps)?;
        if first.residency_ps > predicted_ps {
            // A short sleep is better than polling, unless a timer expires before the residency is reached.
            return Some(0);
        }
        let further = self.depths.iter().take_while(|depth| fits(depth) && depth.residency_ps <= predicted_ps);
        further.count().checked_sub(1)
    }

    /// Returns the mean of the last sleeps if they are alike, in ns. The longest are left out, up to a quarter of
    /// them, until the others are alike. Returns `None` if all are at least `limit_ns` (`get_typical_interval`).
    fn typical_ns(&self, limit_ns: u64) -> Option<u64> {
        let mut threshold_ns = TYPICAL_MAX_NS;
        loop {
            // The longest are left out, one length after the other, as outliers.
            let kept = self.intervals.iter().copied().filter(|ns| *ns <= threshold_ns);
            let (least, most) = (kept.clone().min()?, kept.clone().max()?);
            if least >= limit_ns {
                return None;
            }
            let count = kept.clone().count();
            let mean = kept.clone().sum::<u64>() / count as u64;
            let squares: u128 = kept.map(|ns| u128::from(ns.abs_diff(mean)).pow(2)).sum();
            let variance = squares / count as u128;
            // Of three quarters of the sleeps at least, the mean must be six deviations large.
            let steady = u128::from(mean).pow(2) > variance * MEAN_OVER_DEVIATION && count >= INTERVALS_LEAST;
            if steady || variance <= VARIANCE_SMALL {
                return Some(mean);
            }
            if count <= INTERVALS_LEAST {
                return None;
            }
            threshold_ns = most - 1;
        }
    }
}

/// Returns the magnitude of a time (`which_bucket`).
pub(super) fn bucket(ps: u64) -> usize {
    (0..BUCKETS - 1).find(|at| ps < BUCKET_PS * 10u64.pow(*at as u32)).unwrap_or(BUCKETS - 1)
}

fn scaled(value: u64, by: u64, of: u64) -> u64 {
    (u128::from(value) * u128::from(by) / u128::from(of)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::tables;

    const US: u64 = 1_000_000;

    /// Returns a governor that remembers these sleeps, in us, and has made no correction.
    fn that_slept(us: [u64; INTERVALS]) -> Menu {
        let intervals = us.map(|us| us * 1000);
        Menu { intervals, ..Menu::new(CStateLatency::all(&tables::cstates())) }
    }

    fn typical_us(us: [u64; INTERVALS]) -> Option<u64> {
        that_slept(us).typical_ns(u64::MAX).map(|ns| ns / 1000)
    }

    #[test]
    fn sleeps_are_alike_if_they_deviate_by_20_us_or_by_a_sixth_of_their_mean() {
        assert_eq!(typical_us([30, 70, 30, 70, 30, 70, 30, 70]), Some(50), "a deviation of 20 us");
        assert_eq!(typical_us([29, 71, 29, 71, 29, 71, 29, 71]), Some(29), "of 21: the longest are left out");
        // 380 and 520: 450^2 = 202500 > 36 x 70^2 = 176400; 374 and 526: less than 36 x 76^2 = 207936.
        assert_eq!(typical_us([380, 520, 380, 520, 380, 520, 380, 520]), Some(450));
        assert_eq!(typical_us([500, 700, 500, 700, 500, 700, 500, 700]), Some(500), "a sixth is not less than a sixth");
        assert_eq!(typical_us([374, 526, 374, 526, 374, 526, 374, 526]), Some(374));
    }

    #[test]
    fn of_the_longest_sleeps_a_quarter_may_be_left_out() {
        assert_eq!(typical_us([500, 600, 500, 600, 500, 600, 5000, 9000]), Some(550));
        assert_eq!(typical_us([500, 600, 500, 600, 500, 4000, 5000, 9000]), None);
        // Five sleeps are left, with a mean of 530 and a variance of 720: too few for a deviation of more than 20 us.
        assert_eq!(typical_us([500, 560, 500, 560, 530, 2000, 2000, 2000]), None);
        assert_eq!(typical_us([50, 50, 50, 50, 50, 4000, 5000, 9000]), None, "six are not alike");
        assert_eq!(typical_us([500, 540, 500, 540, 520, 2000, 2000, 2000]), Some(520), "a deviation of 18");
        assert_eq!(typical_us([3_000_000_000; INTERVALS]), None, "longer than what is typical ever");
    }

    #[test]
    fn no_sleep_is_typical_that_a_timer_ends_before() {
        let menu = that_slept([50; INTERVALS]);
        assert_eq!(menu.typical_ns(50_001), Some(50_000));
        assert_eq!(menu.typical_ns(50_000), None);
    }

    #[test]
    fn there_is_a_correction_for_each_magnitude() {
        let table = [(0, 0), (9, 0), (10, 1), (99, 1), (100, 2), (1000, 3), (9999, 3), (10_000, 4), (99_999, 4)];
        for (us, expected) in table {
            assert_eq!(bucket(us * US), expected, "{us} us");
        }
        assert_eq!([100_000, 1_000_000, 5_000_000].map(|us| bucket(us * US)), [5; 3]);
        assert_eq!(bucket(u64::MAX), 5);
    }

    #[test]
    fn a_correction_learns_an_eighth_of_each_sleep() {
        let mut menu = that_slept([2000; INTERVALS]);
        // In C6 the exit latency of 22 us is subtracted: 98 of 1000 us. 8192 - 1024 + 1024 x 98 / 1000 = 7268.
        assert_eq!(menu.select(1000 * US, None), Some(2));
        menu.reflect(120 * US);
        assert_eq!((menu.corrections[3], menu.intervals[0]), (7268, 98_000));
        assert_eq!(menu.corrections[2], RESOLUTION * DECAY, "the others stay");
        // A sleep of at most twice the exit latency counts half. 7268 - 908 + 22 x 1.024 = 6382.
        menu.intervals = [2_000_000; INTERVALS];
        assert_eq!(menu.select(1000 * US, None), Some(2));
        menu.reflect(44 * US);
        assert_eq!((menu.corrections[3], menu.intervals[1]), (6382, 22_000));
        menu.intervals = [2_000_000; INTERVALS];
        assert_eq!(menu.select(1000 * US, None), Some(2));
        menu.reflect(40 * US);
        assert_eq!(menu.intervals[2], 20_000);
        menu.intervals = [2_000_000; INTERVALS];
        assert_eq!(menu.select(1000 * US, None), Some(2));
        menu.reflect(45 * US);
        assert_eq!(menu.intervals[3], 23_000, "more than twice");
    }

    #[test]
    fn sleeps_past_the_timer_or_of_50_ms_are_as_long_as_expected() {
        let mut menu = that_slept([0; INTERVALS]);
        assert_eq!(menu.select(1000 * US, None), None);
        menu.reflect(1500 * US);
        assert_eq!((menu.corrections[3], menu.intervals[0]), (8192, 1_000_000));
        assert_eq!(menu.select(200_000 * US, None), None);
        menu.reflect(50_000 * US);
        assert_eq!((menu.corrections[5], menu.intervals[1]), (8192, 50_000_000));
        assert_eq!(menu.select(200_000 * US, None), None);
        menu.reflect(49_000 * US);
        assert_eq!(menu.corrections[5], 7168 + 250, "1024 x 49 / 200");
    }

    #[test]
    fn the_prediction_is_the_least_of_timer_times_correction_and_the_typical_sleep() {
        let mut menu = that_slept([500; INTERVALS]);
        menu.timer_ps = 400 * US;
        assert_eq!(menu.predicted_ps(), 400 * US);
        menu.corrections[2] = 4096;
        assert_eq!(menu.predicted_ps(), 200 * US, "half of the timer");
        menu.timer_ps = 800 * US;
        menu.corrections[2] = 8192;
        assert_eq!(menu.predicted_ps(), 500 * US);
        (menu.timer_ps, menu.corrections[0]) = (3, 4096);
        assert_eq!(menu.predicted_ps(), 2, "1.5 is rounded up");
    }
}
