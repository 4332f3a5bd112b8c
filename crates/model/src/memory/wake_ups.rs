//! Wake-ups that a part schedules for itself.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Scheduled wake-ups of a part. The next two are remembered: one for work that is due soon, and one for work that is
/// due in any case. The event of a forgotten wake-up is ignored.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct WakeUps {
    next: Time,
    later: Time,
}

impl WakeUps {
    /// No wake-up is scheduled.
    pub(super) const NONE: Self = Self { next: Time::MAX, later: Time::MAX };

    /// Remembers a wake-up at `due`. Returns true if an event must be scheduled for it, false if an earlier wake-up,
    /// which serves as well, is scheduled already.
    #[inline]
    pub(super) fn set(&mut self, due: Time) -> bool {
        if self.next <= due {
            return false;
        }
        // A third wake-up is forgotten; it is scheduled anew when the earlier ones have passed.
        if self.later == Time::MAX {
            self.later = self.next;
        }
        self.next = due;
        true
    }

    /// Forgets the next wake-up and returns true if it is at `now`. Otherwise returns false: the event at `now`
    /// belongs to a forgotten wake-up.
    #[inline]
    pub(super) fn take_due(&mut self, now: Time) -> bool {
        if self.next != now {
            return false;
        }
        (self.next, self.later) = (self.later, Time::MAX);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// A wake-up comes at or before the earliest time that is set, for any times in any order.
        #[test]
        fn a_wake_up_is_never_late(dues in prop::collection::vec((0_u64..30, 1_u64..200), 1..200)) {
            let mut wake_ups = WakeUps::NONE;
            let mut pending: BTreeSet<u64> = BTreeSet::new();
            let mut due: Option<u64> = None;
            let mut now = 0;
            for (wait, ahead) in dues {
                now += wait;
                while let Some(first) = pending.first().copied().filter(|&first| first <= now) {
                    pending.remove(&first);
                    if wake_ups.take_due(Time::from_ps(first)) {
                        prop_assert!(due.is_none_or(|due| first <= due), "woken up at {first}, due {due:?}");
                        if due.is_some_and(|due| due > first) && wake_ups.set(Time::from_ps(due.unwrap_or(0))) {
                            pending.extend(due);
                        } else if due == Some(first) {
                            due = None;
                        }
                    }
                }
                due = Some(due.map_or(now + ahead, |due| due.min(now + ahead)));
                if wake_ups.set(Time::from_ps(due.unwrap_or(0))) {
                    pending.extend(due);
                }
                prop_assert!(pending.first().copied() <= due);
            }
        }
    }
}
