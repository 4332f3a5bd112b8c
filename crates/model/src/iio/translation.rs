//! Translation of the addresses of devices: TLPs that wait for their page, and the reads of page walks.

use super::iommu::{Iommu, PageRequest, PageTables, TableRead, WalkStep};
use super::{Iio, IioLink};
use crate::line::{Request, RequestId, RequestKind};
use crate::part::{Context, Payload};

/// Bit of the tag of a request that reads an entry of a page table.
const WALK: u32 = 1 << 31;

/// Returns the number of the walk that has sent a request, if a walk has.
pub(super) fn walk_of(request: &Request) -> Option<usize> {
    (request.tag & WALK != 0).then_some((request.tag & !WALK) as usize)
}

impl IioLink {
    /// Returns true if a TLP waits for the translation of a page.
    fn waits_for(&self, page: u64) -> bool {
        self.writes.iter().chain(&self.untranslated).any(|tlp| tlp.untranslated == Some(page))
    }

    /// Releases the TLPs that have waited for the translation of a page.
    fn release(&mut self, page: u64) {
        for write in self.writes.iter_mut().filter(|write| write.untranslated == Some(page)) {
            write.untranslated = None;
        }
        let Self { untranslated, reads, .. } = self;
        // Reads of a link may pass each other, writes may not (docs/models/iommu.md).
        untranslated.retain(|read| {
            let waits = read.untranslated != Some(page);
            if !waits {
                reads.push_back(*read);
            }
            waits
        });
    }

    /// Returns the time that a translation takes from a device to the IOMMU and back, in ps.
    fn round_trip_ps(&self) -> u64 {
        (2 * self.pcie.latency_ps).max(1)
    }
}

impl Iio {
    /// Adds an IOMMU.
    pub fn add_iommu(&mut self, tables: PageTables) {
        let depth = |link: &IioLink| link.pcie.posted_lines as usize + link.pcie.nonposted_lines as usize;
        let requests = self.links.iter().map(depth).sum();
        let iommu = Iommu::new(tables, self.read.classes().len(), self.links.len(), requests);
        self.iommu = Some(Box::new(iommu));
    }

    /// Returns the page whose translation a TLP that begins at `line` waits for; `None` if the address is translated
    /// now.
    pub(super) fn translate(&mut self, line: u64, class: u8, link: u8, context: &mut Context) -> Option<u64> {
        let iommu = self.iommu.as_mut()?;
        let page = iommu.page_of(line);
        let own = &self.links[usize::from(link)];
        if iommu.has_ats() {
            if iommu.device_knows(link, page) {
                return None;
            }
            // The device has asked for the page already.
            if own.waits_for(page) {
                return Some(page);
            }
            if iommu.knows(page) {
                context.send(context.id, own.round_trip_ps(), Payload::Translated { page, link });
                return Some(page);
            }
        } else if iommu.knows(page) {
            return None;
        }
        iommu.request(PageRequest { page, class, link });
        self.start_walks(context);
        Some(page)
    }

    /// Starts page walks while there are credits.
    fn start_walks(&mut self, context: &mut Context) {
        while let Some(read) = self.iommu.as_mut().and_then(|iommu| iommu.start_next(context.now())) {
            self.read_table(read, context);
        }
    }

    /// Sends the read of an entry of a page table to the CHA.
    fn read_table(&mut self, read: TableRead, context: &mut Context) {
        let TableRead { walk, line, request: PageRequest { class, link, .. } } = read;
        let request = context.request(RequestKind::IoRead, line, class, WALK | walk as u32);
        let id = context.requests.insert(Request { engine: link, ..request });
        let delay = self.enter(true, context.now()) + self.params.read_to_cha_ps;
        context.send(self.cha, delay, Payload::Arrive(id));
    }

    /// Handles an entry of a page table, which a walk has read.
    pub(super) fn on_table_entry(&mut self, id: RequestId, walk: usize, context: &mut Context) {
        context.requests.remove(id);
        let iommu = self.iommu.as_mut().expect("an IOMMU has walked");
        match iommu.advance(walk, context.now()) {
            WalkStep::Read(read) => self.read_table(read, context),
            WalkStep::Done(page) => {
                let has_ats = iommu.has_ats();
                for (number, link) in (0..).zip(&mut self.links) {
                    if !has_ats {
                        link.release(page);
                    } else if link.waits_for(page) {
                        context.send(context.id, link.round_trip_ps(), Payload::Translated { page, link: number });
                    }
                }
                self.start_walks(context);
                self.start_translated(context);
            }
        }
    }

    /// Handles a translation that a device has received.
    pub(super) fn on_translated(&mut self, page: u64, link: u8, context: &mut Context) {
        self.iommu.iter_mut().for_each(|iommu| iommu.fill_device(link, page));
        self.links[usize::from(link)].release(page);
        self.start_translated(context);
    }

    /// Starts TLPs whose addresses are translated.
    fn start_translated(&mut self, context: &mut Context) {
        self.start_writes(context);
        self.start_reads(context);
    }

    /// Invalidates the translations of a buffer that is unmapped.
    pub(super) fn on_unmap(&mut self, line: u64, lines: u32) {
        self.iommu.iter_mut().for_each(|iommu| iommu.unmap(line, lines));
    }
}
