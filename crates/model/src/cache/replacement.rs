//! Which line of a set leaves.

use crate::params::Replacement;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// The oldest age of quad-age LRU.
const OLDEST: u8 = 3;
/// The age of a line that has just come and was not used since.
const NEW: u8 = 1;
/// Ages are kept in groups of so many bytes, which a processor handles at once.
const GROUP: usize = 8;

/// How old the lines of all sets of an array are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ages {
    policy: Replacement,
    /// Per set, `stride` bytes. LRU: how many lines were used later; quad-age LRU: 0 to 3; random: none.
    ages: Vec<u8>,
    stride: usize,
    rng: Rng,
}

impl Ages {
    pub(super) fn new(sets: usize, ways: usize, policy: Replacement, rng: Rng) -> Self {
        let stride = if policy == Replacement::Random { 0 } else { ways.next_multiple_of(GROUP) };
        // The bytes beyond the ways are never younger than any line, so they never change.
        let age = |index: usize| match index % stride {
            way if way >= ways => u8::MAX,
            way if policy == Replacement::Lru => way as u8,
            _ => OLDEST,
        };
        Self { policy, ages: (0..sets * stride).map(age).collect(), stride, rng }
    }

    /// A line is used.
    #[inline]
    pub(super) fn touch(&mut self, set: usize, way: usize) {
        match self.policy {
            Replacement::Lru => self.make_youngest(set, way),
            Replacement::Random => {}
            Replacement::Qlru => self.of(set)[way] = 0,
        }
    }

    /// A line comes.
    #[inline]
    pub(super) fn come(&mut self, set: usize, way: usize) {
        match self.policy {
            Replacement::Lru => self.make_youngest(set, way),
            Replacement::Random => {}
            Replacement::Qlru => self.of(set)[way] = NEW,
        }
    }

    /// The way whose line has to leave, of those in `mask`, which all have one.
    #[inline]
    pub(super) fn victim(&mut self, set: usize, mask: u32) -> usize {
        match self.policy {
            Replacement::Lru => oldest(self.of(set), mask),
            Replacement::Random => drawn(&mut self.rng, mask),
            Replacement::Qlru => first_oldest(self.of(set), mask),
        }
    }

    #[inline]
    fn of(&mut self, set: usize) -> &mut [u8] {
        &mut self.ages[set * self.stride..][..self.stride]
    }

    #[inline]
    fn make_youngest(&mut self, set: usize, way: usize) {
        let ages = self.of(set);
        let age = ages[way];
        for group in ages.chunks_exact_mut(GROUP) {
            group.iter_mut().for_each(|other| *other += u8::from(*other < age));
        }
        ages[way] = 0;
    }
}

/// The ways of a mask, ascending.
#[inline]
fn ways(mask: u32) -> impl Iterator<Item = usize> {
    let mut left = mask;
    std::iter::from_fn(move || {
        let way = left.trailing_zeros() as usize;
        left &= left.wrapping_sub(1);
        (way < u32::BITS as usize).then_some(way)
    })
}

#[inline]
fn oldest(ages: &[u8], mask: u32) -> usize {
    let key = ways(mask).map(|way| usize::from(ages[way]) << 8 | way).max();
    key.unwrap_or_default() & 0xff
}

#[inline]
fn drawn(rng: &mut Rng, mask: u32) -> usize {
    let drawn = rng.below(u64::from(mask.count_ones())) as usize;
    ways(mask).nth(drawn).unwrap_or_default()
}

/// The first of the greatest age; when that is not the oldest, all in the mask grow older until it is.
#[inline]
fn first_oldest(ages: &mut [u8], mask: u32) -> usize {
    let (mut first, mut greatest) = (0, None);
    for way in ways(mask) {
        if Some(ages[way]) > greatest {
            (first, greatest) = (way, Some(ages[way]));
        }
    }
    let more = OLDEST - greatest.unwrap_or(OLDEST);
    if more > 0 {
        ways(mask).for_each(|way| ages[way] += more);
    }
    first
}
