//! One revolution of slots, each with a list of nodes.

const BITS: u32 = 12;
const WORDS: usize = SLOTS / 64;

/// Slots of one revolution of the wheel.
pub(crate) const SLOTS: usize = 1 << BITS;
/// Binary logarithm of [`SLOTS`].
pub(crate) const SLOT_COUNT_BITS: u32 = BITS;
/// Node index that ends a list.
pub(crate) const NONE: u32 = u32::MAX;

/// Timing wheel: the first node of a list per slot, and two levels of bits that mark the occupied slots.
///
/// Slots are numbered from the start of time; the caller keeps all occupied slots within one revolution.
#[derive(Clone, Debug)]
pub(crate) struct Wheel {
    heads: Box<[u32; SLOTS]>,
    occupied: [u64; WORDS],
    summary: u64,
}

impl Wheel {
    /// Creates a wheel without nodes.
    pub(crate) fn new() -> Self {
        Self { heads: Box::new([NONE; SLOTS]), occupied: [0; WORDS], summary: 0 }
    }

    /// Makes `node` the first of the slot, and returns the node that was first before.
    #[inline]
    pub(crate) fn link(&mut self, slot: u64, node: u32) -> u32 {
        let index = slot as usize % SLOTS;
        self.occupied[index / 64] |= 1 << (index % 64);
        self.summary |= 1 << (index / 64);
        std::mem::replace(&mut self.heads[index], node)
    }

    /// Empties the slot and returns the node that was first.
    #[inline]
    pub(crate) fn take(&mut self, slot: u64) -> u32 {
        let index = slot as usize % SLOTS;
        let word = self.occupied[index / 64] & !(1 << (index % 64));
        self.occupied[index / 64] = word;
        // Branch-free, because it is unpredictable whether the slot was the last one of its word.
        self.summary &= !(u64::from(word == 0) << (index / 64));
        std::mem::replace(&mut self.heads[index], NONE)
    }

    /// Makes `node` the first of an occupied slot.
    pub(crate) fn set_first(&mut self, slot: u64, node: u32) {
        self.heads[slot as usize % SLOTS] = node;
    }

    /// Returns the first node of the slot.
    #[inline]
    pub(crate) fn first(&self, slot: u64) -> u32 {
        self.heads[slot as usize % SLOTS]
    }

    /// Returns the first occupied slot from `start` on, within one revolution.
    #[inline]
    pub(crate) fn next_from(&self, start: u64) -> Option<u64> {
        let index = start as usize % SLOTS;
        let (word, bit) = (index / 64, index % 64);
        let here = self.occupied[word] >> bit;
        if here != 0 {
            return Some(start + u64::from(here.trailing_zeros()));
        }
        // The rotation puts the word after the current one first, so one count of zeros finds the next occupied word.
        let later = self.summary.rotate_right((word as u32 + 1) % 64);
        if later == 0 {
            return None;
        }
        // The last word visited is the first one again: its bits below `bit` lie a whole revolution ahead.
        let words_ahead = u64::from(later.trailing_zeros()) + 1;
        let bits = self.occupied[(word + words_ahead as usize) % WORDS];
        Some(start - bit as u64 + words_ahead * 64 + u64::from(bits.trailing_zeros()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn finds_the_next_slot_of_one_turn(
            start in 0_u64..1 << 40,
            ahead in prop::collection::btree_set(0..SLOTS as u64, 0..40),
            taken in 0_usize..40
        ) {
            let mut wheel = Wheel::new();
            let mut left: BTreeSet<u64> = ahead.iter().map(|distance| start + distance).collect();
            for &slot in &left {
                prop_assert_eq!(wheel.link(slot, 7), NONE);
                prop_assert_eq!(wheel.link(slot, 8), 7);
            }
            for _ in 0..taken {
                prop_assert_eq!(wheel.next_from(start), left.first().copied());
                if let Some(slot) = left.pop_first() {
                    prop_assert_eq!(wheel.first(slot), 8);
                    prop_assert_eq!(wheel.take(slot), 8);
                }
            }
            for &slot in &left {
                prop_assert_eq!(wheel.next_from(slot), Some(slot));
            }
        }
    }
}
