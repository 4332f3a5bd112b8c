//! Holders of lines: the snoop filter, or the directory bits of an inclusive LLC, and the operations on cores'
//! copies.

use super::{ArraySlot, Caches, EvictedLine, L2Line, LineData, LlcLine, TagArray};
use std::ops::Range;

/// Cores that may have a line: none, one, or several (any core).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder(u16);

impl LineData for Holder {
    const BITS: u32 = u16::BITS;

    #[inline]
    fn to_bits(self) -> u64 {
        u64::from(self.0)
    }

    #[inline]
    fn from_bits(bits: u64) -> Self {
        Self(bits as u16)
    }
}

impl Default for Holder {
    fn default() -> Self {
        Self::NONE
    }
}

impl Holder {
    pub(super) const NONE: Self = Self(u16::MAX);
    pub(super) const SEVERAL: Self = Self(u16::MAX - 1);
    pub(super) const CORES_MAX: u32 = Self::SEVERAL.0 as u32;

    #[inline]
    pub(super) fn core(core: u32) -> Self {
        Self(core as u16)
    }

    /// Adds a core.
    #[inline]
    pub(super) fn and(self, core: u32) -> Self {
        if self == Self::NONE || self == Self::core(core) {
            Self::core(core)
        } else {
            Self::SEVERAL
        }
    }

    #[inline]
    pub(super) fn includes(self, core: u32) -> bool {
        self == Self::SEVERAL || self == Self::core(core)
    }

    /// Returns the range of cores to snoop, out of `cores`.
    #[inline]
    pub(super) fn cores(self, cores: usize) -> Range<usize> {
        match self {
            Self::NONE => 0..0,
            Self::SEVERAL => 0..cores,
            Self(core) => usize::from(core)..usize::from(core) + 1,
        }
    }
}

/// Copies of a line that were found in cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies {
    pub(super) any: bool,
    /// Class of a dirty copy.
    pub(super) dirty: Option<u8>,
}

impl Copies {
    #[inline]
    fn add(&mut self, copy: L2Line) {
        self.any = true;
        self.dirty = copy.dirty.then_some(copy.class).or(self.dirty);
    }
}

impl Caches {
    /// Returns the holder of a line and the slot that records it, or `None` if the line is not tracked.
    #[inline]
    pub(super) fn tracked_holder(&self, slice: usize, line: u64) -> Option<(ArraySlot, Holder)> {
        if self.inclusive {
            let llc = &self.llc[slice];
            llc.find(line).map(|slot| (slot, llc.data(slot).holder))
        } else {
            let filter = &self.filter[slice];
            filter.find(line).map(|slot| (slot, filter.data(slot)))
        }
    }

    /// Records the holder of a line in the slot that [`Caches::tracked_holder`] returned.
    #[inline]
    pub(super) fn note(&mut self, slice: usize, slot: ArraySlot, holder: Holder) {
        if self.inclusive {
            let llc = &mut self.llc[slice];
            llc.set_data(slot, LlcLine { holder, ..llc.data(slot) });
        } else {
            self.filter[slice].set_data(slot, holder);
        }
    }

    /// Adds a line to the snoop filter, which does not have it. The line of a replaced entry is invalidated in the
    /// cores. Returns that line if it was dirty.
    #[inline]
    pub(super) fn track(&mut self, slice: usize, line: u64, core: u32) -> Option<EvictedLine> {
        // Way masks bind the LLC only; the snoop filter uses all its ways.
        let (line, holder) = self.filter[slice].insert(line, Holder::core(core), u32::MAX)?;
        let class = self.back_invalidate(line, holder).dirty?;
        self.counts.class(class).core_evictions += 1;
        Some(EvictedLine { line, class, io: false })
    }

    /// Invalidates a line in its holders because its entry is needed.
    #[inline]
    pub(super) fn back_invalidate(&mut self, line: u64, holder: Holder) -> Copies {
        let mut copies = Copies::default();
        let holders = holder.cores(self.l2.len());
        for l2 in &mut self.l2[holders] {
            if let Some(copy) = l2.remove(line) {
                self.counts.class(copy.class).back_invalidations += 1;
                copies.add(copy);
            }
        }
        copies
    }

    /// Invalidates a line in its holders because a device or another core writes it. The core `writer` keeps its
    /// copy.
    #[inline]
    pub(super) fn invalidate_copies(&mut self, line: u64, holder: Holder, writer: Option<u32>) -> Copies {
        let mut copies = Copies::default();
        for core in holder.cores(self.l2.len()).filter(|&core| Some(core as u32) != writer) {
            if let Some(copy) = self.l2[core].remove(line) {
                copies.add(copy);
            }
        }
        copies
    }

    /// Snoops the holders of a line that `reader` is about to read. Clean copies stay and become shared. A dirty copy
    /// moves to the reader (migratory snoop). Under an inclusive LLC, which takes the data, the copy stays and
    /// becomes clean.
    pub(super) fn snoop(&mut self, reader: u32, line: u64, holder: Holder) -> Copies {
        let mut copies = Copies::default();
        let inclusive = self.inclusive;
        for core in holder.cores(self.l2.len()) {
            let l2 = &mut self.l2[core];
            let Some(slot) = l2.find(line) else { continue };
            // The reader may have the line again already; its own copy stays as it is.
            if core as u32 == reader {
                copies.any = true;
                continue;
            }
            copies.add(l2.data(slot));
            // A dirty line migrates to the reader, as in Skylake-SP; an inclusive LLC takes its data instead.
            if l2.data(slot).dirty && !inclusive {
                l2.take(slot);
            } else {
                l2.set_data(slot, L2Line { dirty: false, shared: true, ..l2.data(slot) });
            }
        }
        copies
    }

    /// Invalidates the copies of all other cores, because `core` stores to the line.
    pub(super) fn claim(&mut self, core: u32, line: u64) {
        let slice = self.slice(line);
        if let Some((slot, before)) = self.tracked_holder(slice, line) {
            self.note(slice, slot, Holder::core(core));
            self.invalidate_copies(line, before, Some(core));
        }
    }

    /// Merges an older copy into that of a core that still has the line. Returns true if there is such a core.
    #[inline]
    pub(super) fn merge_into_copy(&mut self, line: u64, holder: Holder, dirty: bool) -> bool {
        let holders = holder.cores(self.l2.len());
        let held = |l2: &mut TagArray<L2Line>| {
            let slot = l2.find(line)?;
            let copy = l2.data(slot);
            l2.set_data(slot, L2Line { dirty: copy.dirty | dirty, ..copy });
            Some(())
        };
        self.l2[holders].iter_mut().find_map(held).is_some()
    }
}
