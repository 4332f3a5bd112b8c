//! Operations of cores on the LLC.

use super::{ArraySlot, Caches, EvictedLine, Holder, LlcLine, LlcRead, Victim};

impl Caches {
    /// Reads a line for a core whose L2 does not have it.
    ///
    /// A victim LLC gives its copy away, dirty or not, and the snoop filter records the holder. A line in another
    /// core's L2 is taken from that L2: a clean copy is shared, and a dirty one migrates to the reader, which must then
    /// write it back, like the migratory snoops of Skylake-SP. An inclusive LLC keeps the line and the dirty data, so
    /// the reader's copy is always clean.
    pub fn read(&mut self, core: u32, line: u64, class: u8) -> LlcRead {
        let (hit, evicted) =
            if self.inclusive { (self.read_inclusive(core, line, class), None) } else { self.read_victim(core, line) };
        self.foresight.observe(&self.params.llc, core, line, hit.is_some());
        let counts = self.counts.class(class);
        counts.llc_lookups += 1;
        counts.llc_misses += u64::from(hit.is_none());
        LlcRead { hit, evicted }
    }

    #[inline]
    fn read_victim(&mut self, core: u32, line: u64) -> (Option<bool>, Option<EvictedLine>) {
        let slice = self.slice(line);
        // A victim LLC is exclusive: the copy moves to the core, with the duty to write it back.
        if let Some(given) = self.slices.llc[slice].remove(line) {
            self.counts.leave(given);
            return (Some(given.dirty), self.track(slice, line, core));
        }
        let Some(slot) = self.slices.filter[slice].lookup(line) else {
            return (None, self.track(slice, line, core));
        };
        (self.read_held(core, line, slice, slot), None)
    }

    /// Adds a line to the snoop filter, which does not have it. The line of a replaced entry is invalidated in the
    /// cores. Returns that line if it was dirty.
    #[inline]
    fn track(&mut self, slice: usize, line: u64, core: u32) -> Option<EvictedLine> {
        // Way masks bind the LLC only; the snoop filter uses all its ways.
        let (line, holder) = self.slices.filter[slice].insert(line, Holder::core(core), u32::MAX)?;
        let class = self.l2.back_invalidate(line, holder, &mut self.counts).dirty?;
        self.counts.class(class).core_evictions += 1;
        Some(EvictedLine { line, class, io: false })
    }

    /// Reads a line that the snoop filter tracks. While the line is in flight to or from a core, no core may have it.
    fn read_held(&mut self, core: u32, line: u64, slice: usize, slot: ArraySlot) -> Option<bool> {
        let holder = self.slices.filter[slice].data(slot);
        let copies = self.l2.snoop(core, line, holder, false);
        // Recorded even on a miss, because the line is now in flight to this core.
        self.slices.filter[slice].set_data(slot, holder.and(core));
        copies.any.then_some(copies.dirty.is_some())
    }

    #[inline]
    fn read_inclusive(&mut self, core: u32, line: u64, class: u8) -> Option<bool> {
        let slice = self.slice(line);
        let llc = &mut self.slices.llc[slice];
        let slot = llc.find(line)?;
        llc.touch(slot);
        let held = llc.data(slot);
        // A core has read the device's data, so the line belongs to the workload of the core.
        if held.io {
            let read = LlcLine { class, io: false, ..held };
            llc.set_data(slot, read);
            self.counts.leave(held);
            self.counts.enter(read);
        }
        // Only copies of other cores are snooped.
        if !(held.holder == Holder::NONE || held.holder == Holder::core(core)) {
            self.write_back_copies(core, line, held.holder);
        }
        Some(false)
    }

    /// Snoops the holders of a line that another core reads. An inclusive LLC takes the data of a dirty copy.
    pub(super) fn write_back_copies(&mut self, reader: u32, line: u64, holder: Holder) {
        if let Some(class) = self.l2.snoop(reader, line, holder, true).dirty {
            let slice = self.slice(line);
            if let Some(slot) = self.slices.llc[slice].find(line) {
                self.take_over(slice, slot, class);
            }
        }
    }

    /// Inserts a line read from memory into an inclusive LLC. Returns the dirty line evicted to make room, if any.
    #[inline]
    pub fn fetched(&mut self, line: u64, class: u8) -> Option<EvictedLine> {
        let slice = self.slice(line);
        // Another core may have fetched the line meanwhile.
        if !self.inclusive || self.slices.llc[slice].find(line).is_some() {
            return None;
        }
        self.allocate(slice, line, LlcLine { class, ..LlcLine::default() }, self.masks[usize::from(class)])
    }

    /// Handles a line that left the L2 of a core: the LLC takes it, or the snoop filter drops its entry. If a core
    /// has read the line again meanwhile, that copy becomes dirty instead and the LLC does not change. Returns the
    /// dirty line evicted to make room, if any.
    pub fn put(&mut self, core: u32, victim: Victim) -> Option<EvictedLine> {
        let Victim { line, class, dirty, taken } = victim;
        let slice = self.slice(line);
        let tracked_holder = self.slices.filter.get(slice).and_then(|filter| filter.find(line));
        if let Some(slot) = tracked_holder {
            let holder = self.slices.filter[slice].data(slot);
            // The core has read the line again before its older copy arrived (docs/models/cache.md, Races).
            if self.l2.merge_into_copy(line, holder, dirty) {
                return None;
            }
            self.slices.filter[slice].take(slot);
        } else if let Some(slot) = self.slices.llc[slice].find(line) {
            if dirty {
                self.take_over(slice, slot, class);
                self.release(core, slice, slot, line);
            }
            return None;
        }
        if !taken {
            return None;
        }
        let put = LlcLine { class, dirty, ..LlcLine::default() };
        self.allocate(slice, line, put, self.masks[usize::from(class)])
    }

    /// Replaces the LLC's data of a line by a core's.
    #[inline]
    fn take_over(&mut self, slice: usize, slot: ArraySlot, class: u8) {
        let held = self.slices.llc[slice].data(slot);
        let taken = LlcLine { class, dirty: true, io: false, read: false, ..held };
        self.counts.leave(held);
        self.slices.llc[slice].set_data(slot, taken);
        self.counts.enter(taken);
    }

    /// Clears the holder of a line in an inclusive LLC if that core has lost the line.
    #[inline]
    fn release(&mut self, core: u32, slice: usize, slot: ArraySlot, line: u64) {
        let held = self.slices.llc[slice].data(slot);
        if held.holder == Holder::core(core) && self.l2.of(core).find(line).is_none() {
            self.slices.llc[slice].set_data(slot, LlcLine { holder: Holder::NONE, ..held });
        }
    }

    /// Inserts a line that the LLC does not have into one of the ways of `mask`. Returns the dirty line evicted to
    /// make room, if any.
    #[inline]
    pub(super) fn allocate(&mut self, slice: usize, line: u64, coming: LlcLine, mask: u32) -> Option<EvictedLine> {
        self.counts.enter(coming);
        let (line, mut left) = self.slices.llc[slice].insert(line, coming, mask)?;
        self.counts.leave(left);
        // A dirty copy in a core is newer than the line that leaves, and goes to memory with it.
        if let Some(class) = self.l2.back_invalidate(line, left.holder, &mut self.counts).dirty {
            left = LlcLine { class, dirty: true, io: false, ..left };
        }
        left.dirty.then(|| {
            self.counts.write_back(left);
            EvictedLine { line, class: left.class, io: left.io }
        })
    }

    /// Writes a line back to memory for a core. All copies stay and become clean. Returns true if a copy was dirty.
    pub fn clean(&mut self, line: u64) -> bool {
        let slice = self.slice(line);
        let mut dirty = false;
        let llc = &mut self.slices.llc[slice];
        if let Some(slot) = llc.find(line) {
            let held = llc.data(slot);
            dirty |= held.dirty;
            let clean = LlcLine { dirty: false, ..held };
            // Lines are counted by their state, so the dirty line leaves and the clean one enters.
            self.counts.leave(held);
            llc.set_data(slot, clean);
            self.counts.enter(clean);
        }
        let holder = self.slices.holder(slice, line);
        self.l2.clean(line, holder, false).is_some() || dirty
    }
}
