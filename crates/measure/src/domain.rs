//! Domain: a pool of credits that limits a flow and measures it.

use crate::Histogram;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Integral of credits over time, computed from the times of the changes alone: a credit held from `a` to `b` adds `b
/// - a`, in any order of the changes. The sums wrap, but their difference, the area, fits.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct CreditArea {
    /// Sum of the release times minus the sum of the acquisition times since the last reset, in ps.
    moments_ps: u64,
    settled_ps: u64,
}

impl CreditArea {
    #[inline]
    fn take(&mut self, now: Time) {
        self.moments_ps = self.moments_ps.wrapping_sub(now.ps());
    }

    #[inline]
    fn give_back(&mut self, now: Time) {
        self.moments_ps = self.moments_ps.wrapping_add(now.ps());
    }

    /// Updates the area to `now`, with `held` credits still in use.
    fn settle(&mut self, now: Time, held: u32) {
        self.settled_ps = self.moments_ps.wrapping_add(now.ps().wrapping_mul(u64::from(held)));
    }

    /// Restarts the integral at `now`, with `held` credits in use.
    fn reset(&mut self, now: Time, held: u32) {
        // As if the credits in use had been taken at `now`: their earlier time belongs to the last window.
        *self = Self { moments_ps: now.ps().wrapping_mul(u64::from(held)).wrapping_neg(), settled_ps: 0 };
    }
}

/// Statistics of one class of traffic (a workload) in a domain since the last reset.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Credits held at the last reset. `taken` is that number plus the credits acquired since.
    held_before: u64,
    taken: u64,
    area: CreditArea,
    residence: Histogram,
}

impl Usage {
    /// Returns the credits in use.
    #[must_use]
    pub fn in_use(&self) -> u32 {
        (self.taken - self.residence.count()) as u32
    }

    /// Returns the time integral of the credits in use since the last reset, in credit x ps, up to the last update.
    #[must_use]
    pub fn area_ps(&self) -> u64 {
        self.area.settled_ps
    }

    /// Returns the credits acquired since the last reset.
    #[must_use]
    pub fn acquired(&self) -> u64 {
        self.taken - self.held_before
    }

    /// Returns the residence times of the credits released since the last reset, in ps.
    #[must_use]
    pub fn residence(&self) -> &Histogram {
        &self.residence
    }

    fn reset(&mut self, now: Time) {
        // Read first: it is the difference of two counts that the reset clears.
        let held = self.in_use();
        self.area.reset(now, held);
        self.held_before = u64::from(held);
        self.taken = self.held_before;
        self.residence.reset();
    }

    fn clear(&mut self) {
        (self.held_before, self.taken, self.area) = (0, 0, CreditArea::default());
        self.residence.reset();
    }

    fn add(&mut self, other: &Self) {
        self.held_before += other.held_before;
        self.taken += other.taken;
        self.area.moments_ps = self.area.moments_ps.wrapping_add(other.area.moments_ps);
        self.area.settled_ps += other.area.settled_ps;
        self.residence.merge(&other.residence);
    }
}

/// Pool of credits over a path of hops. A request takes a credit at the sender and releases it when the receiver of
/// the domain acknowledges the request. The throughput is at most `capacity x 64 B / latency`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Domain {
    capacity: u32,
    threshold: u32,
    in_use: u32,
    in_use_max: u32,
    /// The lesser of capacity and threshold. `mark` is the least number of credits in use at which an acquisition must
    /// update the statistics.
    edge: u32,
    mark: u32,
    /// Time with every credit in use. `over_threshold` is the time with at least `threshold` in use.
    full: CreditArea,
    over_threshold: CreditArea,
    reset_at: Time,
    settled_at: Time,
    classes: Vec<Usage>,
}

impl Domain {
    /// Creates a domain of `capacity` credits with statistics for `classes` classes of traffic. `threshold` is the
    /// number of credits in use at or above which a hardware counter reports the pool as full.
    ///
    /// # Panics
    /// Panics if the capacity or the number of classes is 0.
    #[must_use]
    pub fn new(capacity: u32, threshold: u32, classes: usize) -> Self {
        assert!(capacity > 0, "a domain needs at least one credit");
        assert!(classes > 0, "a domain needs at least one class of traffic");
        Self {
            capacity,
            threshold,
            in_use: 0,
            in_use_max: 0,
            edge: threshold.min(capacity),
            mark: 1,
            full: CreditArea::default(),
            over_threshold: CreditArea::default(),
            reset_at: Time::ZERO,
            settled_at: Time::ZERO,
            classes: vec![Usage::default(); classes],
        }
    }

    /// Takes one credit for `class`. Returns false and changes nothing if no credit is free.
    #[must_use]
    #[inline]
    pub fn try_acquire(&mut self, now: Time, class: impl Into<usize>) -> bool {
        if !self.try_acquire_unattributed(now) {
            return false;
        }
        let usage = &mut self.classes[class.into()];
        usage.taken += 1;
        usage.area.take(now);
        true
    }

    /// Releases a credit that `class` took at `since`.
    ///
    /// # Panics
    /// Panics if the class holds no credit.
    #[inline]
    pub fn release(&mut self, now: Time, class: impl Into<usize>, since: Time) {
        self.release_unattributed(now);
        // `residence` counts releases, so no count of the credits in use has to be kept beside it.
        let usage = &mut self.classes[class.into()];
        assert!(usage.taken > usage.residence.count(), "a credit came back that was never taken");
        usage.area.give_back(now);
        usage.residence.record(now.since(since));
    }

    /// Takes one credit, like [`Domain::try_acquire`], for a class whose statistics are kept in another domain; see
    /// [`Domain::sum_classes_of`].
    #[must_use]
    #[inline]
    pub fn try_acquire_unattributed(&mut self, now: Time) -> bool {
        if self.in_use == self.capacity {
            return false;
        }
        self.in_use += 1;
        // One comparison per acquisition: below `mark` neither a record nor a threshold can be reached.
        if self.in_use >= self.mark {
            self.update_on_acquire(now);
        }
        true
    }

    /// Releases a credit that [`Domain::try_acquire_unattributed`] took.
    #[inline]
    pub fn release_unattributed(&mut self, now: Time) {
        // Compared before the decrement: the credit that leaves the full state is the one released here.
        if self.in_use >= self.edge {
            self.update_on_release(now);
        }
        self.in_use -= 1;
    }

    /// Sets the statistics of each class to the sum of that class's statistics in `parts`, the domains that attribute
    /// the credits of this domain to classes.
    pub fn sum_classes_of(&mut self, parts: &[&Self]) {
        for (index, usage) in self.classes.iter_mut().enumerate() {
            usage.clear();
            parts.iter().for_each(|part| usage.add(&part.classes[index]));
        }
    }

    /// Updates the statistics when more credits are in use than ever, or as many as `edge`.
    fn update_on_acquire(&mut self, now: Time) {
        self.in_use_max = self.in_use_max.max(self.in_use);
        // A new maximum lifts the mark, so that the slow path is rare until `edge` is reached.
        self.mark = self.next_mark();
        // Equality and not `>=`: the area begins with the change that reaches the level, and not with each one above.
        if self.in_use == self.capacity {
            self.full.take(now);
        }
        if self.in_use == self.threshold {
            self.over_threshold.take(now);
        }
    }

    /// Updates the statistics when a credit is released with at least `edge` in use.
    fn update_on_release(&mut self, now: Time) {
        if self.in_use == self.capacity {
            self.full.give_back(now);
        }
        if self.in_use == self.threshold {
            self.over_threshold.give_back(now);
        }
    }

    fn next_mark(&self) -> u32 {
        self.edge.min(self.in_use_max + 1)
    }

    fn is_full(&self) -> bool {
        self.in_use == self.capacity
    }

    fn is_over_threshold(&self) -> bool {
        self.in_use >= self.threshold
    }

    /// Brings all time integrals up to `now`, so that the getters return values as of `now`.
    pub fn settle_all(&mut self, now: Time) {
        self.settled_at = now;
        self.full.settle(now, u32::from(self.is_full()));
        self.over_threshold.settle(now, u32::from(self.is_over_threshold()));
        self.classes.iter_mut().for_each(|usage| usage.area.settle(now, usage.in_use()));
    }

    /// Starts a new measurement window at `now`. Credits in use stay in use.
    pub fn reset(&mut self, now: Time) {
        self.settled_at = now;
        self.reset_at = now;
        // Credits that are held across the reset count in the new window.
        self.in_use_max = self.in_use;
        self.mark = self.next_mark();
        self.full.reset(now, u32::from(self.is_full()));
        self.over_threshold.reset(now, u32::from(self.is_over_threshold()));
        self.classes.iter_mut().for_each(|usage| usage.reset(now));
    }

    /// Returns the number of credits.
    #[must_use]
    pub fn capacity(&self) -> u32 {
        self.capacity
    }

    /// Returns the credits in use.
    #[must_use]
    pub fn in_use(&self) -> u32 {
        self.in_use
    }

    /// Returns the largest number of credits in use at once since the last reset.
    #[must_use]
    pub fn in_use_max(&self) -> u32 {
        self.in_use_max
    }

    /// Returns the free credits.
    #[must_use]
    pub fn free(&self) -> u32 {
        self.capacity - self.in_use
    }

    /// Returns the length of the measurement window, in ps, up to the last update.
    #[must_use]
    pub fn window_ps(&self) -> u64 {
        self.settled_at.since(self.reset_at)
    }

    /// Returns the integral of credits over time since the last reset, in credit picoseconds, up to the last update.
    #[must_use]
    pub fn area_ps(&self) -> u64 {
        self.classes.iter().map(Usage::area_ps).sum()
    }

    /// Returns the time since the last reset with every credit in use, in ps, up to the last update.
    #[must_use]
    pub fn full_ps(&self) -> u64 {
        self.full.settled_ps
    }

    /// Returns the time since the last reset with at least `threshold` credits in use, in ps, up to the last update.
    #[must_use]
    pub fn over_threshold_ps(&self) -> u64 {
        self.over_threshold.settled_ps
    }

    /// Returns the statistics of each class of traffic.
    #[must_use]
    pub fn classes(&self) -> &[Usage] {
        &self.classes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The area of a domain is the sum of the residence times, to the picosecond, in any order of release.
        #[test]
        fn area_is_the_sum_of_residences(
            steps in prop::collection::vec((0_u64..500, any::<bool>(), 0_u8..3, any::<prop::sample::Index>()), 1..400),
            capacity in 1_u32..20
        ) {
            let mut domain = Domain::new(capacity, capacity.div_ceil(2), 3);
            let mut held: Vec<(u8, Time)> = Vec::new();
            let mut now = Time::ZERO;
            let (mut full_ps, mut over_threshold_ps) = (0, 0);
            for (wait, take, class, which) in steps {
                now += wait;
                full_ps += if held.len() == capacity as usize { wait } else { 0 };
                over_threshold_ps += if held.len() >= capacity.div_ceil(2) as usize { wait } else { 0 };
                if take {
                    let taken = domain.try_acquire(now, class);
                    prop_assert_eq!(
                        taken,
                        held.len() < capacity as usize,
                        "one less than capacity must be granted, capacity refused"
                    );
                    if taken {
                        held.push((class, now));
                    }
                } else if !held.is_empty() {
                    let (class, since) = held.swap_remove(which.index(held.len()));
                    domain.release(now, class, since);
                }
                prop_assert_eq!(domain.in_use() as usize, held.len());
            }
            domain.settle_all(now);
            prop_assert_eq!((domain.full_ps(), domain.over_threshold_ps()), (full_ps, over_threshold_ps));
            while let Some((class, since)) = held.pop() {
                now += 7;
                domain.release(now, class, since);
            }
            domain.settle_all(now);
            let residences: u128 = domain.classes().iter().map(|usage| usage.residence().sum()).sum();
            prop_assert_eq!(u128::from(domain.area_ps()), residences);
            for usage in domain.classes() {
                prop_assert_eq!(u128::from(usage.area_ps()), usage.residence().sum());
                prop_assert_eq!(usage.acquired(), usage.residence().count());
            }
            prop_assert!(domain.over_threshold_ps() <= domain.window_ps());
        }
    }

    proptest! {
        #[test]
        fn books_taken_over_are_those_of_a_domain_of_its_own(
            steps in prop::collection::vec(
                (1_u64..50, any::<bool>(), 0_u8..2, 0_usize..2, any::<prop::sample::Index>()),
                1..300
            ),
            capacity in 1_u32..12
        ) {
            let domain = || Domain::new(capacity, capacity.div_ceil(2), 2);
            let (mut whole, mut joint, mut parts) = (domain(), domain(), [domain(), domain()]);
            let mut held: Vec<(u8, usize, Time)> = Vec::new();
            let (mut now, mut most) = (Time::ZERO, 0);
            for (index, (wait, take, class, part, which)) in steps.into_iter().enumerate() {
                now += wait;
                if take {
                    let taken = joint.try_acquire_unattributed(now);
                    prop_assert_eq!(taken, whole.try_acquire(now, class));
                    if taken {
                        prop_assert!(parts[part].try_acquire(now, class));
                        held.push((class, part, now));
                    }
                } else if !held.is_empty() {
                    let (class, part, since) = held.swap_remove(which.index(held.len()));
                    joint.release_unattributed(now);
                    parts[part].release(now, class, since);
                    whole.release(now, class, since);
                }
                most = most.max(held.len());
                prop_assert_eq!((joint.in_use_max() as usize, whole.in_use_max() as usize), (most, most));
                if index % 64 == 40 {
                    [&mut whole, &mut joint].into_iter().chain(&mut parts).for_each(|domain| domain.reset(now));
                    most = held.len();
                }
                [&mut whole, &mut joint].into_iter().chain(&mut parts).for_each(|domain| domain.settle_all(now));
                joint.sum_classes_of(&[&parts[0], &parts[1]]);
                prop_assert_eq!(
                    (joint.full_ps(), joint.over_threshold_ps()),
                    (whole.full_ps(), whole.over_threshold_ps())
                );
                for (joint, whole) in joint.classes().iter().zip(whole.classes()) {
                    prop_assert_eq!(
                        (joint.in_use(), joint.acquired(), joint.area_ps()),
                        (whole.in_use(), whole.acquired(), whole.area_ps())
                    );
                    prop_assert_eq!(joint.residence(), whole.residence());
                }
            }
        }
    }

    #[test]
    fn a_window_starts_with_the_credits_in_use() {
        let mut domain = Domain::new(2, 2, 1);
        assert!(domain.try_acquire(Time::ZERO, 0_u8));
        domain.reset(Time::from_ps(100));
        domain.release(Time::from_ps(150), 0_u8, Time::ZERO);
        domain.settle_all(Time::from_ps(200));
        assert_eq!(domain.area_ps(), 50);
        assert_eq!(domain.full_ps(), 0, "one of two credits was in use");
        assert_eq!(domain.window_ps(), 100);
        assert!(domain.try_acquire(Time::from_ps(220), 0_u8) && domain.try_acquire(Time::from_ps(230), 0_u8));
        domain.reset(Time::from_ps(300));
        domain.release(Time::from_ps(340), 0_u8, Time::from_ps(220));
        domain.settle_all(Time::from_ps(400));
        assert_eq!((domain.full_ps(), domain.over_threshold_ps(), domain.area_ps()), (40, 40, 140));
        assert_eq!(domain.classes()[0].residence().mean(), Some(120.0));
    }
}
