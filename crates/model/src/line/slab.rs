//! Slab storage with reusable slots, and waiting lists linked through its entries.

use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};

/// Number that stands for no entry.
pub(crate) const NONE: u32 = u32::MAX;

/// Entry of a [`Slab`].
pub trait SlabEntry: Copy {
    /// Id of an entry in its slab.
    type Id: Copy;

    /// Returns the id of entry `number`; the greatest number stands for no entry.
    fn id(number: u32) -> Self::Id;

    /// Returns the number of an entry.
    fn number(id: Self::Id) -> u32;

    /// Returns the link to the next entry of the list that this one waits in.
    fn next(&mut self) -> &mut Self::Id;
}

/// Slab of entries of one type. Slots are reused, the one that was freed last first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slab<T> {
    slots: Vec<T>,
    free: Vec<u32>,
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T: SlabEntry> Slab<T> {
    /// Creates a slab with room for `capacity` entries before it has to allocate.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self { slots: Vec::with_capacity(capacity), free: Vec::with_capacity(capacity) }
    }

    /// Inserts an entry and returns its id.
    // Inlined at every call, for the same reason as the push of an event.
    #[inline(always)]
    pub fn insert(&mut self, entry: T) -> T::Id {
        self.insert_with(|| entry)
    }

    /// Inserts the entry that `make` returns, which is made in its slot, and returns its id.
    #[inline(always)]
    pub fn insert_with(&mut self, make: impl FnOnce() -> T) -> T::Id {
        if let Some(number) = self.free.pop() {
            self.slots[number as usize] = make();
            return T::id(number);
        }
        self.slots.push(make());
        T::id(self.slots.len() as u32 - 1)
    }

    /// Prefetches an entry, from its first to its last byte, into the caches of the machine that runs the simulator.
    #[inline(always)]
    pub(crate) fn fetch(&self, id: T::Id) {
        let number = T::number(id) as usize;
        prefetch_index(&self.slots, number);
        // An entry may span two cache lines of the host processor.
        prefetch_index(&self.slots, number + 1);
    }

    /// Removes an entry; its slot becomes free.
    #[inline]
    pub fn remove(&mut self, id: T::Id) {
        self.free.push(T::number(id));
    }

    /// Returns an entry.
    #[must_use]
    #[inline]
    pub fn get(&self, id: T::Id) -> &T {
        &self.slots[T::number(id) as usize]
    }

    /// Returns an entry, to change it.
    #[inline]
    pub fn get_mut(&mut self, id: T::Id) -> &mut T {
        &mut self.slots[T::number(id) as usize]
    }

    /// Returns all entries, in no meaningful order. The time that this takes grows with the number of slots: for
    /// reports, not for events.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mut free = vec![false; self.slots.len()];
        self.free.iter().for_each(|&number| free[number as usize] = true);
        self.slots.iter().zip(free).filter(|(_, free)| !free).map(|(entry, _)| entry)
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Returns true if there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// First-in first-out list of entries, each of which is in one list at most.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Fifo<T: SlabEntry> {
    head: T::Id,
    tail: T::Id,
    len: u32,
}

impl<T: SlabEntry> Default for Fifo<T> {
    fn default() -> Self {
        Self { head: T::id(NONE), tail: T::id(NONE), len: 0 }
    }
}

impl<T: SlabEntry> Fifo<T> {
    /// Appends an entry.
    #[inline]
    pub fn push(&mut self, slab: &mut Slab<T>, id: T::Id) {
        *slab.get_mut(id).next() = T::id(NONE);
        // After the last entry was removed, `tail` still names it.
        if self.len == 0 {
            self.head = id;
        } else {
            *slab.get_mut(self.tail).next() = id;
        }
        self.tail = id;
        self.len += 1;
    }

    /// Returns the first entry.
    #[must_use]
    #[inline]
    pub fn front(&self) -> Option<T::Id> {
        (self.len > 0).then_some(self.head)
    }

    /// Removes and returns the first entry.
    #[inline]
    pub fn pop(&mut self, slab: &mut Slab<T>) -> Option<T::Id> {
        let id = self.front()?;
        self.head = *slab.get_mut(id).next();
        self.len -= 1;
        Some(id)
    }

    /// Moves the entries of the list from one slab to another, and the list with them.
    pub(crate) fn move_to(&mut self, from: &mut Slab<T>, to: &mut Slab<T>) {
        let mut moved = Self::default();
        while let Some(id) = self.pop(from) {
            from.remove(id);
            // A free slot keeps its content until it is reused.
            let id = to.insert(*from.get(id));
            moved.push(to, id);
        }
        *self = moved;
    }

    /// Returns the entries, first to last.
    pub fn iter<'a>(&self, slab: &'a Slab<T>) -> impl Iterator<Item = &'a T> {
        let mut next = self.head;
        (0..self.len).map(move |_| {
            let entry = slab.get(next);
            next = *entry.clone().next();
            entry
        })
    }

    /// Returns the number of entries in the list.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Returns true if the list has no entry.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Card {
        value: u64,
        next: u32,
    }

    impl SlabEntry for Card {
        type Id = u32;

        fn id(number: u32) -> u32 {
            number
        }

        fn number(id: u32) -> u32 {
            id
        }

        fn next(&mut self) -> &mut u32 {
            &mut self.next
        }
    }

    proptest! {
        #[test]
        fn lists_over_one_slab_are_queues(steps in prop::collection::vec((any::<bool>(), 0..3_usize), 1..300)) {
            let mut slab = Slab::with_capacity(4);
            let mut lists: [Fifo<Card>; 3] = Default::default();
            let mut expected: [VecDeque<u64>; 3] = Default::default();
            let mut most = 0;
            for (value, (comes, list)) in (0..).zip(steps) {
                if comes {
                    let id = slab.insert(Card { value, next: 7 });
                    lists[list].push(&mut slab, id);
                    expected[list].push_back(value);
                } else {
                    let first = lists[list].pop(&mut slab);
                    prop_assert_eq!(first.map(|id| slab.get(id).value), expected[list].pop_front());
                    first.into_iter().for_each(|id| slab.remove(id));
                }
                let waiting: usize = expected.iter().map(VecDeque::len).sum();
                most = most.max(waiting);
                prop_assert_eq!((slab.len(), slab.is_empty()), (waiting, waiting == 0));
                for (list, expected) in lists.iter().zip(&expected) {
                    prop_assert_eq!((list.len() as usize, list.is_empty()), (expected.len(), expected.is_empty()));
                    prop_assert_eq!(list.front().map(|id| slab.get(id).value), expected.front().copied());
                }
                let mut alive: Vec<u64> = slab.iter().map(|card| card.value).collect();
                let mut all: Vec<u64> = expected.iter().flatten().copied().collect();
                alive.sort_unstable();
                all.sort_unstable();
                prop_assert_eq!(alive, all);
            }
            prop_assert_eq!(slab.slots.len(), most, "slots are used again");
        }
    }
}
