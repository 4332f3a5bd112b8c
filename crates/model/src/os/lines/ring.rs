//! Lines that the driver of rings reads and stores.

use super::{FetchPurpose, FetchResult, Lfb, LineFetch, Lines, StackCounts, STORES_MAX};
use crate::part::Context;

impl Lines {
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
