//! Accesses of devices to the caches.

use super::{Caches, Holder, IoWrite, LlcLine};

impl Caches {
    /// Writes a whole line of a device into the LLC (DDIO). A line that the LLC has is updated in place, in whatever
    /// way it is. Any other line is allocated in the ways of DDIO, even if a core has it. Cores always lose their
    /// copies.
    pub fn io_write(&mut self, line: u64, class: u8) -> IoWrite {
        let slice = self.slice(line);
        let written = LlcLine { class, dirty: true, io: true, read: false, holder: Holder::NONE };
        let llc = &mut self.llc[slice];
        // An update stays in its way, even outside the ways of DDIO (docs/models/cache.md, DDIO).
        if let Some(slot) = llc.find(line) {
            llc.touch(slot);
            let before = llc.data(slot);
            llc.set_data(slot, written);
            self.counts.leave(before);
            self.counts.enter(written);
            self.counts.class(class).ddio_updates += 1;
            // The whole line is new, so dirty copies need no write-back.
            self.invalidate_copies(line, before.holder, None);
            return IoWrite { hit: true, evicted: None };
        }
        let hit = self.invalidate_tracked(slice, line);
        self.counts.class(class).ddio_allocations += 1;
        IoWrite { hit, evicted: self.allocate(slice, line, written, self.params.ddio.ways) }
    }

    /// Invalidates a line in all caches, because a device without DDIO writes it to memory.
    pub fn io_invalidate(&mut self, line: u64) {
        let slice = self.slice(line);
        if let Some(gone) = self.llc[slice].remove(line) {
            self.counts.leave(gone);
            self.invalidate_copies(line, gone.holder, None);
        } else {
            self.invalidate_tracked(slice, line);
        }
    }

    /// Removes a line from the snoop filter and from the cores. Returns true if a core had it.
    #[inline]
    fn invalidate_tracked(&mut self, slice: usize, line: u64) -> bool {
        let tracked_holder = self.filter.get_mut(slice).and_then(|filter| filter.remove(line));
        tracked_holder.is_some_and(|holder| self.invalidate_copies(line, holder, None).any)
    }

    /// Reads a line for a device. Returns true if a cache has it. Data written by a device counts as read from then
    /// on. A line that no cache has is read from memory and not kept.
    pub fn io_read(&mut self, line: u64, class: u8) -> bool {
        let slice = self.slice(line);
        let llc = &mut self.llc[slice];
        let hit = match llc.lookup(line) {
            Some(slot) => {
                // A line that a device has read is no leak when it leaves for memory.
                llc.set_data(slot, LlcLine { read: true, ..llc.data(slot) });
                true
            }
            None => self.core_has_line(slice, line),
        };
        let counts = self.counts.class(class);
        counts.io_reads += 1;
        counts.io_read_hits += u64::from(hit);
        hit
    }

    #[inline]
    pub(super) fn core_has_line(&self, slice: usize, line: u64) -> bool {
        let holder = self.filter.get(slice).and_then(|filter| filter.peek(line)).unwrap_or_default();
        self.l2[holder.cores(self.l2.len())].iter().any(|l2| l2.find(line).is_some())
    }
}
