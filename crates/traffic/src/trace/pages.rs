//! Renumbers the pages of a trace so that they are contiguous.

use crate::LINE_BYTES;
use std::collections::HashMap;

/// Size of a page, in bytes.
pub const PAGE_BYTES: u64 = 4096;
const PAGE_LINES: u64 = PAGE_BYTES / LINE_BYTES;

/// Pages numbered in the order of their first use, which maps sparse addresses of 64 bits to addresses from 0 on.
pub struct Pages {
    numbers: HashMap<u64, u64>,
    pages_max: u64,
    /// The last page and its number: consecutive accesses are often to the same page.
    last: (u64, u64),
}

impl Pages {
    /// Creates an empty map with room for `bytes` bytes, rounded down to whole pages.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self { numbers: HashMap::new(), pages_max: bytes / PAGE_BYTES, last: (u64::MAX, 0) }
    }

    /// Returns the new number of a line (byte address / 64), or `None` if there is no room for its page.
    #[inline]
    pub fn line(&mut self, line: u64) -> Option<u64> {
        let page = line / PAGE_LINES;
        // The map is only asked and never iterated, so its order does not matter.
        if page != self.last.0 {
            self.last = (page, self.number(page)?);
        }
        Some(self.last.1 * PAGE_LINES + line % PAGE_LINES)
    }

    fn number(&mut self, page: u64) -> Option<u64> {
        // Numbered by first use, so that the same trace always gets the same addresses.
        let next = self.numbers.len() as u64;
        if let Some(number) = self.numbers.get(&page) {
            return Some(*number);
        }
        (next < self.pages_max).then(|| *self.numbers.entry(page).or_insert(next))
    }

    /// Returns the size of all used pages, in bytes.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.numbers.len() as u64 * PAGE_BYTES
    }

    /// Returns the largest size of all pages, in bytes.
    #[must_use]
    pub fn room_bytes(&self) -> u64 {
        self.pages_max * PAGE_BYTES
    }
}
