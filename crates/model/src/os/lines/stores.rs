//! Lines that copies, the kernel and the driver of rings store to. Only flushes wait for them.

use super::{FetchPurpose, FetchResult, LineFetch, Lines, StackCounts, STORES_MAX};
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
        // Stores wait in the store buffer until an LFB entry is free.
        while lfb.idle > 0 {
            let Some((line, class)) = self.stores.pop_front() else { return };
            let line_fetch = LineFetch { line, store: true, purpose: FetchPurpose::Destination, class };
            self.stores_out += u32::from(self.fetch.fetch_line(line_fetch, lfb, context) == FetchResult::Requested);
            counts.destination_lines += 1;
        }
    }

    /// Requests a virtual line for a slot of the driver of rings.
    pub(in crate::os) fn read_for_ring(
        &mut self,
        address: u64,
        slot: u16,
        class: u8,
        lfb: &mut Lfb,
        context: &mut Context,
    ) -> FetchResult {
        let line = self.pages.physical(address) / 64;
        self.fetch.fetch_line(LineFetch { line, store: false, purpose: FetchPurpose::Ring(slot), class }, lfb, context)
    }

    /// Takes the slot of a line that has just arrived for the driver of rings.
    pub(in crate::os) fn take_for_ring(&mut self) -> Option<u16> {
        self.for_ring.take()
    }

    /// Stores to a virtual line for the driver of rings, as soon as an LFB entry is free.
    pub(in crate::os) fn store_for_ring(
        &mut self,
        address: u64,
        class: u8,
        lfb: &mut Lfb,
        counts: &mut StackCounts,
        context: &mut Context,
    ) {
        self.stores.push_back((self.pages.physical(address) / 64, class));
        self.store(lfb, counts, context);
    }

    /// Returns true if another store may retire.
    pub(in crate::os) fn may_store(&self) -> bool {
        self.stores.len() < STORES_MAX
    }
}
