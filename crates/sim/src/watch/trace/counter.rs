//! Counts the entries of a queue in use over time.

use crate::read::sample::PoolGroup;
use crate::watch::events::Part;

/// Entries of a queue in use, as a step function of means over short steps. Only changes are stored. The mean over
/// the whole time is exact.
#[derive(Clone, Debug, PartialEq)]
pub struct OccupancyCounter {
    /// Part that the queue belongs to.
    pub part: Part,
    /// Domain group of the queue.
    pub group: PoolGroup,
    /// Number of entries of the queue.
    pub capacity: u32,
    /// Changes: time in ps, and the entries in use from then on.
    pub points: Vec<(u64, f64)>,
    step_ps: u64,
    in_use: u32,
    /// Start of the current step in ps, and the area since then, integrated until `summed_ps`.
    step_start_ps: u64,
    summed_ps: u64,
    area_ps: u64,
}

impl OccupancyCounter {
    /// Creates a counter that starts at `now_ps` with steps of `step_ps`, at least 1.
    pub(super) fn new(part: Part, group: PoolGroup, capacity: u32, in_use: u32, now_ps: u64, step_ps: u64) -> Self {
        let points = Vec::new();
        Self {
            part,
            group,
            capacity,
            points,
            step_ps: step_ps.max(1),
            in_use,
            step_start_ps: now_ps,
            summed_ps: now_ps,
            area_ps: 0,
        }
    }

    /// Sets the number of entries in use from `now_ps` on.
    #[inline]
    pub(super) fn set(&mut self, in_use: u32, now_ps: u64) {
        // Most calls change nothing and then cost no integration.
        if in_use != self.in_use {
            self.integrate(now_ps);
            self.in_use = in_use;
        }
    }

    /// Ends the counter at `now_ps`.
    pub(super) fn finish(&mut self, now_ps: u64) {
        self.integrate(now_ps);
        self.end_step(now_ps);
    }

    fn integrate(&mut self, now_ps: u64) {
        let end_ps = self.step_start_ps + self.step_ps;
        if now_ps >= end_ps {
            self.area_ps += u64::from(self.in_use) * (end_ps - self.summed_ps);
            self.end_step(end_ps);
            // The value is constant over whole steps in between, so one point stands for all of them.
            let whole = (now_ps - end_ps) / self.step_ps;
            if whole > 0 {
                self.push_point(end_ps, f64::from(self.in_use));
            }
            self.step_start_ps = end_ps + whole * self.step_ps;
            self.summed_ps = self.step_start_ps;
            self.area_ps = 0;
        }
        self.area_ps += u64::from(self.in_use) * (now_ps - self.summed_ps);
        self.summed_ps = now_ps;
    }

    /// Stores the mean of the step that ends at `now_ps`.
    fn end_step(&mut self, now_ps: u64) {
        let length_ps = now_ps - self.step_start_ps;
        if length_ps > 0 {
            self.push_point(self.step_start_ps, self.area_ps as f64 / length_ps as f64);
        }
    }

    fn push_point(&mut self, at_ps: u64, value: f64) {
        // A mean like the one before it starts no new step, which keeps the file small.
        if self.points.last().is_none_or(|point| point.1 != value) {
            self.points.push((at_ps, value));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn area(points: &[(u64, f64)], end_ps: u64) -> f64 {
        let ends = points.iter().skip(1).map(|point| point.0).chain([end_ps]);
        points.iter().zip(ends).map(|(point, end)| point.1 * (end - point.0) as f64).sum()
    }

    proptest! {
        #[test]
        fn the_mean_is_exact_and_the_points_are_few(
            start_ps in 0_u64..1 << 40,
            step_ps in 1_u64..5_000,
            changes in prop::collection::vec((0_u64..3_000, 0_u32..50), 1..200),
        ) {
            let part = Part { kind: "core", number: 0, server: None };
            let mut counter = OccupancyCounter::new(part, PoolGroup::Lfb, 50, 7, start_ps, step_ps);
            let (mut now_ps, mut in_use, mut expected) = (start_ps, 7, 0);
            for (wait_ps, next) in changes {
                expected += u64::from(in_use) * wait_ps;
                now_ps += wait_ps;
                counter.set(next, now_ps);
                in_use = next;
            }
            expected += u64::from(in_use) * 11;
            now_ps += 11;
            counter.finish(now_ps);
            let found = area(&counter.points, now_ps);
            prop_assert!((found - expected as f64).abs() <= 1e-9 * expected as f64 + 1e-3, "{found} is not {expected}");
            prop_assert!(counter.points[0].0 == start_ps);
            prop_assert!(counter.points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 != pair[1].1));
            prop_assert!(counter.points.iter().all(|point| (point.0 - start_ps) % step_ps == 0));
        }
    }
}
