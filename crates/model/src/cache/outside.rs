//! Accesses to the caches from outside the cores of their socket: of devices, and of other sockets.

use super::{Caches, Holder, IoWrite, LlcLine, TagArray};

impl Caches {
    /// Writes a whole line of a device into the LLC (DDIO). A line that the LLC has is updated in place, in whatever
    /// way it is. Any other line is allocated in the ways of DDIO, even if a core has it. Cores always lose their
    /// copies.
    pub fn io_write(&mut self, line: u64, class: u8) -> IoWrite {
        let slice = self.slice(line);
        let written = LlcLine { class, dirty: true, io: true, read: false, holder: Holder::NONE };
        let llc = &mut self.slices.llc[slice];
        // An update stays in its way, even outside the ways of DDIO (docs/models/cache.md, DDIO).
        if let Some(slot) = llc.find(line) {
            llc.touch(slot);
            let before = llc.data(slot);
            llc.set_data(slot, written);
            self.counts.leave(before);
            self.counts.enter(written);
            self.counts.class(class).ddio_updates += 1;
            // The whole line is new, so dirty copies need no write-back.
            self.l2.invalidate_copies(line, before.holder, None);
            return IoWrite { hit: true, evicted: None };
        }
        let hit = self.invalidate_tracked(slice, line);
        let counts = self.counts.class(class);
        counts.ddio_allocations += 1;
        counts.ddio_core_hits += u64::from(hit);
        IoWrite { hit, evicted: self.allocate(slice, line, written, self.params.ddio.ways) }
    }

    /// Invalidates a line in all caches, because a device without DDIO writes it to memory.
    pub fn io_invalidate(&mut self, line: u64) {
        let slice = self.slice(line);
        if let Some(gone) = self.slices.llc[slice].remove(line) {
            self.counts.leave(gone);
            self.l2.invalidate_copies(line, gone.holder, None);
        } else {
            self.invalidate_tracked(slice, line);
        }
    }

    /// Removes a line from the snoop filter and from the cores. Returns true if a core had it.
    #[inline]
    fn invalidate_tracked(&mut self, slice: usize, line: u64) -> bool {
        let tracked_holder = self.slices.filter.get_mut(slice).and_then(|filter| filter.remove(line));
        tracked_holder.is_some_and(|holder| self.l2.invalidate_copies(line, holder, None).any)
    }

    /// Reads a line for a device. Returns true if a cache has it. Data written by a device counts as read from then
    /// on. A line that no cache has is read from memory and not kept.
    pub fn io_read(&mut self, line: u64, class: u8) -> bool {
        let slice = self.slice(line);
        let llc = &mut self.slices.llc[slice];
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
    fn core_has_line(&self, slice: usize, line: u64) -> bool {
        let holder = self.slices.filter.get(slice).and_then(|filter| filter.peek(line)).unwrap_or_default();
        self.l2.has(line, holder)
    }

    /// Returns true if the LLC or a core has a line. Does not update the replacement state.
    #[must_use]
    pub fn has(&self, line: u64) -> bool {
        let slice = self.slice(line);
        self.slices.llc[slice].find(line).is_some() || self.core_has_line(slice, line)
    }

    /// Returns true if the LLC or a core has a dirty copy of a line.
    #[must_use]
    pub fn has_dirty(&self, line: u64) -> bool {
        let slice = self.slice(line);
        let llc = &self.slices.llc[slice];
        llc.find(line).is_some_and(|slot| llc.data(slot).dirty)
            || self.l2.has_dirty(line, self.slices.holder(slice, line))
    }

    /// Iterates over all dirty lines. A line that is dirty in the LLC and in a core appears twice.
    pub fn dirty_lines(&self) -> impl Iterator<Item = u64> + '_ {
        let llc =
            self.slices.llc.iter().flat_map(TagArray::iter).filter(|(_, _, held)| held.dirty).map(|(line, _, _)| line);
        let l2 = self.l2.lines().filter(|(_, held)| held.dirty).map(|(line, _)| line);
        llc.chain(l2)
    }

    /// Reads a line for another socket. All copies stay and become clean, because the reader or memory takes the
    /// dirty data. Returns the class of a dirty copy, if any.
    pub fn lend(&mut self, line: u64) -> Option<u8> {
        let slice = self.slice(line);
        let holder = self.slices.holder(slice, line);
        let mut dirty = self.l2.clean(line, holder, true);
        let llc = &mut self.slices.llc[slice];
        if let Some(slot) = llc.find(line) {
            let held = llc.data(slot);
            // The data goes to the reader or to memory, so nothing is left to leak.
            let lent = LlcLine { dirty: false, io: false, ..held };
            llc.set_data(slot, lent);
            self.counts.leave(held);
            self.counts.enter(lent);
            dirty = dirty.or(held.dirty.then_some(held.class));
        }
        dirty
    }

    /// Invalidates a line that another socket, or a device of another socket, writes. Returns the class of a dirty
    /// copy, if any.
    pub fn give_up(&mut self, line: u64) -> Option<u8> {
        let dirty = self.lend(line);
        // After `lend`, which finds out if a copy was dirty.
        self.io_invalidate(line);
        dirty
    }
}
