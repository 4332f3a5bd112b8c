//! Where the structures of an application lie.

use crate::params::WalkParams;
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Bytes of a line.
pub(super) const LINE: u64 = 64;

/// Structures begin at multiples of this.
const ALIGNMENT: u64 = 4096;

/// Bytes of an entry of a page table.
const ENTRY: u64 = 8;

/// Lays structures out one after the other; sizes that do not fit 64 bits end at the largest number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arena {
    base: u64,
    next: u64,
}

impl Arena {
    pub(super) fn new(base: u64) -> Self {
        Self { base, next: base }
    }

    /// The address of the next structure, of `count` times `bytes`.
    pub(super) fn place(&mut self, count: u64, bytes: u64) -> u64 {
        let at = self.next;
        let size = count.saturating_mul(bytes).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
        self.next = at.saturating_add(size);
        at
    }

    /// Bytes so far.
    pub(super) fn bytes(&self) -> u64 {
        self.next - self.base
    }

    /// The page tables of all so far, and when they are walked.
    pub(super) fn walks(&mut self, params: Option<&WalkParams>) -> Option<Walks> {
        let params = params?;
        let pages = self.bytes().div_ceil(params.page_bytes);
        let base = self.base;
        let tables = self.place(pages, ENTRY);
        let missing = pages.saturating_sub(params.tlb_pages);
        let share = ((u128::from(missing) << 32) / u128::from(pages.max(1))) as u64;
        (share > 0).then_some(Walks { base, tables, shift: params.page_bytes.trailing_zeros(), share })
    }
}

/// The page walks of random accesses to one arena: the last level only, the levels above it are small enough for the
/// L1.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Walks {
    base: u64,
    tables: u64,
    shift: u32,
    /// Share of accesses whose translation is not at hand, in units of 2^-32.
    share: u64,
}

impl Walks {
    /// The entry of the page table that a random access to `address` has to fetch, if any.
    pub(super) fn entry(&self, address: u64, rng: &mut Rng) -> Option<u64> {
        rng.chance(self.share).then(|| self.tables + ((address - self.base) >> self.shift) * ENTRY)
    }
}

/// A buffer that is used over and over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ring {
    base: u64,
    bytes: u64,
    at: u64,
}

impl Ring {
    /// A ring of `bytes` at `base`, in use from `at`, below `bytes`.
    pub(super) fn new(base: u64, bytes: u64, at: u64) -> Self {
        Self { base, bytes, at }
    }

    /// Takes the next `bytes`, at most those of the ring: the address and the number of the lines that are entered with
    /// them.
    pub(super) fn take(&mut self, bytes: u64) -> (u64, u32) {
        if self.at + bytes > self.bytes {
            self.at = 0;
        }
        let first = self.at.div_ceil(LINE);
        self.at += bytes;
        let lines = self.at.div_ceil(LINE) - first;
        (self.base + first * LINE, lines as u32)
    }
}

/// Lines that `bytes` at `address` touch.
pub(super) fn lines(address: u64, bytes: u64) -> u32 {
    ((address + bytes - 1) / LINE - address / LINE + 1) as u32
}
