//! Utilisation of a core as the scheduler tracks it (per-entity load tracking, PELT).

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Utilisation of a core that is always busy at the highest frequency (`SCHED_CAPACITY_SCALE`).
pub const CAPACITY: u64 = 1024;

/// Period of PELT: 1024 times 1024 ns, in ps.
const PERIOD_PS: u64 = 1024 * 1024 * 1000;

/// Number of periods after which a contribution counts half.
const HALF_LIFE: u64 = 32;

/// Decay factor of `n` periods: 2^32 times 2^(-n/32), rounded down (`runnable_avg_yN_inv` in Linux).
const DECAY_FACTORS: [u64; HALF_LIFE as usize] = [
    0x1_0000_0000,
    0xfa83_b2db,
    0xf525_7d15,
    0xefe4_b99b,
    0xeac0_c6e7,
    0xe5b9_06e7,
    0xe0cc_deec,
    0xdbfb_b797,
    0xd744_fcca,
    0xd2a8_1d91,
    0xce24_8c15,
    0xc9b9_bd86,
    0xc567_2a11,
    0xc12c_4cca,
    0xbd08_a39f,
    0xb8fb_af47,
    0xb504_f333,
    0xb123_f581,
    0xad58_3eea,
    0xa9a1_5ab4,
    0xa5fe_d6a9,
    0xa270_4303,
    0x9ef5_3260,
    0x9b8d_39b9,
    0x9837_f051,
    0x94f4_efa8,
    0x91c3_d373,
    0x8ea4_398b,
    0x8b95_c1e3,
    0x8898_0e80,
    0x85aa_c367,
    0x82cd_8698,
];

/// Sum of all decayed periods of a core that is always busy, in ps (`LOAD_AVG_MAX`). The sum is a fixed point: a
/// period decays and the next one is added.
const SUM_MAX_PS: u64 = 48_934_993_102;

/// Utilisation of a core: a geometric series over periods of about 1 ms with a half-life of 32 periods.
///
/// Follows `kernel/sched/pelt.c` of Linux 4.19, but in ps where Linux counts in steps of 1024 ns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UtilTracker {
    at: Time,
    /// Elapsed part of the current period, in ps.
    into_ps: u64,
    /// Sum of the series, in ps times units of capacity.
    sum: u64,
}

impl UtilTracker {
    /// Creates the utilisation of a core that has never been busy.
    #[must_use]
    pub fn new(now: Time) -> Self {
        Self { at: now, into_ps: 0, sum: 0 }
    }

    /// Adds the time since the last update as busy, at `khz` of at most `max_khz`.
    ///
    /// # Panics
    /// Panics if `until` is before the last update.
    pub fn run(&mut self, until: Time, khz: u32, max_khz: u32) {
        // A busy core at half the frequency counts half (frequency invariance).
        let capacity = CAPACITY * u64::from(khz.min(max_khz)) / u64::from(max_khz.max(1));
        self.pass(until, capacity);
    }

    /// Adds the time since the last update as idle.
    ///
    /// # Panics
    /// Panics if `until` is before the last update.
    pub fn rest(&mut self, until: Time) {
        self.pass(until, 0);
    }

    /// Returns the utilisation at the last update, 0 to [`CAPACITY`].
    #[must_use]
    pub fn util(&self) -> u64 {
        // The current period has only begun, so the maximum has its elapsed part alone.
        self.sum / (SUM_MAX_PS - PERIOD_PS + self.into_ps)
    }

    fn pass(&mut self, until: Time, capacity: u64) {
        let elapsed_ps = until.since(self.at);
        let over_ps = self.into_ps.saturating_add(elapsed_ps);
        let (periods, into_ps) = (over_ps / PERIOD_PS, over_ps % PERIOD_PS);
        let mut counted_ps = elapsed_ps;
        // As `__accumulate_pelt_segments`: the rest of the first period and the whole periods decay, the current
        // period does not.
        if periods > 0 {
            self.sum = decayed(self.sum, periods);
            // The geometric series of whole periods between the first and the current one.
            let whole_ps = SUM_MAX_PS - decayed(SUM_MAX_PS, periods) - PERIOD_PS;
            counted_ps = decayed(PERIOD_PS - self.into_ps, periods) + whole_ps + into_ps;
        }
        self.sum += counted_ps * capacity;
        (self.at, self.into_ps) = (until, into_ps);
    }
}

/// Returns `value` after a decay of `periods` periods (`decay_load`).
fn decayed(value: u64, periods: u64) -> u64 {
    // Every 32 periods halve the value; the rest comes from the table.
    let halved = u32::try_from(periods / HALF_LIFE).ok().and_then(|times| value.checked_shr(times)).unwrap_or(0);
    let left = u128::from(halved) * u128::from(DECAY_FACTORS[(periods % HALF_LIFE) as usize]);
    (left >> 32) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000_000;
    const MAX_KHZ: u32 = 3_000_000;

    fn periods(count: u64) -> Time {
        Time::from_ps(count * PERIOD_PS)
    }

    #[test]
    fn a_core_that_always_works_is_full() {
        let mut util = UtilTracker::new(Time::ZERO);
        util.run(Time::from_ps(2000 * MS), MAX_KHZ, MAX_KHZ);
        assert_eq!(util.util(), CAPACITY);
        for step in 1..1000 {
            util.run(Time::from_ps(2000 * MS + step * 777_777), MAX_KHZ, MAX_KHZ);
            assert!((1023..=CAPACITY).contains(&util.util()));
        }
    }

    #[test]
    fn half_is_left_after_a_half_life() {
        let mut util = UtilTracker::new(Time::ZERO);
        util.run(periods(32), MAX_KHZ, MAX_KHZ);
        assert!(util.util().abs_diff(512) <= 1, "as much is there as is missing: {}", util.util());
        util.rest(periods(64));
        assert!(util.util().abs_diff(256) <= 1, "half of that: {}", util.util());
        util.rest(periods(65));
        assert!(util.util().abs_diff(250) <= 1, "2^(-1/32) of that: {}", util.util());
        util.rest(periods(5000));
        assert_eq!(util.util(), 0);
    }

    #[test]
    fn work_counts_in_proportion_to_the_frequency() {
        let mut util = UtilTracker::new(Time::ZERO);
        util.run(periods(2000), MAX_KHZ / 3, MAX_KHZ);
        assert_eq!(util.util(), 341, "1024 / 3");
    }

    #[test]
    fn a_quarter_of_short_intervals_is_a_quarter() {
        let mut util = UtilTracker::new(Time::ZERO);
        for turn in 0..40_000 {
            util.run(Time::from_ps(turn * 10_000_000 + 2_500_000), MAX_KHZ, MAX_KHZ);
            util.rest(Time::from_ps((turn + 1) * 10_000_000));
        }
        assert!(util.util().abs_diff(256) <= 1, "{}", util.util());
    }

    #[test]
    fn part_of_the_first_period_counts_over_all_that_could_have_been() {
        let mut util = UtilTracker::new(Time::ZERO);
        util.run(Time::from_ps(PERIOD_PS / 2), MAX_KHZ, MAX_KHZ);
        // Half a period of 45.67 and a half: 0.5 / 46.17 of 1024 is 11.
        assert_eq!(util.util(), 11);
    }

    #[test]
    fn the_sum_of_all_periods_is_where_decay_and_growth_meet() {
        assert_eq!(decayed(SUM_MAX_PS, 1) + PERIOD_PS, SUM_MAX_PS);
        assert_eq!(decayed(1 << 40, 32), 1 << 39);
        assert_eq!(decayed(u64::MAX, 64 * 32), 0);
        assert_eq!(decayed(u64::MAX, u64::MAX), 0);
    }

    #[test]
    fn what_periods_leave_is_a_geometric_series() {
        for n in 1..DECAY_FACTORS.len() {
            let expected = (u128::from(DECAY_FACTORS[n - 1]) * u128::from(DECAY_FACTORS[1])) >> 32;
            assert!(u128::from(DECAY_FACTORS[n]).abs_diff(expected) <= 2, "{n}");
        }
        let last = (u128::from(DECAY_FACTORS[31]) * u128::from(DECAY_FACTORS[1])) >> 32;
        assert!(last.abs_diff(1 << 31) <= 2, "32 periods leave half");
    }

    proptest! {
        #[test]
        fn it_makes_no_difference_how_an_interval_is_cut(
            cuts in prop::collection::vec(1u64..5_000_000_000, 1..30),
            busy_ps in 0u64..100_000_000_000,
        ) {
            let mut one = UtilTracker::new(Time::ZERO);
            one.run(Time::from_ps(busy_ps), 1, 2);
            let mut other = one.clone();
            let mut now = Time::from_ps(busy_ps);
            for cut in cuts {
                now += cut;
                one.run(now, MAX_KHZ, MAX_KHZ);
            }
            other.run(now, MAX_KHZ, MAX_KHZ);
            prop_assert!(one.util().abs_diff(other.util()) <= 1);
        }

        #[test]
        fn it_stays_within_the_capacity(
            steps in prop::collection::vec((any::<u32>(), any::<u64>(), any::<bool>()), 1..50),
        ) {
            let mut util = UtilTracker::new(Time::ZERO);
            let mut now = Time::ZERO;
            for (khz, ps, busy) in steps {
                now = now.saturating_add(ps);
                if busy { util.run(now, khz, MAX_KHZ) } else { util.rest(now) }
                prop_assert!(util.util() <= CAPACITY);
            }
        }
    }
}
