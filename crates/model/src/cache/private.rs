//! Operations on the L2 of a core.

use super::{Caches, Holder, L2Access, L2Line, Victim};

impl Caches {
    /// Looks a line up in the L2 of a core, for a load or a store. A store makes the line dirty and invalidates the
    /// copies of other cores.
    #[inline]
    pub fn access(&mut self, core: u32, line: u64, class: u8, store: bool) -> L2Access {
        let counts = self.counts.class(class);
        counts.l2_lookups += 1;
        let l2 = self.l2.of_mut(core);
        let Some(slot) = l2.lookup(line) else {
            counts.l2_misses += 1;
            return L2Access::Miss;
        };
        let held @ L2Line { dirty, prefetched, shared, .. } = l2.data(slot);
        counts.prefetch_used += u64::from(prefetched);
        let used = L2Line { dirty: dirty || store, prefetched: false, shared: shared && !store, ..held };
        l2.set_data(slot, used);
        // A line that no other core has needs no invalidation.
        if store && shared {
            self.claim(core, line);
        }
        L2Access::Hit { prefetched }
    }

    /// Invalidates the copies of all other cores, because `core` stores to the line.
    fn claim(&mut self, core: u32, line: u64) {
        let slice = self.slice(line);
        if let Some((slot, before)) = self.slices.tracked_holder(slice, line) {
            self.slices.note(slice, slot, Holder::core(core));
            self.l2.invalidate_copies(line, before, Some(core));
        }
    }

    /// Returns true if the L2 of a core has a line. Changes nothing.
    #[must_use]
    #[inline]
    pub fn holds(&self, core: u32, line: u64) -> bool {
        self.l2.of(core).find(line).is_some()
    }

    /// Inserts a line that the core has [read](Caches::read) into its L2. Returns the victim that must go to the LLC,
    /// if any. If the LLC is inclusive, clean lines leave silently.
    ///
    /// The line bypasses the L2 and leaves immediately if the core may not keep it: since the read, the snoop filter
    /// or the inclusive LLC has lost track of it, or a device or another core has written it.
    pub fn fill(&mut self, core: u32, line: u64, class: u8, dirty: bool, prefetched: bool) -> Option<Victim> {
        let Some(shared) = self.join(core, line, dirty) else {
            return self.leaves(core, line, class, dirty);
        };
        let l2 = self.l2.of_mut(core);
        // The line may have come in meanwhile by another request of this core.
        if let Some(slot) = l2.lookup(line) {
            let held = l2.data(slot);
            l2.set_data(slot, L2Line { dirty: held.dirty || dirty, ..held });
            return None;
        }
        self.counts.class(class).prefetch_filled += u64::from(prefetched);
        let (line, left) = l2.insert(line, L2Line { class, dirty, prefetched, shared }, u32::MAX)?;
        self.leaves(core, line, left.class, left.dirty)
    }

    #[inline]
    fn leaves(&self, core: u32, line: u64, class: u8, dirty: bool) -> Option<Victim> {
        // A dirty victim always enters the LLC (docs/models/cache.md, Victim LLC).
        let taken = dirty || self.foresight.takes_clean(&self.params.llc, core, line);
        (dirty || !self.inclusive).then_some(Victim { line, class, dirty, taken })
    }

    /// Adds a core to the holders of a line. Returns true if other cores may have the line, too, or `None` if the
    /// core cannot become a holder.
    #[inline]
    fn join(&mut self, core: u32, line: u64, dirty: bool) -> Option<bool> {
        let inclusive = self.inclusive;
        let slice = self.slice(line);
        let (slot, holder) = self.slices.tracked_holder(slice, line)?;
        if holder == Holder::core(core) {
            return Some(false);
        }
        // The snoop filter has recorded other cores since, so this core may not keep the line.
        if !inclusive && !holder.includes(core) {
            return None;
        }
        if dirty {
            self.slices.note(slice, slot, Holder::core(core));
            self.l2.invalidate_copies(line, holder, Some(core));
            return Some(false);
        }
        self.slices.note(slice, slot, holder.and(core));
        if inclusive && holder != Holder::NONE {
            self.write_back_copies(core, line, holder);
        }
        Some(holder != Holder::NONE)
    }
}
