//! What the L2 of a core holds.

use super::{Access, Caches, Holder, Private, Victim};

impl Caches {
    /// A core loads from or stores to a line: looks it up in its L2. A store makes a line dirty, and takes it from the
    /// other cores that have it.
    #[inline]
    pub fn access(&mut self, core: u32, line: u64, class: u8, store: bool) -> Access {
        let counts = self.counts.class(class);
        counts.l2_lookups += 1;
        let l2 = &mut self.l2[core as usize];
        let Some(slot) = l2.lookup(line) else {
            counts.l2_misses += 1;
            return Access::Miss;
        };
        let held @ Private { dirty, prefetched, shared, .. } = l2.data(slot);
        counts.prefetch_used += u64::from(prefetched);
        let used = Private { dirty: dirty || store, prefetched: false, shared: shared && !store, ..held };
        l2.set_data(slot, used);
        if store && shared {
            self.claim(core, line);
        }
        Access::Hit { prefetched }
    }

    /// Whether the L2 of a core has a line; changes nothing.
    #[must_use]
    #[inline]
    pub fn holds(&self, core: u32, line: u64) -> bool {
        self.l2[core as usize].find(line).is_some()
    }

    /// Puts a line, which the core has [read](Caches::read), into its L2; the line that leaves for it has to go to the
    /// LLC. Clean lines leave without a word if the LLC is inclusive.
    ///
    /// A line that a core may not keep passes the L2 by and leaves at once: since the read, the snoop filter or the
    /// inclusive LLC has lost track of it, a device has written it, or another core has.
    pub fn fill(&mut self, core: u32, line: u64, class: u8, dirty: bool, prefetched: bool) -> Option<Victim> {
        let Some(shared) = self.join(core, line, dirty) else {
            return self.leaves(core, line, class, dirty);
        };
        let l2 = &mut self.l2[core as usize];
        if let Some(slot) = l2.lookup(line) {
            let held = l2.data(slot);
            l2.set_data(slot, Private { dirty: held.dirty || dirty, ..held });
            return None;
        }
        self.counts.class(class).prefetch_filled += u64::from(prefetched);
        let (line, left) = l2.insert(line, Private { class, dirty, prefetched, shared }, u32::MAX)?;
        self.leaves(core, line, left.class, left.dirty)
    }

    #[inline]
    fn leaves(&self, core: u32, line: u64, class: u8, dirty: bool) -> Option<Victim> {
        let taken = dirty || self.takes_clean(core, line);
        (dirty || !self.inclusive).then_some(Victim { line, class, dirty, taken })
    }

    /// A core becomes a holder of a line. Returns whether others may be too, or nothing if it cannot become one.
    #[inline]
    fn join(&mut self, core: u32, line: u64, dirty: bool) -> Option<bool> {
        let inclusive = self.inclusive;
        let slice = self.slice(line);
        let (slot, holder) = self.noted(slice, line)?;
        if holder == Holder::core(core) {
            return Some(false);
        }
        if !inclusive && !holder.includes(core) {
            return None;
        }
        if dirty {
            self.note(slice, slot, Holder::core(core));
            self.withdraw(line, holder, Some(core));
            return Some(false);
        }
        self.note(slice, slot, holder.and(core));
        if inclusive && holder != Holder::NOBODY {
            self.write_back_copies(core, line, holder);
        }
        Some(holder != Holder::NOBODY)
    }
}
