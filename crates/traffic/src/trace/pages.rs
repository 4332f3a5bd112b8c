//! Where the pages of a trace lie when they are put side by side.

use crate::LINE_BYTES;
use std::collections::HashMap;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
const PAGE_LINES: u64 = PAGE_BYTES / LINE_BYTES;

/// Pages numbered in the order of their first use, so that addresses all over 64 bits become addresses from 0 on.
pub struct Pages {
    numbers: HashMap<u64, u64>,
    pages_max: u64,
    /// The last page and its number; accesses often stay in a page.
    last: (u64, u64),
}

impl Pages {
    /// No pages yet, and room for `bytes`, of which whole pages count.
    #[must_use]
    pub fn new(bytes: u64) -> Self {
        Self { numbers: HashMap::new(), pages_max: bytes / PAGE_BYTES, last: (u64::MAX, 0) }
    }

    /// The new number of a line (byte address / 64); `None` when there is no room for its page.
    #[inline]
    pub fn line(&mut self, line: u64) -> Option<u64> {
        let page = line / PAGE_LINES;
        if page != self.last.0 {
            self.last = (page, self.number(page)?);
        }
        Some(self.last.1 * PAGE_LINES + line % PAGE_LINES)
    }

    fn number(&mut self, page: u64) -> Option<u64> {
        let next = self.numbers.len() as u64;
        if let Some(number) = self.numbers.get(&page) {
            return Some(*number);
        }
        (next < self.pages_max).then(|| *self.numbers.entry(page).or_insert(next))
    }

    /// Bytes of the pages that were used.
    #[must_use]
    pub fn used_bytes(&self) -> u64 {
        self.numbers.len() as u64 * PAGE_BYTES
    }

    /// Bytes that there is room for.
    #[must_use]
    pub fn room_bytes(&self) -> u64 {
        self.pages_max * PAGE_BYTES
    }
}
