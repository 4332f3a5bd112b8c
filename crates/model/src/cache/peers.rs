//! What other sockets do to the caches of this one.

use super::{Array, Caches, Private, Shared};

impl Caches {
    /// Whether the LLC or a core has a line; this is no use of it.
    #[must_use]
    pub fn has(&self, line: u64) -> bool {
        let slice = self.slice(line);
        self.llc[slice].find(line).is_some() || self.a_core_has(slice, line)
    }

    /// Whether the LLC or a core has data of a line that memory has not.
    #[must_use]
    pub fn has_dirty(&self, line: u64) -> bool {
        let slice = self.slice(line);
        let llc = &self.llc[slice];
        let holder = self.noted(slice, line).map(|(_, holder)| holder).unwrap_or_default();
        let is_dirty = |l2: &Array<Private>| l2.find(line).is_some_and(|slot| l2.data(slot).dirty);
        llc.find(line).is_some_and(|slot| llc.data(slot).dirty)
            || self.l2[holder.cores(self.l2.len())].iter().any(is_dirty)
    }

    /// Every line of which the LLC or a core has data that memory has not; one that both have comes twice.
    pub fn dirty_lines(&self) -> impl Iterator<Item = u64> + '_ {
        let llc = self.llc.iter().flat_map(Array::iter).filter(|(_, _, held)| held.dirty).map(|(line, _, _)| line);
        let l2 = self.l2.iter().flat_map(Array::iter).filter(|(_, _, held)| held.dirty).map(|(line, _, _)| line);
        llc.chain(l2)
    }

    /// Another socket reads a line. What this one has of it stays, clean: who asks, or memory, gets the data of a dirty
    /// copy. Returns the class of a dirty copy, or nothing if memory has the data.
    pub fn lend(&mut self, line: u64) -> Option<u8> {
        let slice = self.slice(line);
        let holder = self.noted(slice, line).map(|(_, holder)| holder).unwrap_or_default();
        let mut dirty = None;
        let holders = holder.cores(self.l2.len());
        for l2 in &mut self.l2[holders] {
            let Some(slot) = l2.find(line) else { continue };
            let copy = l2.data(slot);
            dirty = copy.dirty.then_some(copy.class).or(dirty);
            l2.set_data(slot, Private { dirty: false, shared: true, ..copy });
        }
        let llc = &mut self.llc[slice];
        if let Some(slot) = llc.find(line) {
            let held = llc.data(slot);
            let lent = Shared { dirty: false, io: false, ..held };
            llc.set_data(slot, lent);
            self.counts.leave(held);
            self.counts.enter(lent);
            dirty = dirty.or(held.dirty.then_some(held.class));
        }
        dirty
    }

    /// Another socket, or a device on one, writes a line: this one loses it. Returns the class of a dirty copy.
    pub fn give_up(&mut self, line: u64) -> Option<u8> {
        let dirty = self.lend(line);
        self.io_invalidate(line);
        dirty
    }
}
