//! Ids of the parts of one kind.

use hostnet_kernel::ComponentId;
use serde::{Deserialize, Serialize};

/// Range of ids: parts of one kind, numbered consecutively.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartIds {
    first: u32,
    end: u32,
}

impl PartIds {
    /// Creates the range of `count` parts from `first` on.
    #[must_use]
    pub fn new(first: ComponentId, count: u32) -> Self {
        Self { first: first.0, end: first.0 + count }
    }

    /// Returns the id of the first part; in an empty range, the id that it would have.
    #[must_use]
    pub fn first(self) -> ComponentId {
        ComponentId(self.first)
    }

    /// Returns the id after that of the last part.
    #[must_use]
    pub fn end(self) -> ComponentId {
        ComponentId(self.end)
    }

    /// Returns the number of parts.
    #[must_use]
    pub fn len(self) -> u32 {
        self.end - self.first
    }

    /// Returns true if there are no parts.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.first == self.end
    }

    /// Returns the id of part `number`, counted from 0.
    #[must_use]
    #[inline]
    pub fn get(self, number: u32) -> ComponentId {
        debug_assert!(number < self.len(), "there is a part {number}");
        ComponentId(self.first + number)
    }

    /// Returns the number of a part of this range, counted from 0.
    #[must_use]
    #[inline]
    pub fn number(self, id: ComponentId) -> u32 {
        id.0 - self.first
    }

    /// Returns true if a part is in this range.
    #[must_use]
    #[inline]
    pub fn contains(self, id: ComponentId) -> bool {
        id.0 >= self.first && id.0 < self.end
    }

    /// Returns the ids of all parts, in ascending order.
    pub fn iter(self) -> impl Iterator<Item = ComponentId> {
        (self.first..self.end).map(ComponentId)
    }
}
