//! Replacement policies: selection of the victim in a set.
//!
//! The ages of a set are bytes, eight to a word, and are processed a word at a time. For LRU, an age is the number of
//! lines used later. For quad-age LRU, it is 0 to 3. For random, it is 0. The highest bit of an age marks an empty
//! way.

use crate::params::Replacement;
use hostnet_kernel::Rng;

/// Oldest age of quad-age LRU.
const OLDEST: u64 = 3;
/// Age of a new line of quad-age LRU that has not been used.
const NEW: u64 = 1;
/// Number of ways whose ages fit into a word.
pub(super) const GROUP: usize = 8;
/// Bit of an age that marks an empty way.
pub(super) const EMPTY: u64 = 0x80;
/// Word with a 1 in each byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;
/// Word with the highest bit of each byte.
pub(super) const HIGH: u64 = EMPTY * ONES;

/// Returns the highest bit of each byte that is equal in both words.
#[inline]
pub(super) fn equal(word: u64, other: u64) -> u64 {
    let differ = word ^ other;
    // Per byte: adding 0x7f sets the high bit unless the low bits are 0, without a carry to the next byte.
    !(((differ & !HIGH) + !HIGH) | differ) & HIGH
}

/// Returns the index of the first byte that has a bit set in `bits`.
#[inline]
pub(super) fn byte(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}

/// Sets byte `way` of `words`.
#[inline]
pub(super) fn set_byte(words: &mut [u64], way: usize, value: u64) {
    let (word, shift) = (&mut words[way / GROUP], way % GROUP * 8);
    *word = *word & !(0xff << shift) | value << shift;
}

/// Returns the highest bits of the bytes of the ways of a mask, in word `group`.
#[inline]
fn flags(mask: u32, group: usize) -> u64 {
    let ways = u64::from(mask >> (group * GROUP) & 0xff);
    // Copies the mask to every byte, keeps one bit of each, and moves it to the high bit.
    (((ways * ONES) & 0x8040_2010_0804_0201) + !HIGH) & HIGH
}

/// Initializes the ages of an empty set. The bytes beyond the ways are 0xff, never younger than any line, so they
/// never change.
pub(super) fn start(ages: &mut [u64], ways: usize, policy: Replacement) {
    for way in 0..ages.len() * GROUP {
        let age = match policy {
            _ if way >= ways => 0xff,
            // LRU ages are a permutation of the ways, so they start as one.
            Replacement::Lru => EMPTY | way as u64,
            Replacement::Random => EMPTY,
            Replacement::Qlru => EMPTY | OLDEST,
        };
        set_byte(ages, way, age);
    }
}

/// Updates the ages after a use of a line.
#[inline]
pub(super) fn touch(policy: Replacement, ages: &mut [u64], way: usize) {
    match policy {
        Replacement::Lru => make_youngest(ages, way),
        Replacement::Random => {}
        Replacement::Qlru => set_byte(ages, way, 0),
    }
}

/// Sets the age of a new line.
#[inline]
pub(super) fn come(policy: Replacement, ages: &mut [u64], way: usize) {
    match policy {
        Replacement::Lru => make_youngest(ages, way),
        Replacement::Random => set_byte(ages, way, 0),
        Replacement::Qlru => set_byte(ages, way, NEW),
    }
}

/// Marks the way of a removed line as empty.
#[inline]
pub(super) fn leave(ages: &mut [u64], way: usize) {
    ages[way / GROUP] |= EMPTY << (way % GROUP * 8);
}

/// Returns the first empty way of a mask.
#[inline]
pub(super) fn free(ages: &[u64], mask: u32) -> Option<usize> {
    ages.iter().enumerate().find_map(|(group, &ages)| {
        let free = ages & flags(mask, group);
        (free != 0).then(|| group * GROUP + byte(free))
    })
}

/// Returns the way of the victim among those in `mask`, none of which may be empty.
#[inline]
pub(super) fn victim(policy: Replacement, ages: &mut [u64], ways: usize, mask: u32, rng: &mut Rng) -> usize {
    match policy {
        Replacement::Lru => oldest(ages, mask, ways as u64 - 1).0,
        Replacement::Random => drawn(rng, mask),
        Replacement::Qlru => first_oldest(ages, mask),
    }
}

/// Returns the way of the next victim among all `ways`, or `None` if a way is empty or the victim is random.
#[inline]
pub(super) fn first(policy: Replacement, ages: &[u64], ways: usize) -> Option<usize> {
    let all = u32::MAX >> (u32::BITS as usize - ways);
    if policy == Replacement::Random || free(ages, all).is_some() {
        return None;
    }
    let most = if policy == Replacement::Lru { ways as u64 - 1 } else { OLDEST };
    Some(oldest(ages, all, most).0)
}

#[inline]
fn make_youngest(ages: &mut [u64], way: usize) {
    // The age of the way before its use: only younger lines get older by one.
    let bound = (ages[way / GROUP] >> (way % GROUP * 8) & !EMPTY & 0xff) * ONES;
    for ages in &mut *ages {
        // Eight comparisons at once: the high bit of a byte absorbs the borrow and stays set if the age is not below
        // `bound`.
        let younger = !((*ages | HIGH) - bound) & HIGH;
        *ages += younger >> 7;
    }
    set_byte(ages, way, 0);
}

/// Returns the first way of a mask with the greatest age, and that age, which is at most `most`.
#[inline]
fn oldest(ages: &[u64], mask: u32, most: u64) -> (usize, u64) {
    for age in (0..=most).rev() {
        for (group, &ages) in ages.iter().enumerate() {
            let found = equal(ages, age * ONES) & flags(mask, group);
            if found != 0 {
                return (group * GROUP + byte(found), age);
            }
        }
    }
    unreachable!("the ways of a mask have lines, no older than {most}")
}

/// Returns the first way with the greatest age. If that is not the oldest age, all lines in the mask age until it is.
#[inline]
fn first_oldest(ages: &mut [u64], mask: u32) -> usize {
    let (first, greatest) = oldest(ages, mask, OLDEST);
    let more = OLDEST - greatest;
    if more > 0 {
        for (group, ages) in ages.iter_mut().enumerate() {
            // Only lines that may be evicted age (docs/models/cache.md, Tag arrays).
            *ages += (flags(mask, group) >> 7) * more;
        }
    }
    first
}

#[inline]
fn drawn(rng: &mut Rng, mask: u32) -> usize {
    let mut left = mask;
    for _ in 0..rng.below(u64::from(mask.count_ones())) {
        // Clears the lowest bit that is set.
        left &= left - 1;
    }
    left.trailing_zeros() as usize
}
