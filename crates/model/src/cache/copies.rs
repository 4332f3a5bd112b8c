//! The L2 caches of the cores, and the operations on all copies of a line in them.

use super::{CacheCounts, Holder, L2Line, TagArray};
use serde::{Deserialize, Serialize};

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

/// L2 caches, by core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PrivateCaches {
    l2: Vec<TagArray<L2Line>>,
}

impl PrivateCaches {
    pub(super) fn new(l2: Vec<TagArray<L2Line>>) -> Self {
        Self { l2 }
    }

    /// Returns the L2 of a core.
    #[inline]
    pub(super) fn of(&self, core: u32) -> &TagArray<L2Line> {
        &self.l2[core as usize]
    }

    /// Returns the L2 of a core mutably.
    #[inline]
    pub(super) fn of_mut(&mut self, core: u32) -> &mut TagArray<L2Line> {
        &mut self.l2[core as usize]
    }

    /// Iterates over the lines of all cores.
    pub(super) fn lines(&self) -> impl Iterator<Item = (u64, L2Line)> + '_ {
        self.l2.iter().flat_map(TagArray::iter).map(|(line, _, held)| (line, held))
    }

    /// Returns true if one of the holders has a line.
    #[inline]
    pub(super) fn has(&self, line: u64, holder: Holder) -> bool {
        self.l2[holder.cores(self.l2.len())].iter().any(|l2| l2.find(line).is_some())
    }

    /// Returns true if one of the holders has a dirty copy of a line.
    pub(super) fn has_dirty(&self, line: u64, holder: Holder) -> bool {
        let is_dirty = |l2: &TagArray<L2Line>| l2.find(line).is_some_and(|slot| l2.data(slot).dirty);
        self.l2[holder.cores(self.l2.len())].iter().any(is_dirty)
    }

    /// Invalidates a line in its holders because its entry is needed.
    #[inline]
    pub(super) fn back_invalidate(&mut self, line: u64, holder: Holder, counts: &mut CacheCounts) -> Copies {
        let mut copies = Copies::default();
        let holders = holder.cores(self.l2.len());
        for l2 in &mut self.l2[holders] {
            if let Some(copy) = l2.remove(line) {
                counts.class(copy.class).back_invalidations += 1;
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
    /// moves to the reader (migratory snoop). Under an `inclusive` LLC, which takes the data, the copy stays and
    /// becomes clean.
    pub(super) fn snoop(&mut self, reader: u32, line: u64, holder: Holder, inclusive: bool) -> Copies {
        let mut copies = Copies::default();
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

    /// Makes the copies of the holders clean, and shared if `shared`. Returns the class of a dirty copy, if any.
    pub(super) fn clean(&mut self, line: u64, holder: Holder, shared: bool) -> Option<u8> {
        let mut copies = Copies::default();
        let holders = holder.cores(self.l2.len());
        for l2 in &mut self.l2[holders] {
            let Some(slot) = l2.find(line) else { continue };
            let copy = l2.data(slot);
            copies.add(copy);
            l2.set_data(slot, L2Line { dirty: false, shared: copy.shared || shared, ..copy });
        }
        copies.dirty
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
