//! Table of a value per bank, group or rank of a subchannel, which has at most 64 of each.

use serde::{de::Error, Deserialize, Deserializer, Serialize, Serializer};
use std::ops::{Index, IndexMut};

const LEN: usize = 64;

/// Table of 64 values. Only the low six bits of an index count, so that no index is out of bounds.
#[derive(Clone, Debug)]
pub(crate) struct Table<T>([T; LEN]);

impl<T> Table<T> {
    /// Creates a table of the results of `value` for each index.
    pub(crate) fn of(value: impl FnMut(usize) -> T) -> Self {
        Self(std::array::from_fn(value))
    }
}

impl<T> Index<usize> for Table<T> {
    type Output = T;

    #[inline]
    fn index(&self, index: usize) -> &T {
        // `LEN` is a power of two, so the remainder is a mask and needs no bounds check.
        &self.0[index % LEN]
    }
}

impl<T> IndexMut<usize> for Table<T> {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut T {
        &mut self.0[index % LEN]
    }
}

impl<T: Serialize> Serialize for Table<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(&self.0)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Table<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let values = Vec::deserialize(deserializer)?;
        let length = values.len();
        values.try_into().map(Self).map_err(|_| D::Error::invalid_length(length, &"64 values"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_survives_serialization() {
        let table = Table::of(|index| index as u32 * 3);
        let written = serde_json::to_string(&table).expect("a table can be written");
        let read: Table<u32> = serde_json::from_str(&written).expect("what was written can be read");
        assert!((0..LEN).all(|index| read[index] == index as u32 * 3));
        assert_eq!(read[LEN + 5], read[5]);
        assert!(serde_json::from_str::<Table<u32>>("[1, 2, 3]").is_err());
    }
}
