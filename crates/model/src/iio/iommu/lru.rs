//! Set-associative cache of keys with LRU replacement.

use serde::{Deserialize, Serialize};

/// Key of a way that holds nothing.
const EMPTY: u64 = u64::MAX;

/// Keys in sets, each with the last used key first.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LruKeys {
    ways: usize,
    keys: Vec<u64>,
}

impl LruKeys {
    /// Creates an empty cache. Without sets or ways it never holds a key.
    pub(super) fn new(sets: u32, ways: u32) -> Self {
        Self { ways: ways as usize, keys: vec![EMPTY; sets as usize * ways as usize] }
    }

    /// Returns the ways that may hold a key.
    fn set_of(&mut self, key: u64) -> &mut [u64] {
        let sets = (self.keys.len() / self.ways.max(1)).max(1);
        let first = (key % sets as u64) as usize * self.ways;
        &mut self.keys[first..first + self.ways]
    }

    /// Returns true if the cache holds a key, which counts as a use of the key.
    pub(super) fn touch(&mut self, key: u64) -> bool {
        let set = self.set_of(key);
        let found = set.iter().position(|&held| held == key);
        found.is_some_and(|way| {
            set[..=way].rotate_right(1);
            true
        })
    }

    /// Removes a key, if the cache holds it.
    pub(super) fn remove(&mut self, key: u64) {
        let set = self.set_of(key);
        if let Some(way) = set.iter().position(|&held| held == key) {
            set[way] = EMPTY;
            // Empty ways come last, so that they are the first to be filled.
            set[way..].rotate_left(1);
        }
    }

    /// Removes all keys.
    pub(super) fn clear(&mut self) {
        self.keys.fill(EMPTY);
    }

    /// Inserts a key that the cache does not hold, in place of the one that was not used for longest.
    pub(super) fn insert(&mut self, key: u64) {
        // The last way goes; a cache without ways holds nothing.
        if let [.., last] = self.set_of(key) {
            *last = key;
            self.set_of(key).rotate_right(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_that_was_not_used_for_longest_makes_room() {
        let mut keys = LruKeys::new(1, 2);
        keys.insert(10);
        keys.insert(20);
        assert!(keys.touch(10));
        keys.insert(30);
        assert_eq!([10, 20, 30].map(|key| keys.touch(key)), [true, false, true]);
    }

    #[test]
    fn keys_of_one_set_leave_the_other_alone() {
        let mut keys = LruKeys::new(2, 1);
        [1, 2, 4].into_iter().for_each(|key| keys.insert(key));
        assert_eq!([1, 2, 4].map(|key| keys.touch(key)), [true, false, true]);
    }

    #[test]
    fn a_removed_key_makes_room_for_the_next() {
        let mut keys = LruKeys::new(1, 2);
        [1, 2].into_iter().for_each(|key| keys.insert(key));
        keys.remove(2);
        keys.insert(3);
        assert_eq!([1, 2, 3].map(|key| keys.touch(key)), [true, false, true]);
        keys.clear();
        assert_eq!([1, 3].map(|key| keys.touch(key)), [false; 2]);
    }

    #[test]
    fn a_cache_without_ways_holds_nothing() {
        let mut keys = LruKeys::new(1, 0);
        keys.insert(1);
        assert!(!keys.touch(1));
    }
}
