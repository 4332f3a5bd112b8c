//! Page walks and rings in the memory of an application.

use crate::params::{PageTables, WalkParams, LINE_BYTES, PAGE_ENTRY_BYTES};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Page walks of random accesses to structures. Only the last level is modelled, because the upper levels fit into the
/// L1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Walks {
    base: u64,
    entries: u64,
    shift: u32,
    /// Share of accesses that miss the TLB, in units of 2^-32.
    share: u64,
}

impl Walks {
    /// Creates the page walks that read `tables`. Returns `None` if the TLB covers all pages.
    pub(super) fn new(params: Option<&WalkParams>, tables: Option<PageTables>) -> Option<Self> {
        let (params, PageTables { base, pages, entries }) = (params?, tables?);
        // A random page is in the TLB with probability tlb_pages / pages.
        let missing = pages.saturating_sub(params.tlb_pages);
        let share = ((u128::from(missing) << 32) / u128::from(pages.max(1))) as u64;
        (share > 0).then_some(Self { base, entries, shift: params.page_bytes.trailing_zeros(), share })
    }

    /// Returns the address of the page table entry that a random access to `address` must fetch, if any.
    pub(super) fn entry(&self, address: u64, rng: &mut Rng) -> Option<u64> {
        rng.chance(self.share).then(|| self.entries + ((address - self.base) >> self.shift) * PAGE_ENTRY_BYTES)
    }
}

/// Buffer that is used cyclically.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ring {
    base: u64,
    bytes: u64,
    at: u64,
}

impl Ring {
    /// Creates a ring of `bytes` bytes at `base` that starts at offset `at`, below `bytes`.
    pub(super) fn new(base: u64, bytes: u64, at: u64) -> Self {
        Self { base, bytes, at }
    }

    /// Takes the next `bytes` bytes, at most the size of the ring. Returns the address of the first line that is
    /// newly entered, and the number of such lines.
    pub(super) fn take(&mut self, bytes: u64) -> (u64, u32) {
        // A message does not wrap around: its lines are consecutive.
        if self.at + bytes > self.bytes {
            self.at = 0;
        }
        // A line that the last message has entered is in the L1 already.
        let first = self.at.div_ceil(LINE_BYTES);
        self.at += bytes;
        let lines = self.at.div_ceil(LINE_BYTES) - first;
        (self.base + first * LINE_BYTES, lines as u32)
    }
}

/// Returns the number of lines that `bytes` bytes at `address` touch.
pub(super) fn lines(address: u64, bytes: u64) -> u32 {
    ((address + bytes - 1) / LINE_BYTES - address / LINE_BYTES + 1) as u32
}
