//! Set-associative tag array: the lines that a cache holds, and a few bits of data for each.
//!
//! A set is one block of words, so that an access touches little host memory: eight 8-bit marks per word, eight ages
//! per word, then one word per way with the tag above the data. The mark is a hash of the tag and nearly always
//! identifies the way.

use super::replacement::{self, byte, equal, set_byte, EMPTY, GROUP, HIGH, ONES};
use crate::params::Replacement;
use hostnet_kernel::Rng;
use prefetch_index::prefetch_index;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// Words of a cache line of the host processor.
const HOST_LINE_WORDS: usize = 8;

/// Data that an [`TagArray`] keeps with a line, in a few bits.
pub trait LineData: Copy {
    /// Number of bits, at most 32.
    const BITS: u32;

    /// Returns the value as bits. No bit from [`LineData::BITS`] on is set.
    fn to_bits(self) -> u64;

    /// Returns the value that the bits stand for.
    fn from_bits(bits: u64) -> Self;
}

impl LineData for bool {
    const BITS: u32 = 1;

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits & 1 != 0
    }
}

impl LineData for u8 {
    const BITS: u32 = u8::BITS;

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits as u8
    }
}

impl LineData for u32 {
    const BITS: u32 = u32::BITS;

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        bits as u32
    }
}

/// Position of a line in a [`TagArray`]. Valid until the next insertion or removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArraySlot {
    /// Index of the first word of the set.
    base: usize,
    way: usize,
}

/// Set-associative array of lines with data `M`. The set of a line is its number modulo the number of sets. Takes 10
/// to 12 bytes per line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TagArray<M> {
    ways: usize,
    set_bits: u32,
    /// Words of marks in a set, and also of ages.
    groups: usize,
    policy: Replacement,
    rng: Rng,
    /// Checksum of the content: the sum of [`entry_checksum`] over all entries.
    held: u64,
    sets: Vec<u64>,
    data: PhantomData<M>,
}

/// Returns the contribution of an entry to the checksum.
#[inline]
fn entry_checksum(index: usize, entry: u64) -> u64 {
    let mixed = (entry ^ (index as u64).rotate_right(20)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// Returns the mark of a tag.
#[inline]
fn mark(tag: u64) -> u64 {
    // The top byte of a multiplicative hash depends on all bits of the tag.
    tag.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56
}

impl<M: LineData> TagArray<M> {
    /// Creates an empty array. Only [`Replacement::Random`] draws from `rng`.
    ///
    /// # Panics
    /// Panics if `sets` is not a power of two, or `ways` is not 1 to 32.
    #[must_use]
    pub fn new(sets: u32, ways: u32, replacement: Replacement, rng: Rng) -> Self {
        assert!(sets.is_power_of_two(), "{sets} sets are not a power of two");
        assert!((1..=u32::BITS).contains(&ways), "{ways} ways are not 1 to 32");
        let ways = ways as usize;
        let groups = ways.div_ceil(GROUP);
        let mut set = vec![0; 2 * groups + ways];
        replacement::start(&mut set[groups..2 * groups], ways, replacement);
        Self {
            ways,
            set_bits: sets.trailing_zeros(),
            groups,
            policy: replacement,
            rng,
            held: 0,
            sets: set.repeat(sets as usize),
            data: PhantomData,
        }
    }

    /// Returns a mask of all ways.
    #[must_use]
    #[inline]
    pub fn all_ways(&self) -> u32 {
        u32::MAX >> (u32::BITS as usize - self.ways)
    }

    #[inline]
    fn stride(&self) -> usize {
        2 * self.groups + self.ways
    }

    /// Returns the index of the first word of a line's set, and the tag.
    #[inline]
    fn split(&self, line: u64) -> (usize, u64) {
        let set = line & ((1 << self.set_bits) - 1);
        (set as usize * self.stride(), line >> self.set_bits)
    }

    /// Returns the index of the word of a way.
    #[inline]
    fn index(&self, slot: ArraySlot) -> usize {
        slot.base + 2 * self.groups + slot.way
    }

    #[inline]
    fn ages(&mut self, base: usize) -> &mut [u64] {
        &mut self.sets[base + self.groups..][..self.groups]
    }

    /// Returns the position of a line, if held. Does not count as a use.
    #[must_use]
    #[inline]
    pub fn find(&self, line: u64) -> Option<ArraySlot> {
        let (base, tag) = self.split(line);
        let set = &self.sets[base..][..self.stride()];
        let (marks, rest) = set.split_at(self.groups);
        let (ages, entries) = rest.split_at(self.groups);
        let mark = mark(tag) * ONES;
        for (group, (&marks, &ages)) in marks.iter().zip(ages).enumerate() {
            // The highest bit of an age marks an empty way, whose mark may be left over.
            let mut alike = equal(marks, mark) & !ages;
            while alike != 0 {
                let way = group * GROUP + byte(alike);
                if entries[way] >> M::BITS == tag {
                    return Some(ArraySlot { base, way });
                }
                // Clears the lowest bit that is set.
                alike &= alike - 1;
            }
        }
        None
    }

    /// Prefetches the set of a line into the host processor's cache. Simulated state does not change.
    #[inline]
    pub fn expect(&self, line: u64) {
        let (base, _) = self.split(line);
        (base..base + self.stride()).step_by(HOST_LINE_WORDS).for_each(|index| prefetch_index(&self.sets, index));
    }

    /// Returns the line that `line` would replace if it could enter any way. Returns `None` if a way is free or the
    /// victim is random.
    #[must_use]
    #[inline]
    pub fn leaving(&self, line: u64) -> Option<u64> {
        let (base, _) = self.split(line);
        let ages = &self.sets[base + self.groups..][..self.groups];
        let way = replacement::first(self.policy, ages, self.ways)?;
        let entry = self.sets[self.index(ArraySlot { base, way })];
        Some(entry >> M::BITS << self.set_bits | line & ((1 << self.set_bits) - 1))
    }

    /// Returns the position of a line, if held, and marks the line as used.
    #[inline]
    pub fn lookup(&mut self, line: u64) -> Option<ArraySlot> {
        let slot = self.find(line)?;
        self.touch(slot);
        Some(slot)
    }

    /// Marks the line in a slot as used.
    #[inline]
    pub fn touch(&mut self, slot: ArraySlot) {
        let policy = self.policy;
        replacement::touch(policy, self.ages(slot.base), slot.way);
    }

    /// Returns the data of a line, if held. Does not count as a use.
    #[must_use]
    #[inline]
    pub fn peek(&self, line: u64) -> Option<M> {
        self.find(line).map(|slot| self.data(slot))
    }

    /// Returns the data in a slot.
    #[must_use]
    #[inline]
    pub fn data(&self, slot: ArraySlot) -> M {
        self.unpacked(self.sets[self.index(slot)])
    }

    #[inline]
    fn unpacked(&self, entry: u64) -> M {
        M::from_bits(entry & ((1 << M::BITS) - 1))
    }

    /// Changes the data in a slot. Does not count as a use.
    #[inline]
    pub fn set_data(&mut self, slot: ArraySlot, data: M) {
        let index = self.index(slot);
        let before = self.sets[index];
        let after = before >> M::BITS << M::BITS | data.to_bits();
        // Speed only: an unchanged entry leaves the checksum as it is.
        if after != before {
            self.sets[index] = after;
            self.held =
                self.held.wrapping_sub(entry_checksum(index, before)).wrapping_add(entry_checksum(index, after));
        }
    }

    /// Inserts a line that is not held into one of the ways of `mask` (bit 0 is way 0): the first free way, or else
    /// the way of the victim. Counts as a use. Returns the evicted line, if any.
    ///
    /// # Panics
    /// Panics if `mask` has no way of the array, or if tag and data do not fit into 64 bits. With debug assertions,
    /// also panics if the line is held already.
    #[inline]
    pub fn insert(&mut self, line: u64, data: M, mask: u32) -> Option<(u64, M)> {
        debug_assert!(self.find(line).is_none(), "line {line} cannot come in");
        let mask = mask & self.all_ways();
        assert!(mask != 0, "a line needs a way");
        let (base, tag) = self.split(line);
        assert!(tag <= u64::MAX >> M::BITS, "line {line} is too far");
        let policy = self.policy;
        let ages = &mut self.sets[base + self.groups..][..self.groups];
        // Free ways are used first (docs/models/cache.md, Tag arrays).
        let free = replacement::free(ages, mask);
        let way = free.unwrap_or_else(|| replacement::victim(policy, ages, self.ways, mask, &mut self.rng));
        let index = self.index(ArraySlot { base, way });
        let (before, after) = (self.sets[index], tag << M::BITS | data.to_bits());
        self.sets[index] = after;
        set_byte(&mut self.sets[base..], way, mark(tag));
        replacement::come(policy, self.ages(base), way);
        self.held = self.held.wrapping_add(entry_checksum(index, after));
        if free.is_some() {
            return None;
        }
        self.held = self.held.wrapping_sub(entry_checksum(index, before));
        let set = line & ((1 << self.set_bits) - 1);
        Some((before >> M::BITS << self.set_bits | set, self.unpacked(before)))
    }

    /// Removes a line. Returns its data if it was held.
    #[inline]
    pub fn remove(&mut self, line: u64) -> Option<M> {
        let slot = self.find(line)?;
        Some(self.take(slot))
    }

    /// Removes the line in a slot. Returns its data.
    #[inline]
    pub fn take(&mut self, slot: ArraySlot) -> M {
        let index = self.index(slot);
        let before = std::mem::replace(&mut self.sets[index], 0);
        self.held = self.held.wrapping_sub(entry_checksum(index, before));
        replacement::leave(self.ages(slot.base), slot.way);
        self.unpacked(before)
    }

    /// Counts the lines held. The cost is linear in the size of the array.
    #[must_use]
    pub fn len(&self) -> usize {
        self.all_ages().map(|ages| (!ages & HIGH).count_ones() as usize).sum()
    }

    /// Returns true if no line is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.all_ages().all(|ages| !ages & HIGH == 0)
    }

    fn all_ages(&self) -> impl Iterator<Item = u64> + '_ {
        self.sets.chunks_exact(self.stride()).flat_map(|set| &set[self.groups..][..self.groups]).copied()
    }

    /// Iterates over all lines held, with way and data, by set and way.
    pub fn iter(&self) -> impl Iterator<Item = (u64, usize, M)> + '_ {
        let sets = self.sets.chunks_exact(self.stride()).enumerate();
        sets.flat_map(move |(number, set)| {
            let (ages, entries) = set[self.groups..].split_at(self.groups);
            let held =
                entries.iter().enumerate().filter(|(way, _)| ages[way / GROUP] >> (way % GROUP * 8) & EMPTY == 0);
            held.map(move |(way, &entry)| {
                (entry >> M::BITS << self.set_bits | number as u64, way, self.unpacked(entry))
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_kernel::Rng;
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    const POLICIES: [Replacement; 3] = [Replacement::Lru, Replacement::Random, Replacement::Qlru];

    fn array(sets: u32, ways: u32, replacement: Replacement) -> TagArray<u8> {
        TagArray::new(sets, ways, replacement, Rng::new(1, 1))
    }

    #[test]
    fn n_ways_hold_n_lines_and_the_next_one_evicts() {
        for policy in POLICIES {
            for ways in [1, 2, 11, 16, 32] {
                let mut array = array(4, ways, policy);
                let all = array.all_ways();
                let lines = (0..u64::from(ways)).map(|index| 4 * index + 1);
                assert!(lines.clone().all(|line| array.insert(line, line as u8, all).is_none()));
                assert!(lines.clone().all(|line| array.peek(line) == Some(line as u8)));
                assert_eq!(array.insert(2, 0, all), None, "another set is empty");
                let (left, data) = array.insert(4 * u64::from(ways) + 1, 0, all).expect("the set is full");
                assert!(lines.clone().any(|line| line == left) && data == left as u8);
                assert_eq!((array.len(), array.find(left)), (ways as usize + 1, None));
            }
        }
    }

    #[test]
    fn lru_never_hits_in_a_cycle_that_is_one_line_too_long() {
        for (lines, misses) in [(8, 8), (9, 900)] {
            let mut array = array(1, 8, Replacement::Lru);
            let mut missed = 0;
            for line in (0..100).flat_map(|_| 0..lines) {
                if array.lookup(line).is_none() {
                    missed += 1;
                    array.insert(line, 0, 0xff);
                }
            }
            assert_eq!(missed, misses);
        }
    }

    #[test]
    fn a_line_of_quad_age_lru_that_was_used_outlives_those_that_were_not() {
        let mut array = array(1, 4, Replacement::Qlru);
        (0..4).for_each(|line| assert_eq!(array.insert(line, 0, 0xf), None));
        assert!(array.lookup(0).is_some());
        let left = [10, 11, 12].map(|line| array.insert(line, 0, 0xf).map(|(left, _)| left));
        // Ages 0 1 1 1 grow to 2 3 3 3. Three lines leave, and the used one stays.
        assert_eq!(left, [Some(1), Some(2), Some(3)]);
        // Ages 2 1 1 1 grow to 3 2 2 2.
        assert_eq!(array.insert(13, 0, 0xf), Some((0, 0)));
    }

    #[test]
    fn random_replacement_is_even_and_repeats_with_its_seed() {
        let left = |seed| {
            let mut array = TagArray::<u8>::new(1, 8, Replacement::Random, Rng::new(seed, 0));
            (0..8).for_each(|line| assert_eq!(array.insert(line, line as u8, 0xff), None));
            let ways = (8..8008).map(move |line| {
                let way = array.insert(line, 0, 0b0111_0110).map(|_| array.find(line).expect("it came in").way);
                way.expect("the ways are full")
            });
            ways.collect::<Vec<_>>()
        };
        let first = left(1);
        assert!(first == left(1) && first != left(2));
        for way in 0..8 {
            let times = first.iter().filter(|&&other| other == way).count();
            let range = if 0b0111_0110 >> way & 1 == 1 { 1450..1750 } else { 0..1 };
            assert!(range.contains(&times), "way {way}: {times}");
        }
    }

    #[test]
    #[should_panic(expected = "a line needs a way")]
    fn a_mask_beyond_the_ways_is_refused() {
        array(1, 4, Replacement::Lru).insert(1, 0, 0xf0);
    }

    /// Reference model of an LRU set: by way, the line, its data and the time of its last use.
    #[derive(Clone, Default)]
    struct ReferenceModel {
        ways: Vec<Option<(u64, u8, usize)>>,
    }

    impl ReferenceModel {
        fn lookup(&mut self, line: u64, now: usize) -> Option<u8> {
            let held = self.ways.iter_mut().flatten().find(|held| held.0 == line)?;
            held.2 = now;
            Some(held.1)
        }

        fn insert(&mut self, line: u64, data: u8, mask: u32, now: usize) -> Option<(u64, u8)> {
            let allowed = || (0..self.ways.len()).filter(|way| mask >> way & 1 == 1);
            let way = allowed().min_by_key(|&way| (self.ways[way].map_or(0, |held| held.2), way)).expect("one is");
            self.ways[way].replace((line, data, now)).map(|held| (held.0, held.1))
        }

        fn remove(&mut self, line: u64) -> Option<u8> {
            let held = self.ways.iter_mut().find(|held| held.is_some_and(|held| held.0 == line))?;
            held.take().map(|held| held.1)
        }
    }

    proptest! {
        #[test]
        fn lru_is_exact_under_any_masks(
            ways in 1_u32..=32,
            set_bits in 0_u32..3,
            steps in prop::collection::vec((0_u8..4, 0_u64..80, any::<u32>()), 1..400),
        ) {
            let mut array = array(1 << set_bits, ways, Replacement::Lru);
            let mut plain = vec![ReferenceModel { ways: vec![None; ways as usize] }; 1 << set_bits];
            for (now, (action, line, mask)) in steps.into_iter().enumerate() {
                let plain = &mut plain[line as usize & ((1 << set_bits) - 1)];
                let mask = if mask & array.all_ways() == 0 { u32::MAX } else { mask };
                if action == 0 {
                    prop_assert_eq!(array.remove(line), plain.remove(line));
                } else if array.peek(line).is_some() {
                    prop_assert_eq!(array.lookup(line).map(|slot| array.data(slot)), plain.lookup(line, now + 1));
                } else {
                    prop_assert_eq!(plain.lookup(line, now + 1), None);
                    prop_assert_eq!(array.insert(line, now as u8, mask), plain.insert(line, now as u8, mask, now + 1));
                }
            }
            let held = plain.iter().flat_map(|set| set.ways.iter().flatten()).count();
            prop_assert_eq!((array.len(), array.iter().count(), array.is_empty()), (held, held, held == 0));
        }

        #[test]
        fn a_line_comes_into_its_mask_and_no_line_is_held_twice(
            policy in prop::sample::select(POLICIES.to_vec()),
            ways in 1_u32..=32,
            steps in prop::collection::vec((0_u64..100, any::<u32>()), 1..300),
        ) {
            let mut array = array(2, ways, policy);
            for (line, mask) in steps {
                let mask = if mask & array.all_ways() == 0 { u32::MAX } else { mask };
                if array.lookup(line).is_none() {
                    let in_mask = |held: u64, way: usize| held % 2 == line % 2 && mask >> way & 1 == 1;
                    let held = array.iter().filter(|&(held, way, _)| in_mask(held, way)).count();
                    let free = (mask & array.all_ways()).count_ones() as usize > held;
                    prop_assert_eq!(array.insert(line, 0, mask).is_none(), free);
                    let way = array.find(line).expect("it came in").way;
                    prop_assert!(mask >> way & 1 == 1);
                }
                let mut lines: Vec<u64> = array.iter().map(|held| held.0).collect();
                lines.sort_unstable();
                prop_assert!(lines.windows(2).all(|pair| pair[0] != pair[1]));
            }
        }

        #[test]
        fn what_is_held_has_one_sum_whatever_came_before(
            policy in prop::sample::select(POLICIES.to_vec()),
            steps in prop::collection::vec((0_u8..4, 0_u64..60, any::<u8>()), 1..200),
        ) {
            let mut array = array(4, 5, policy);
            let all = array.all_ways();
            for (action, line, data) in steps {
                match (action, array.find(line)) {
                    (0, _) => _ = array.remove(line),
                    (_, Some(slot)) => array.set_data(slot, data),
                    (_, None) => _ = array.insert(line, data, all),
                }
                let places = array.sets.iter().enumerate();
                let entries = places.filter(|(index, _)| index % array.stride() >= 2 * array.groups);
                let held = entries.filter(|(index, _)| {
                    let (set, way) = (index / array.stride(), index % array.stride() - 2 * array.groups);
                    array.sets[set * array.stride() + array.groups] >> (8 * way) & EMPTY == 0
                });
                let sum = held.fold(0_u64, |sum, (index, &entry)| sum.wrapping_add(entry_checksum(index, entry)));
                prop_assert_eq!(array.held, sum);
            }
        }

        #[test]
        fn what_leaves_is_known_before(
            policy in prop::sample::select(vec![Replacement::Lru, Replacement::Qlru]),
            ways in 1_u32..=20,
            lines in prop::collection::vec(0_u64..100, 1..300),
        ) {
            let mut array = array(2, ways, policy);
            for line in lines {
                if array.lookup(line).is_none() {
                    let leaving = array.leaving(line);
                    prop_assert_eq!(array.insert(line, 0, u32::MAX).map(|left| left.0), leaving);
                }
            }
        }
    }
}
