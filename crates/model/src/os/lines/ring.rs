//! Lines that the driver of rings asks for and stores to.

use super::{Asked, Lfb, Lines, Purpose, StackCounts, Wish, STORES_MAX};
use crate::part::Context;

impl Lines {
    /// The driver of rings reads a line of virtual memory for a slot.
    pub(in crate::os) fn read_for_ring(
        &mut self,
        address: u64,
        slot: u16,
        class: u8,
        lfb: &mut Lfb,
        context: &mut Context,
    ) -> Asked {
        let line = self.pages.physical(address) / 64;
        self.fetch.ask(Wish { line, store: false, purpose: Purpose::Ring(slot), class }, lfb, context)
    }

    /// The slot of a line that was read so and has just come.
    pub(in crate::os) fn take_for_ring(&mut self) -> Option<u16> {
        self.for_ring.take()
    }

    /// The driver of rings stores to a line of virtual memory, as soon as an entry of the LFB is free.
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

    /// Whether another store may retire.
    pub(in crate::os) fn may_store(&self) -> bool {
        self.stores.len() < STORES_MAX
    }
}
