//! When a part wants to be woken up.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// The wake-ups that a part has asked for, of which it remembers the next two: that for what it has to do soon, and
/// that for what it has to do in any case. One that it has forgotten is not for it when it comes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Alarm {
    next: Time,
    later: Time,
}

impl Alarm {
    pub(super) const NONE: Self = Self { next: Time::MAX, later: Time::MAX };

    /// Whether a wake-up at or before `due` has to be asked for. One that comes too early is as good.
    #[inline]
    pub(super) fn set(&mut self, due: Time) -> bool {
        if self.next <= due {
            return false;
        }
        if self.later == Time::MAX {
            self.later = self.next;
        }
        self.next = due;
        true
    }

    /// Whether a wake-up that comes at `now` is one that is remembered.
    #[inline]
    pub(super) fn rings(&mut self, now: Time) -> bool {
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
        /// Whatever is asked for in whatever order, a wake-up comes at or before the earliest of it.
        #[test]
        fn a_wake_up_is_never_late(dues in prop::collection::vec((0_u64..30, 1_u64..200), 1..200)) {
            let mut alarm = Alarm::NONE;
            let mut pending: BTreeSet<u64> = BTreeSet::new();
            let mut due: Option<u64> = None;
            let mut now = 0;
            for (wait, ahead) in dues {
                now += wait;
                while let Some(first) = pending.first().copied().filter(|&first| first <= now) {
                    pending.remove(&first);
                    if alarm.rings(Time::from_ps(first)) {
                        prop_assert!(due.is_none_or(|due| first <= due), "woken up at {first}, due {due:?}");
                        if due.is_some_and(|due| due > first) && alarm.set(Time::from_ps(due.unwrap_or(0))) {
                            pending.extend(due);
                        } else if due == Some(first) {
                            due = None;
                        }
                    }
                }
                due = Some(due.map_or(now + ahead, |due| due.min(now + ahead)));
                if alarm.set(Time::from_ps(due.unwrap_or(0))) {
                    pending.extend(due);
                }
                prop_assert!(pending.first().copied() <= due);
            }
        }
    }
}
