//! Busy time of a component over time, in constant memory.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Largest number of bins. Times beyond the last bin double the width of all bins.
const BINS: usize = 1024;
/// Initial width of a bin, in ps.
const WIDTH_PS: u64 = 1 << 16;

/// Busy time of a component, in bins of equal width that begin at the start of the run. The width doubles as the run
/// grows, and is between 1/1024 and 1/512 of the length of a long run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bins {
    width_ps: u64,
    busy_ps: Vec<u64>,
}

impl Default for Bins {
    fn default() -> Self {
        Self { width_ps: WIDTH_PS, busy_ps: Vec::new() }
    }
}

impl Bins {
    /// Records a busy interval from `from_ps` to `to_ps`.
    pub fn add(&mut self, from_ps: u64, to_ps: u64) {
        // The end is exclusive: an interval that ends at a bin's edge does not open the next bin.
        let Some(last_ps) = to_ps.checked_sub(1).filter(|&last| last >= from_ps) else { return };
        self.reach(last_ps);
        let (first, last) = ((from_ps / self.width_ps) as usize, (last_ps / self.width_ps) as usize);
        for bin in first..=last {
            let begin = bin as u64 * self.width_ps;
            self.busy_ps[bin] += to_ps.min(begin + self.width_ps) - from_ps.max(begin);
        }
    }

    /// Records that the component was busy for a share of the time from `from_ps` to `to_ps`, evenly; the share is a
    /// fraction of at most 1.
    pub fn add_share(&mut self, from_ps: u64, to_ps: u64, (part, whole): (u64, u64)) {
        let Some(last_ps) = to_ps.checked_sub(1).filter(|&last| last >= from_ps) else { return };
        self.reach(last_ps);
        let (first, last) = ((from_ps / self.width_ps) as usize, (last_ps / self.width_ps) as usize);
        for bin in first..=last {
            let begin = bin as u64 * self.width_ps;
            let within = to_ps.min(begin + self.width_ps) - from_ps.max(begin);
            let busy = u128::from(within) * u128::from(part.min(whole)) / u128::from(whole.max(1));
            self.busy_ps[bin] += busy as u64;
        }
    }

    /// Makes bins for the times up to `last_ps`.
    fn reach(&mut self, last_ps: u64) {
        while last_ps / self.width_ps >= BINS as u64 {
            self.halve();
        }
        let bins = (last_ps / self.width_ps) as usize + 1;
        if self.busy_ps.len() < bins {
            self.busy_ps.resize(bins, 0);
        }
    }

    fn halve(&mut self) {
        self.busy_ps = self.busy_ps.chunks(2).map(|two| two.iter().sum()).collect();
        self.width_ps *= 2;
    }

    /// Returns the share of some intervals, given as from and to in ps, in which the component was busy, 0 to 1. Busy
    /// time is assumed to be spread evenly within each bin. Returns `None` for intervals of no length.
    #[must_use]
    pub fn share(&self, intervals: &[(u64, u64)]) -> Option<f64> {
        // In u128: each interval may be as long as the range of time, 213 days.
        let long: u128 = intervals.iter().map(|&(from, to)| u128::from(to.saturating_sub(from))).sum();
        let busy: f64 = intervals.iter().map(|&(from, to)| self.busy_in(from, to)).sum();
        (long > 0).then(|| busy / long as f64)
    }

    fn busy_in(&self, from_ps: u64, to_ps: u64) -> f64 {
        let (first, end) = ((from_ps / self.width_ps) as usize, to_ps.div_ceil(self.width_ps) as usize);
        let bins = (first..end.min(self.busy_ps.len())).map(|bin| {
            let begin = bin as u64 * self.width_ps;
            let within = to_ps.min(begin + self.width_ps).saturating_sub(from_ps.max(begin));
            self.busy_ps[bin] as f64 * within as f64 / self.width_ps as f64
        });
        bins.sum()
    }
}

/// Record of the intervals during which a component waited.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waits {
    past: Bins,
    since: Option<Time>,
}

impl Waits {
    /// Records that the component waits, or no longer waits, from `now` on.
    pub fn set(&mut self, now: Time, waits: bool) {
        match (self.since, waits) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                self.past.add(since.ps(), now.ps());
                self.since = None;
            }
            (None, false) | (Some(_), true) => {}
        }
    }

    /// Returns the completed waits since the start of the run; a wait in progress is not included.
    #[must_use]
    pub fn past(&self) -> &Bins {
        &self.past
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_that_was_busy_is_in_the_whole_and_no_bin_is_overfull(
            spans in proptest::collection::vec((0_u64..50_000_000, 0_u64..50_000_000), 1..50),
        ) {
            let (mut bins, mut now, mut busy) = (Bins::default(), 0, 0);
            for (idle, length) in spans {
                now += idle;
                bins.add(now, now + length);
                now += length;
                busy += length;
            }
            prop_assert!(bins.busy_ps.len() <= BINS);
            prop_assert!(bins.busy_ps.iter().all(|&busy| busy <= bins.width_ps));
            prop_assert_eq!(bins.busy_ps.iter().sum::<u64>(), busy);
            if now > 0 {
                let whole = bins.busy_ps.len() as u64 * bins.width_ps;
                let share = bins.share(&[(0, whole.max(now))]).expect("it is some time");
                prop_assert!((share * whole.max(now) as f64 - busy as f64).abs() <= 1e-6 * busy as f64 + 1.0);
            }
        }

        #[test]
        fn a_steady_load_is_the_same_everywhere(idle in 1_u64..90, at in 0_u64..900, length in 50_u64..100) {
            let mut bins = Bins::default();
            (0..100_000_u64).for_each(|turn| bins.add(turn * 1000, turn * 1000 + 1000 - idle * 10));
            let from = at * 100_000;
            let share = bins.share(&[(from, from + length * 100_000)]).expect("it is some time");
            prop_assert!((share - (1.0 - idle as f64 / 100.0)).abs() < 0.02, "{}", share);
        }
    }

    #[test]
    fn a_share_of_the_time_is_busy_evenly() {
        let mut bins = Bins::default();
        bins.add_share(0, 4 * WIDTH_PS, (1, 4));
        bins.add_share(4 * WIDTH_PS, 6 * WIDTH_PS, (3, 2));
        bins.add_share(9, 9, (1, 2));
        assert_eq!(bins.busy_ps, [[WIDTH_PS / 4; 4].as_slice(), &[WIDTH_PS; 2]].concat());
        bins.add_share(6 * WIDTH_PS, 6 * WIDTH_PS + 100, (1, 2));
        assert_eq!(bins.busy_ps.last(), Some(&50));
    }

    #[test]
    fn a_wait_is_from_its_beginning_to_its_end() {
        let mut waits = Waits::default();
        let set = [(10, true), (20, true), (30, false), (40, false), (50, true)];
        set.into_iter().for_each(|(ps, on)| waits.set(Time::from_ps(ps), on));
        assert_eq!(waits.past().busy_ps, [20]);
    }

    #[test]
    fn nothing_is_no_share() {
        let mut bins = Bins::default();
        bins.add(5, 5);
        bins.add(9, 4);
        assert_eq!(bins, Bins::default());
        assert_eq!(bins.share(&[]), None);
        assert_eq!(bins.share(&[(4, 4)]), None);
        assert_eq!(bins.share(&[(4, 9), (1 << 40, 1 << 41)]), Some(0.0));
    }
}
