//! Memory layout of the structures of an application, and the memory that they need.

use super::threads::{App, AppParams, StreamKernelParams, WalkParams};

/// Alignment of structures, in bytes.
const ALIGNMENT: u64 = 4096;

/// Bytes of a page table entry.
pub const PAGE_ENTRY_BYTES: u64 = 8;

/// Memory that an application needs, in bytes. Sizes beyond 64 bits saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AppFootprint {
    /// Bytes shared by all threads.
    pub shared_bytes: u64,
    /// Bytes per thread.
    pub thread_bytes: u64,
    /// Bytes per client.
    pub client_bytes: u64,
}

impl AppParams {
    /// Returns the memory that the application needs.
    #[must_use]
    pub fn footprint(&self) -> AppFootprint {
        let shared = |shared_bytes| AppFootprint { shared_bytes, ..AppFootprint::default() };
        let each = |thread_bytes| AppFootprint { thread_bytes, ..AppFootprint::default() };
        let walks = self.walks.as_ref();
        match &self.app {
            App::Redis(redis) => {
                AppFootprint { client_bytes: redis.client_bytes(), ..each(redis.addresses(0, walks).bytes) }
            }
            App::PageRank(graph) => shared(graph.pagerank_layout(0, walks).bytes),
            App::Betweenness(graph) => shared(graph.betweenness_layout(0, walks).bytes),
            App::Stream(kernel) => shared(kernel.layout(0).bytes),
            App::Mlc(mlc) => each(BufferLayout::new(0, mlc.working_set_bytes, walks).bytes),
            App::Chase(chase) => each(BufferLayout::new(0, chase.working_set_bytes, walks).bytes),
            App::Trace(trace) => each(trace.memory_bytes),
        }
    }
}

/// Layout of the arrays of STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLayout {
    /// Addresses of the arrays a, b and c.
    pub arrays: [u64; 3],
    /// Bytes of all arrays.
    pub bytes: u64,
}

impl StreamKernelParams {
    /// Lays out the arrays from virtual address `base` on, a multiple of 4096.
    #[must_use]
    pub fn layout(&self, base: u64) -> StreamLayout {
        let mut arena = Arena::new(base);
        let arrays = [0; 3].map(|_| arena.place(1, self.array_bytes));
        StreamLayout { arrays, bytes: arena.bytes() }
    }
}

/// Layout of a buffer with its page tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLayout {
    /// Address of the buffer.
    pub buffer: u64,
    /// Page tables of the buffer; `None` = all translations hit the TLB.
    pub tables: Option<PageTables>,
    /// Bytes of the buffer and its page tables.
    pub bytes: u64,
}

impl BufferLayout {
    /// Lays out a buffer of `bytes` bytes from virtual address `base` on, a multiple of 4096.
    #[must_use]
    pub fn new(base: u64, bytes: u64, walks: Option<&WalkParams>) -> Self {
        let mut arena = Arena::new(base);
        let buffer = arena.place(1, bytes);
        let tables = arena.place_tables(walks);
        Self { buffer, tables, bytes: arena.bytes() }
    }
}

/// Page tables of consecutive structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageTables {
    /// Address of the first structure.
    pub base: u64,
    /// Pages of the structures.
    pub pages: u64,
    /// Address of the entry of the first page.
    pub entries: u64,
}

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

    /// Allocates page tables for everything allocated so far, if there are page walks.
    pub(super) fn place_tables(&mut self, walks: Option<&WalkParams>) -> Option<PageTables> {
        let pages = self.bytes().div_ceil(walks?.page_bytes);
        Some(PageTables { base: self.base, pages, entries: self.place(pages, PAGE_ENTRY_BYTES) })
    }

    /// Returns the bytes allocated so far.
    pub(super) fn bytes(&self) -> u64 {
        self.next - self.base
    }
}
