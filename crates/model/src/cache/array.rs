//! A set-associative array of tags: which lines a cache holds, and a little about each.

use super::replacement::Ages;
use crate::params::Replacement;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// No line has this number.
const EMPTY: u64 = u64::MAX;

/// Where an [`Array`] holds a line. It is valid until the next insertion or removal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    set: usize,
    way: usize,
    index: usize,
}

/// A set-associative array of lines with data `M` on each. The set of a line is its number modulo the sets.
///
/// It holds 9 bytes per line and the data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Array<M> {
    ways: usize,
    set_mask: u64,
    /// Per set and way: the line, or [`EMPTY`].
    lines: Vec<u64>,
    data: Vec<M>,
    /// Per set: the ways that hold a line.
    occupied: Vec<u32>,
    ages: Ages,
}

impl<M: Copy + Default> Array<M> {
    /// An empty array. `rng` is drawn from by [`Replacement::Random`] only.
    ///
    /// # Panics
    /// If `sets` is not a power of two, or `ways` is not 1 to 32.
    #[must_use]
    pub fn new(sets: u32, ways: u32, replacement: Replacement, rng: Rng) -> Self {
        assert!(sets.is_power_of_two(), "{sets} sets are not a power of two");
        assert!((1..=u32::BITS).contains(&ways), "{ways} ways are not 1 to 32");
        let (sets, ways) = (sets as usize, ways as usize);
        Self {
            ways,
            set_mask: sets as u64 - 1,
            lines: vec![EMPTY; sets * ways],
            data: vec![M::default(); sets * ways],
            occupied: vec![0; sets],
            ages: Ages::new(sets, ways, replacement, rng),
        }
    }

    /// A mask of all ways.
    #[must_use]
    pub fn all_ways(&self) -> u32 {
        u32::MAX >> (u32::BITS as usize - self.ways)
    }

    /// Where a line is; this is no use of it.
    #[must_use]
    #[inline]
    pub fn find(&self, line: u64) -> Option<Slot> {
        let set = (line & self.set_mask) as usize;
        let first = set * self.ways;
        let way = self.lines[first..][..self.ways].iter().position(|&held| held == line)?;
        Some(Slot { set, way, index: first + way })
    }

    /// Looks a line up and uses it. Returns its data, to be changed.
    #[inline]
    pub fn lookup(&mut self, line: u64) -> Option<&mut M> {
        let slot = self.find(line)?;
        self.touch(slot);
        Some(self.data_mut(slot))
    }

    /// The line in a slot is used.
    #[inline]
    pub fn touch(&mut self, slot: Slot) {
        self.ages.touch(slot.set, slot.way);
    }

    /// The data of a line that is held; this is no use of it.
    #[must_use]
    #[inline]
    pub fn peek(&self, line: u64) -> Option<M> {
        self.find(line).map(|slot| self.data(slot))
    }

    /// The data in a slot.
    #[must_use]
    #[inline]
    pub fn data(&self, slot: Slot) -> M {
        self.data[slot.index]
    }

    /// The data in a slot, to be changed; this is no use of it.
    #[inline]
    pub fn data_mut(&mut self, slot: Slot) -> &mut M {
        &mut self.data[slot.index]
    }

    /// Puts a line that is not held into one of the ways of `mask` (bit 0 = way 0): the first free one, else in place
    /// of the line that the replacement names. Returns what left. Coming is a use.
    ///
    /// # Panics
    /// If `mask` has no way of the array. With debug assertions, if the line is held already or is `u64::MAX`.
    #[inline]
    pub fn insert(&mut self, line: u64, data: M, mask: u32) -> Option<(u64, M)> {
        debug_assert!(line != EMPTY && self.find(line).is_none(), "line {line} cannot come in");
        let mask = mask & self.all_ways();
        assert!(mask != 0, "a line needs a way");
        let set = (line & self.set_mask) as usize;
        let free = mask & !self.occupied[set];
        let way = if free == 0 { self.ages.victim(set, mask) } else { free.trailing_zeros() as usize };
        let index = set * self.ways + way;
        let left = (free == 0).then(|| (self.lines[index], self.data[index]));
        self.lines[index] = line;
        self.data[index] = data;
        self.occupied[set] |= 1 << way;
        self.ages.come(set, way);
        left
    }

    /// Takes a line out. Returns its data if it was held.
    #[inline]
    pub fn remove(&mut self, line: u64) -> Option<M> {
        let slot = self.find(line)?;
        Some(self.take(slot))
    }

    /// Takes the line in a slot out. Returns its data.
    #[inline]
    pub fn take(&mut self, slot: Slot) -> M {
        self.lines[slot.index] = EMPTY;
        self.occupied[slot.set] &= !(1 << slot.way);
        self.data[slot.index]
    }

    /// How many lines are held. It counts them.
    #[must_use]
    pub fn len(&self) -> usize {
        self.occupied.iter().map(|ways| ways.count_ones() as usize).sum()
    }

    /// Whether no line is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.occupied.iter().all(|&ways| ways == 0)
    }

    /// All lines that are held, with the way and the data of each, by set and way.
    pub fn iter(&self) -> impl Iterator<Item = (u64, usize, M)> + '_ {
        let held = self.lines.iter().zip(&self.data).enumerate().filter(|(_, (&line, _))| line != EMPTY);
        held.map(|(index, (&line, &data))| (line, index % self.ways, data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hostnet_kernel::Rng;
    use proptest::prelude::{any, prop, prop_assert, prop_assert_eq, proptest};

    const POLICIES: [Replacement; 3] = [Replacement::Lru, Replacement::Random, Replacement::Qlru];

    fn array(sets: u32, ways: u32, replacement: Replacement) -> Array<u8> {
        Array::new(sets, ways, replacement, Rng::new(1, 1))
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
        // Ages 0 1 1 1 grow to 2 3 3 3; three leave, and the used one is still there.
        assert_eq!(left, [Some(1), Some(2), Some(3)]);
        // Ages 2 1 1 1 grow to 3 2 2 2.
        assert_eq!(array.insert(13, 0, 0xf), Some((0, 0)));
    }

    #[test]
    fn random_replacement_is_even_and_repeats_with_its_seed() {
        let left = |seed| {
            let mut array = Array::<u8>::new(1, 8, Replacement::Random, Rng::new(seed, 0));
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

    /// What a set of LRU lines does, written plainly: per way a line and when it was used last.
    #[derive(Clone, Default)]
    struct Plain {
        ways: Vec<Option<(u64, u8, usize)>>,
    }

    impl Plain {
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
            let mut plain = vec![Plain { ways: vec![None; ways as usize] }; 1 << set_bits];
            for (now, (action, line, mask)) in steps.into_iter().enumerate() {
                let plain = &mut plain[line as usize & ((1 << set_bits) - 1)];
                let mask = if mask & array.all_ways() == 0 { u32::MAX } else { mask };
                if action == 0 {
                    prop_assert_eq!(array.remove(line), plain.remove(line));
                } else if array.peek(line).is_some() {
                    prop_assert_eq!(array.lookup(line).copied(), plain.lookup(line, now + 1));
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
                    let room = array.iter().filter(|(held, way, _)| held % 2 == line % 2 && mask >> way & 1 == 1).count();
                    let free = (mask & array.all_ways()).count_ones() as usize > room;
                    prop_assert_eq!(array.insert(line, 0, mask).is_none(), free);
                    let way = array.find(line).expect("it came in").way;
                    prop_assert!(mask >> way & 1 == 1);
                }
                let mut lines: Vec<u64> = array.iter().map(|held| held.0).collect();
                lines.sort_unstable();
                prop_assert!(lines.windows(2).all(|pair| pair[0] != pair[1]));
            }
        }
    }
}
