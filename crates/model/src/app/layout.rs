//! Memory layout of the structures of an application.

use crate::params::WalkParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Bytes of a line.
pub(super) const LINE: u64 = 64;

/// Alignment of structures, in bytes.
const ALIGNMENT: u64 = 4096;

/// Bytes of a page table entry.
const ENTRY: u64 = 8;

/// Allocator that lays out structures consecutively. Sizes beyond 64 bits saturate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arena {
    base: u64,
    next: u64,
}

impl Arena {
    pub(super) fn new(base: u64) -> Self {
        Self { base, next: base }
    }

    /// Returns the address of the next structure, of `count` times `bytes` bytes.
    pub(super) fn place(&mut self, count: u64, bytes: u64) -> u64 {
        let at = self.next;
        // Aligned to pages, so that structures share no page table entry.
        let size = count.saturating_mul(bytes).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        self.next = at.saturating_add(size);
        at
    }

    /// Returns the bytes allocated so far.
    pub(super) fn bytes(&self) -> u64 {
        self.next - self.base
    }

    /// Allocates page tables for everything allocated so far. Returns the page walks, or `None` if the TLB covers all
    /// pages.
    pub(super) fn walks(&mut self, params: Option<&WalkParams>) -> Option<Walks> {
        let params = params?;
        let pages = self.bytes().div_ceil(params.page_bytes);
        let base = self.base;
        let tables = self.place(pages, ENTRY);
        // A random page is in the TLB with probability tlb_pages / pages.
        let missing = pages.saturating_sub(params.tlb_pages);
        let share = ((u128::from(missing) << 32) / u128::from(pages.max(1))) as u64;
        (share > 0).then_some(Walks { base, tables, shift: params.page_bytes.trailing_zeros(), share })
    }
}

/// Page walks of random accesses to an arena. Only the last level is modelled, because the upper levels fit into the
/// L1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Walks {
    base: u64,
    tables: u64,
    shift: u32,
    /// Share of accesses that miss the TLB, in units of 2^-32.
    share: u64,
}

impl Walks {
    /// Returns the address of the page table entry that a random access to `address` must fetch, if any.
    pub(super) fn entry(&self, address: u64, rng: &mut Rng) -> Option<u64> {
        rng.chance(self.share).then(|| self.tables + ((address - self.base) >> self.shift) * ENTRY)
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
        let first = self.at.div_ceil(LINE);
        self.at += bytes;
        let lines = self.at.div_ceil(LINE) - first;
        (self.base + first * LINE, lines as u32)
    }
}

/// Returns the number of lines that `bytes` bytes at `address` touch.
pub(super) fn lines(address: u64, bytes: u64) -> u32 {
    ((address + bytes - 1) / LINE - address / LINE + 1) as u32
}
