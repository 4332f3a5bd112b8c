//! Lines that copies and the kernel store to, and that nothing waits for but what is to be flushed.

use super::{Asked, Lines, Purpose, StackCounts, Wish};
use crate::lfb::Lfb;
use crate::part::Context;
use hostnet_kernel::ComponentId;

impl Lines {
    /// The next copy is none: what it is of lies where it is to be.
    pub(in crate::os) fn set_in_place(&mut self) {
        self.in_place = true;
    }

    /// Whether lines that were stored to are not yet in the caches.
    pub(in crate::os) fn stores_pending(&self) -> bool {
        self.stores_out > 0 || !self.stores.is_empty()
    }

    /// Asks for the lines that stores wait for, if it can be done now.
    pub(in crate::os) fn push_stores(&mut self, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        self.store(lfb, counts, context);
    }

    /// The physical line of a virtual address.
    pub(in crate::os) fn physical(&self, address: u64) -> u64 {
        self.pages.physical(address) / 64
    }

    /// The CHAs, and how far they are.
    pub(in crate::os) fn cha(&self) -> (ComponentId, u64) {
        self.fetch.cha()
    }

    /// Asks for the lines that stores wait for.
    pub(super) fn store(&mut self, lfb: &mut Lfb, counts: &mut StackCounts, context: &mut Context) {
        while lfb.idle > 0 {
            let Some((line, class)) = self.stores.pop_front() else { return };
            let wish = Wish { line, store: true, purpose: Purpose::Destination, class };
            self.stores_out += u32::from(self.fetch.ask(wish, lfb, context) == Asked::Coming);
            counts.destination_lines += 1;
        }
    }
}
