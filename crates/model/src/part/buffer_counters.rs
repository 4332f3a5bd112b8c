//! Free-running counters of a buffer, as its registers have them: no measurement window resets them.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Counters of one buffer. Sums wrap, as those of registers do.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BufferCounters {
    /// Sum of the times of all releases, less the sum of the times of all allocations, in ps.
    moments_ps: u64,
    inserted: u64,
}

impl BufferCounters {
    /// Counts a line that takes an entry.
    #[inline]
    pub(crate) fn insert(&mut self, now: Time) {
        // Sum of releases less sum of allocations: with the entries in use it gives the integral without a tick.
        self.moments_ps = self.moments_ps.wrapping_sub(now.ps());
        self.inserted = self.inserted.wrapping_add(1);
    }

    /// Counts a line that leaves its entry.
    #[inline]
    pub(crate) fn leave(&mut self, now: Time) {
        self.moments_ps = self.moments_ps.wrapping_add(now.ps());
    }

    /// Returns the lines inserted so far.
    pub(crate) fn insertions(&self) -> u64 {
        self.inserted
    }

    /// Returns the integral of the entries in use over time, in entries times ps; `held` entries are in use now.
    pub(crate) fn occupancy_ps(&self, now: Time, held: u32) -> u64 {
        self.moments_ps.wrapping_add(now.ps().wrapping_mul(u64::from(held)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn occupancy_is_what_was_held_times_how_long(
            steps in prop::collection::vec((0_u64..1000, any::<bool>()), 1..200)
        ) {
            let (mut counts, mut now) = (BufferCounters::default(), Time::ZERO);
            let (mut held, mut area, mut inserted) = (0_u32, 0, 0);
            for (wait, take) in steps {
                now += wait;
                area += wait * u64::from(held);
                if take {
                    counts.insert(now);
                    (held, inserted) = (held + 1, inserted + 1);
                } else if held > 0 {
                    counts.leave(now);
                    held -= 1;
                }
                prop_assert_eq!((counts.occupancy_ps(now, held), counts.insertions()), (area, inserted));
            }
        }
    }
}
