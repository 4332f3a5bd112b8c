//! Lines that copies and the kernel store to. Only flushes wait for them.

use super::{FetchPurpose, FetchResult, LineFetch, Lines, StackCounts};
use crate::lfb::Lfb;
use crate::part::Context;
use hostnet_kernel::ComponentId;

impl Lines {
    /// Makes the next copy one in place: its data is at the destination already.
    pub(in crate::os) fn set_in_place(&mut self) {
        self.in_place = true;
    }

    /// Returns true if lines that were stored to are not in the caches yet.
    pub(in crate::os) fn stores_pending(&self) -> bool {
        self.stores_out > 0 || !self.stores.is_empty()
    }

    /// Requests the lines of pending stores, as far as possible now.
    pub(in crate::os) fn push_stores(&mut self, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        self.store(lfb, counts, context);
    }

    /// Returns the physical line of a virtual address.
    pub(in crate::os) fn physical(&self, address: u64) -> u64 {
        self.pages.physical(address) / 64
    }

    /// Returns the CHA, and the delay from the core to it, in ps.
    pub(in crate::os) fn cha(&self) -> (ComponentId, u64) {
        self.fetch.cha()
    }

    /// Requests the lines of pending stores.
    pub(super) fn store(&mut self, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        while lfb.idle > 0 {
            let Some((line, class)) = self.stores.pop_front() else { return };
            let line_fetch = LineFetch { line, store: true, purpose: FetchPurpose::Destination, class };
            self.stores_out += u32::from(self.fetch.fetch_line(line_fetch, lfb, context) == FetchResult::Requested);
            counts.destination_lines += 1;
        }
    }
}
