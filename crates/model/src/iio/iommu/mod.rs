//! IOMMU: a cache of translations, and the walks of page tables behind it.
//!
//! A page walk reads one entry per level of the page table, from memory as a device does. A cache of upper levels
//! shortens it. Requests for a page that is being translated wait for the same walk.

mod lru;

use crate::line::Pages;
use crate::params::{IommuParams, LEVEL_BITS, TABLE_ENTRY_BYTES};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use lru::LruKeys;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Bits of an address within a line.
const LINE_BITS: u32 = 6;

/// Page whose translation has been requested, and who requested it first.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PageRequest {
    /// Number of the page: its virtual address divided by its size.
    pub(super) page: u64,
    /// Workload of the request.
    pub(super) class: u8,
    /// Link of the device.
    pub(super) link: u8,
}

/// Walk in flight.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PageWalk {
    request: PageRequest,
    /// Level that the walk reads now; 0 is the last.
    level: u32,
    /// Time at which the walk began.
    since: Time,
}

/// Read of an entry of a page table.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableRead {
    /// Number of the walk.
    pub(super) walk: usize,
    /// Physical line of the entry.
    pub(super) line: u64,
    /// Page that is translated, and who requested it.
    pub(super) request: PageRequest,
}

/// Effect of an entry of a page table that has arrived.
#[derive(Clone, Copy, Debug)]
pub(super) enum WalkStep {
    /// The walk goes on with the next level.
    Read(TableRead),
    /// The translation of a page is known.
    Done(u64),
}

/// Memory of page tables.
#[derive(Clone, Debug)]
pub struct PageTables {
    /// Parameters of the IOMMU.
    pub params: IommuParams,
    /// Mapping of the memory of the tables.
    pub pages: Pages,
    /// Virtual address of the tables.
    pub base: u64,
}

/// IOMMU of a socket.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Iommu {
    params: IommuParams,
    pages: Pages,
    base: u64,
    iotlb: LruKeys,
    upper: LruKeys,
    /// By link: translations in the device (ATS).
    devices: Vec<LruKeys>,
    /// Buffers that have been unmapped since the last flush.
    unmapped: u32,
    walks: Domain,
    /// Walks in flight, by number.
    active: Vec<Option<PageWalk>>,
    /// Pages that wait for a walk, the oldest first.
    waiting: VecDeque<PageRequest>,
}

impl Iommu {
    /// Creates an IOMMU for `classes` workloads and `links` devices, which have at most `requests` requests in flight.
    pub(super) fn new(tables: PageTables, classes: usize, links: usize, requests: usize) -> Self {
        let PageTables { params, pages, base } = tables;
        Self {
            iotlb: LruKeys::new(params.iotlb_sets, params.iotlb_ways),
            upper: LruKeys::new(1, params.upper_entries),
            devices: vec![LruKeys::new(1, params.ats_entries); links],
            unmapped: 0,
            walks: Domain::new(params.walks, params.walks, classes),
            active: vec![None; params.walks as usize],
            waiting: VecDeque::with_capacity(requests),
            params,
            pages,
            base,
        }
    }

    /// Returns the domain of the walks.
    pub(super) fn walks(&self) -> &Domain {
        &self.walks
    }

    /// Returns the domain of the walks, to settle or reset it.
    pub(super) fn walks_mut(&mut self) -> &mut Domain {
        &mut self.walks
    }

    /// Returns the number of the virtual page of a physical line.
    pub(super) fn page_of(&self, line: u64) -> u64 {
        self.pages.virtual_of(line << LINE_BITS) >> self.params.page_bits
    }

    /// Returns true if devices cache translations themselves.
    pub(super) fn has_ats(&self) -> bool {
        self.params.ats_entries > 0
    }

    /// Returns true if a device has cached the translation of a page.
    pub(super) fn device_knows(&mut self, link: u8, page: u64) -> bool {
        self.devices[usize::from(link)].touch(page)
    }

    /// Caches the translation of a page in a device.
    pub(super) fn fill_device(&mut self, link: u8, page: u64) {
        let device = &mut self.devices[usize::from(link)];
        if !device.touch(page) {
            device.insert(page);
        }
    }

    /// Invalidates the translations of the pages of a buffer, which begins at a virtual line, or flushes all
    /// translations once enough buffers have been unmapped.
    pub(super) fn unmap(&mut self, line: u64, lines: u32) {
        let caches = std::iter::once(&mut self.iotlb).chain(&mut self.devices);
        if self.params.flush == 0 {
            let bits = self.params.page_bits - LINE_BITS;
            let pages = line >> bits..(line + u64::from(lines)).div_ceil(1 << bits);
            return caches.for_each(|cache| pages.clone().for_each(|page| cache.remove(page)));
        }
        self.unmapped += 1;
        if self.unmapped >= self.params.flush {
            self.unmapped = 0;
            caches.for_each(LruKeys::clear);
        }
    }

    /// Returns true if the translation of a page is cached.
    pub(super) fn knows(&mut self, page: u64) -> bool {
        self.iotlb.touch(page)
    }

    /// Requests the translation of a page, unless a walk for it is in flight or waits.
    pub(super) fn request(&mut self, request: PageRequest) {
        let of_page = |other: &PageRequest| other.page == request.page;
        let in_flight = self.active.iter().flatten().any(|walk| of_page(&walk.request));
        if !in_flight && !self.waiting.iter().any(of_page) {
            self.waiting.push_back(request);
        }
    }

    /// Starts the walk for the page that has waited longest, if one may start. Returns its first read.
    pub(super) fn start_next(&mut self, now: Time) -> Option<TableRead> {
        let walk = self.active.iter().position(Option::is_none)?;
        let request = self.waiting.pop_front()?;
        let taken = self.walks.try_acquire(now, request.class);
        assert!(taken, "every walk in flight holds a credit");
        let levels = self.params.levels().count() as u32;
        // The lowest level that is cached saves the reads of all above it.
        let cached = (1..levels).find(|&level| self.upper.touch(self.upper_key(level, request.page)));
        let level = cached.unwrap_or(levels) - 1;
        self.active[walk] = Some(PageWalk { request, level, since: now });
        Some(self.read(walk, request, level))
    }

    /// Handles the entry that a walk has read.
    ///
    /// # Panics
    /// Panics if there is no such walk.
    pub(super) fn advance(&mut self, walk: usize, now: Time) -> WalkStep {
        let PageWalk { request, level, since } = self.active[walk].expect("the walk is in flight");
        if level > 0 {
            let key = self.upper_key(level, request.page);
            // Another walk may have brought the same entry.
            if !self.upper.touch(key) {
                self.upper.insert(key);
            }
            self.active[walk] = Some(PageWalk { request, level: level - 1, since });
            return WalkStep::Read(self.read(walk, request, level - 1));
        }
        self.active[walk] = None;
        self.walks.release(now, request.class, since);
        self.iotlb.insert(request.page);
        WalkStep::Done(request.page)
    }

    /// Returns the key of an entry of an upper level of the page table.
    fn upper_key(&self, level: u32, page: u64) -> u64 {
        // The level goes above all bits of a page number.
        u64::from(level) << 56 | page >> (level * LEVEL_BITS)
    }

    /// Returns the read of an entry of the page table.
    fn read(&self, walk: usize, request: PageRequest, level: u32) -> TableRead {
        let below = self.params.levels().take(level as usize);
        let before: u64 = below.map(|bits| self.params.entries(bits)).sum();
        // Page numbers hold the number of the socket above the memory of the socket, so they are folded.
        let entries = self.params.entries(self.params.page_bits + level * LEVEL_BITS);
        let entry = (request.page >> (level * LEVEL_BITS)) % entries;
        let address = self.base + (before + entry) * TABLE_ENTRY_BYTES;
        TableRead { walk, line: self.pages.physical(address) >> LINE_BITS, request }
    }
}
