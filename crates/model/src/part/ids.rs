//! The numbers of parts of a kind.

use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Parts of a kind, numbered one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ids {
    first: u32,
    end: u32,
}

impl Ids {
    /// `count` parts from `first` on.
    #[must_use]
    pub fn new(first: ComponentId, count: u32) -> Self {
        Self { first: first.0, end: first.0 + count }
    }

    /// The first part, or where it would stand if there were any.
    #[must_use]
    pub fn first(self) -> ComponentId {
        ComponentId(self.first)
    }

    /// One past the last part.
    #[must_use]
    pub fn end(self) -> ComponentId {
        ComponentId(self.end)
    }

    /// How many there are.
    #[must_use]
    pub fn len(self) -> u32 {
        self.end - self.first
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }

    /// The part with a number among its kind.
    #[must_use]
    #[inline]
    pub fn get(self, number: u32) -> ComponentId {
        debug_assert!(number < self.len(), "there is a part {number}");
        ComponentId(self.first + number)
    }

    /// The number of one of them among its kind.
    #[must_use]
    #[inline]
    pub fn number(self, id: ComponentId) -> u32 {
        id.0 - self.first
    }

    /// Whether a part is one of them.
    #[must_use]
    #[inline]
    pub fn contains(self, id: ComponentId) -> bool {
        id.0 >= self.first && id.0 < self.end
    }

    /// All of them.
    pub fn iter(self) -> impl Iterator<Item = ComponentId> {
        (self.first..self.end).map(ComponentId)
    }
}
