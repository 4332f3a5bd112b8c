//! From which clock on each bank is ready, for every kind of command, without looking at every bank.

use super::timing::bits;
use serde::{Deserialize, Serialize};

/// What a bank may be ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// RD and WR of the open row.
    Column,
    /// ACT.
    Activate,
    /// PRE.
    Precharge,
}

/// Banks by kind of command, one bit each.
pub(crate) type Ready = [u64; 3];

/// The clocks at which banks become ready, as far as they are alone in the world. A ring of clocks holds who becomes ready
/// at each; a bitmap finds the next that is not empty.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Calendar {
    /// Per bank: the clock from which on it is ready, by kind.
    at: Vec<[u64; 3]>,
    ready: Ready,
    /// Everything up to this clock is in `ready`.
    seen: u64,
    slots: Vec<Ready>,
    busy: Vec<u64>,
}

impl Calendar {
    /// All of `banks` are ready for anything. No bank will ever become ready more than `horizon` clocks ahead.
    pub(crate) fn new(banks: u32, horizon: u32) -> Self {
        let slots = (horizon as usize + 1).next_power_of_two().max(64);
        Self {
            at: vec![[0; 3]; banks as usize],
            ready: [u64::MAX; 3],
            seen: 0,
            slots: vec![[0; 3]; slots],
            busy: vec![0; slots / 64],
        }
    }

    /// The clock from which on a bank is ready.
    #[inline]
    pub(crate) fn at(&self, kind: Kind, bank: usize) -> u64 {
        self.at[bank][kind as usize]
    }

    /// A bank is ready from `clock` on, and not before.
    #[inline]
    pub(crate) fn set(&mut self, kind: Kind, bank: usize, clock: u64) {
        let before = std::mem::replace(&mut self.at[bank][kind as usize], clock);
        let bit = 1 << bank;
        if before > self.seen {
            let slot = self.slot(before);
            self.slots[slot][kind as usize] &= !bit;
        }
        if clock > self.seen {
            debug_assert!(clock - self.seen < self.slots.len() as u64, "within the horizon");
            let slot = self.slot(clock);
            self.slots[slot][kind as usize] |= bit;
            self.busy[slot / 64] |= 1 << (slot % 64);
            self.ready[kind as usize] &= !bit;
        } else {
            self.ready[kind as usize] |= bit;
        }
    }

    /// As [`Calendar::set`], unless the bank is ready only later.
    #[inline]
    pub(crate) fn raise(&mut self, kind: Kind, bank: usize, clock: u64) {
        if clock > self.at(kind, bank) {
            self.set(kind, bank, clock);
        }
    }

    fn slot(&self, clock: u64) -> usize {
        clock as usize & (self.slots.len() - 1)
    }

    /// Goes on to `clock` and returns who is ready then.
    #[inline]
    pub(crate) fn advance(&mut self, clock: u64) -> Ready {
        if self.seen < clock {
            self.go_on(clock);
        }
        self.ready
    }

    fn go_on(&mut self, clock: u64) {
        while self.seen < clock {
            let slot = self.slot(self.seen + 1);
            let ahead = self.busy[slot / 64] >> (slot % 64);
            let steps = (64 - slot as u64 % 64).min(clock - self.seen);
            if ahead & (u64::MAX >> (64 - steps)) == 0 {
                self.seen += steps;
                continue;
            }
            let slot = slot + ahead.trailing_zeros() as usize;
            self.seen += u64::from(ahead.trailing_zeros()) + 1;
            self.busy[slot / 64] &= !(1 << (slot % 64));
            for (ready, slot) in self.ready.iter_mut().zip(std::mem::take(&mut self.slots[slot])) {
                *ready |= slot;
            }
        }
    }

    /// The first clock after `clock` at which a bank becomes ready; never, if none does. `clock` lies less than a horizon
    /// after what was advanced to.
    #[inline]
    pub(crate) fn next_after(&self, clock: u64) -> u64 {
        let first = self.slot(clock + 1);
        let words = self.busy.len();
        let low = self.busy[first / 64] >> (first % 64);
        if low != 0 {
            return self.within(clock + 1 + u64::from(low.trailing_zeros()));
        }
        let mut ahead = 64 - (first % 64) as u64;
        for step in 1..=words {
            let word = self.busy[(first / 64 + step) % words];
            if word != 0 {
                return self.within(clock + 1 + ahead + u64::from(word.trailing_zeros()));
            }
            ahead += 64;
        }
        u64::MAX
    }

    /// Slots come round again: what lies a whole turn ahead of what was seen is over.
    fn within(&self, clock: u64) -> u64 {
        if clock - self.seen < self.slots.len() as u64 {
            clock
        } else {
            u64::MAX
        }
    }

    /// Adds to `ready` who becomes ready at `clock`, a clock that [`Calendar::next_after`] gave.
    #[inline]
    pub(crate) fn collect(&self, clock: u64, ready: &mut Ready) {
        for (ready, slot) in ready.iter_mut().zip(self.slots[self.slot(clock)]) {
            *ready |= slot;
        }
    }

    /// The last clock at which one of `banks` becomes ready.
    pub(crate) fn last(&self, kind: Kind, banks: u64) -> u64 {
        bits(banks).map(|bank| self.at(kind, bank)).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

        /// Whoever is ready is so by the list of clocks, and every clock at which somebody becomes ready is found.
        #[test]
        fn agrees_with_a_list_of_clocks(steps in prop::collection::vec((0_u64..90, 0_usize..8, 0_usize..3, 0_u64..200), 1..300)) {
            let mut calendar = Calendar::new(8, 200);
            let mut list = [[0_u64; 3]; 8];
            let mut now = 0;
            for (wait, bank, kind, ahead) in steps {
                now += wait;
                let ready = calendar.advance(now);
                for (bank, at) in list.iter().enumerate() {
                    for kind in 0..3 {
                        prop_assert_eq!(ready[kind] >> bank & 1 == 1, at[kind] <= now, "bank {} kind {} at {}", bank, kind, now);
                    }
                }
                let future = list.iter().flatten().filter(|&&at| at > now).min().copied();
                let mut next = calendar.next_after(now);
                let mut found = [0; 3];
                while next < u64::MAX && future.is_none_or(|future| next < future) {
                    calendar.collect(next, &mut found);
                    prop_assert_eq!(found, [0; 3], "nobody becomes ready at {}", next);
                    next = calendar.next_after(next);
                }
                prop_assert_eq!(future.unwrap_or(u64::MAX), next);
                let kind_name = [Kind::Column, Kind::Activate, Kind::Precharge][kind];
                calendar.set(kind_name, bank, now + ahead);
                list[bank][kind] = now + ahead;
            }
        }
    }
}
