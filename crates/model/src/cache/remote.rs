//! Operations of other sockets on the caches of this one.

use super::{Caches, L2Line, LlcLine, TagArray};

impl Caches {
    /// Returns true if the LLC or a core has a line. Does not count as a use.
    #[must_use]
    pub fn has(&self, line: u64) -> bool {
        let slice = self.slice(line);
        self.llc[slice].find(line).is_some() || self.core_has_line(slice, line)
    }

    /// Returns true if the LLC or a core has a dirty copy of a line.
    #[must_use]
    pub fn has_dirty(&self, line: u64) -> bool {
        let slice = self.slice(line);
        let llc = &self.llc[slice];
        let holder = self.tracked_holder(slice, line).map(|(_, holder)| holder).unwrap_or_default();
        let is_dirty = |l2: &TagArray<L2Line>| l2.find(line).is_some_and(|slot| l2.data(slot).dirty);
        llc.find(line).is_some_and(|slot| llc.data(slot).dirty)
            || self.l2[holder.cores(self.l2.len())].iter().any(is_dirty)
    }

    /// Iterates over all dirty lines. A line that is dirty in the LLC and in a core appears twice.
    pub fn dirty_lines(&self) -> impl Iterator<Item = u64> + '_ {
        let llc = self.llc.iter().flat_map(TagArray::iter).filter(|(_, _, held)| held.dirty).map(|(line, _, _)| line);
        let l2 = self.l2.iter().flat_map(TagArray::iter).filter(|(_, _, held)| held.dirty).map(|(line, _, _)| line);
        llc.chain(l2)
    }

    /// Reads a line for another socket. All copies stay and become clean, because the reader or memory takes the
    /// dirty data. Returns the class of a dirty copy, if any.
    pub fn lend(&mut self, line: u64) -> Option<u8> {
        let slice = self.slice(line);
        let holder = self.tracked_holder(slice, line).map(|(_, holder)| holder).unwrap_or_default();
        let mut dirty = None;
        let holders = holder.cores(self.l2.len());
        for l2 in &mut self.l2[holders] {
            let Some(slot) = l2.find(line) else { continue };
            let copy = l2.data(slot);
            dirty = copy.dirty.then_some(copy.class).or(dirty);
            l2.set_data(slot, L2Line { dirty: false, shared: true, ..copy });
        }
        let llc = &mut self.llc[slice];
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

    /// Invalidates a line that another socket, or a device there, writes. Returns the class of a dirty copy, if any.
    pub fn give_up(&mut self, line: u64) -> Option<u8> {
        let dirty = self.lend(line);
        // After `lend`, which finds out if a copy was dirty.
        self.io_invalidate(line);
        dirty
    }
}
