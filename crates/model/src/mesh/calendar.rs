//! Calendar of a port: the cycles that are taken.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Words of 64 cycles that a calendar has room for from the start: more than a line waits at a link that is not
/// overloaded.
const CAPACITY_WORDS: usize = 4;
const WORD: u64 = 64;

/// Taken cycles of a port, one bit each. A message that is simulated later may reach the port earlier: it takes any
/// cycle that is still free.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PortCalendar {
    /// Cycle of the first bit, a multiple of 64.
    from: u64,
    words: VecDeque<u64>,
}

impl PortCalendar {
    pub(super) fn new() -> Self {
        Self { from: 0, words: VecDeque::with_capacity(CAPACITY_WORDS) }
    }

    /// Takes the first `count` free cycles, at least 1, from `cycle` on; cycles before `past` are over. Returns by how
    /// many cycles the last of them is later than on an idle port.
    #[inline]
    pub(super) fn take(&mut self, cycle: u64, count: u32, past: u64) -> u64 {
        self.forget(past);
        let mut last = cycle.max(self.from);
        for taken in 0..count {
            // The cycles of a line need not be adjacent.
            last = self.first_free(last + u64::from(taken > 0));
            let at = last - self.from;
            self.words[(at / WORD) as usize] |= 1 << (at % WORD);
        }
        last - cycle - u64::from(count - 1)
    }

    /// Returns the first free cycle from `cycle` on, and makes room for its bit.
    fn first_free(&mut self, cycle: u64) -> u64 {
        let mut at = cycle - self.from;
        loop {
            let word = (at / WORD) as usize;
            if word >= self.words.len() {
                self.words.resize(word + 1, 0);
            }
            let free = !self.words[word] >> (at % WORD);
            if free != 0 {
                return self.from + at + u64::from(free.trailing_zeros());
            }
            at = (at / WORD + 1) * WORD;
        }
    }

    /// Drops the words that lie before cycle `past`.
    fn forget(&mut self, past: u64) {
        while past >= self.from + WORD {
            if self.words.pop_front().is_none() {
                // Nothing is taken, so the calendar starts at the present.
                self.from = past - past % WORD;
                return;
            }
            self.from += WORD;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_cycle_is_taken_once() {
        let mut calendar = PortCalendar::new();
        assert_eq!(calendar.take(10, 2, 0), 0);
        assert_eq!(calendar.take(12, 2, 0), 0);
        assert_eq!(calendar.take(9, 2, 0), 4, "one before what is taken, one behind it");
        assert_eq!(calendar.take(8, 1, 0), 0);
        assert_eq!(calendar.take(8, 1, 0), 7);
    }

    proptest! {
        #[test]
        fn takes_what_a_list_of_free_cycles_says(
            asked in prop::collection::vec((0u64..150, 1u32..5, 0u64..40), 1..200),
        ) {
            let mut calendar = PortCalendar::new();
            let (mut taken, mut now) = (BTreeSet::new(), 0);
            for (ahead, count, step) in asked {
                now += step;
                let cycle = now + ahead;
                let free: Vec<u64> = (cycle..).filter(|at| !taken.contains(at)).take(count as usize).collect();
                let late = free[free.len() - 1] - cycle - u64::from(count - 1);
                taken.extend(free);
                prop_assert_eq!(calendar.take(cycle, count, now), late);
            }
        }
    }
}
