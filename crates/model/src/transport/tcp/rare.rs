//! State that most connections never need.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// State that is made when it is first changed, and written as if it were always there. A connection without losses
/// and without disorder is smaller by it.
#[derive(Clone, Debug, Default)]
pub(super) struct Rare<T>(Option<Box<T>>);

impl<T: Default> Rare<T> {
    /// Returns the state; none if it was never changed.
    #[inline]
    pub(super) fn get(&self) -> Option<&T> {
        self.0.as_deref()
    }

    /// Like [`Rare::get`], for changes that have no effect on a state that was never changed.
    #[inline]
    pub(super) fn get_mut(&mut self) -> Option<&mut T> {
        self.0.as_deref_mut()
    }

    /// Returns the state, to change it.
    pub(super) fn make(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Default + Serialize> Serialize for Rare<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.get() {
            Some(state) => state.serialize(serializer),
            None => T::default().serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Rare<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(|state| Self(Some(Box::new(state))))
    }
}
