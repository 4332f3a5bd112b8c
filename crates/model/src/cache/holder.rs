//! Who has a line: the snoop filter, or the notes of an inclusive LLC, and what follows for the cores.

use super::{Array, Caches, Data, Evicted, Private, Shared, Slot};
use std::ops::Range;

/// The cores that may have a line: one, several (any), or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder(u16);

impl Data for Holder {
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
        Self::NOBODY
    }
}

impl Holder {
    pub(super) const NOBODY: Self = Self(u16::MAX);
    pub(super) const SEVERAL: Self = Self(u16::MAX - 1);
    pub(super) const CORES_MAX: u32 = Self::SEVERAL.0 as u32;

    #[inline]
    pub(super) fn core(core: u32) -> Self {
        Self(core as u16)
    }

    /// With one more.
    #[inline]
    pub(super) fn and(self, core: u32) -> Self {
        if self == Self::NOBODY || self == Self::core(core) {
            Self::core(core)
        } else {
            Self::SEVERAL
        }
    }

    #[inline]
    pub(super) fn includes(self, core: u32) -> bool {
        self == Self::SEVERAL || self == Self::core(core)
    }

    /// The cores to ask, of `cores`.
    #[inline]
    pub(super) fn cores(self, cores: usize) -> Range<usize> {
        match self {
            Self::NOBODY => 0..0,
            Self::SEVERAL => 0..cores,
            Self(core) => usize::from(core)..usize::from(core) + 1,
        }
    }
}

/// What the cores had of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Copies {
    pub(super) any: bool,
    /// The class of a dirty copy.
    pub(super) dirty: Option<u8>,
}

impl Copies {
    #[inline]
    fn add(&mut self, copy: Private) {
        self.any = true;
        self.dirty = copy.dirty.then_some(copy.class).or(self.dirty);
    }
}

impl Caches {
    /// Who has a line, and where that is noted in its slice; nothing if nobody keeps track of it.
    #[inline]
    pub(super) fn noted(&self, slice: usize, line: u64) -> Option<(Slot, Holder)> {
        if self.inclusive {
            let llc = &self.llc[slice];
            llc.find(line).map(|slot| (slot, llc.data(slot).holder))
        } else {
            let filter = &self.filter[slice];
            filter.find(line).map(|slot| (slot, filter.data(slot)))
        }
    }

    /// Notes who has a line, where [`Caches::noted`] found it.
    #[inline]
    pub(super) fn note(&mut self, slice: usize, slot: Slot, holder: Holder) {
        if self.inclusive {
            let llc = &mut self.llc[slice];
            llc.set_data(slot, Shared { holder, ..llc.data(slot) });
        } else {
            self.filter[slice].set_data(slot, holder);
        }
    }

    /// The snoop filter notes a line that it has not. The line that it forgets for that leaves the cores.
    #[inline]
    pub(super) fn track(&mut self, slice: usize, line: u64, core: u32) -> Option<Evicted> {
        let (line, holder) = self.filter[slice].insert(line, Holder::core(core), u32::MAX)?;
        let class = self.back_invalidate(line, holder).dirty?;
        self.counts.class(class).core_evictions += 1;
        Some(Evicted { line, class, io: false })
    }

    /// The cores lose a line because its place is needed.
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

    /// The cores lose a line because somebody else writes it: a device, or the core `writer`, which keeps its own.
    #[inline]
    pub(super) fn withdraw(&mut self, line: u64, holder: Holder, writer: Option<u32>) -> Copies {
        let mut copies = Copies::default();
        for core in holder.cores(self.l2.len()).filter(|&core| Some(core as u32) != writer) {
            if let Some(copy) = self.l2[core].remove(line) {
                copies.add(copy);
            }
        }
        copies
    }

    /// A core is about to read a line that others may have. Clean copies stay and are shared from now on. A dirty one
    /// is handed over to the reader (a migratory snoop); where an inclusive LLC takes the data, it stays, clean.
    pub(super) fn snoop(&mut self, reader: u32, line: u64, holder: Holder) -> Copies {
        let mut copies = Copies::default();
        let inclusive = self.inclusive;
        for core in holder.cores(self.l2.len()) {
            let l2 = &mut self.l2[core];
            let Some(slot) = l2.find(line) else { continue };
            if core as u32 == reader {
                copies.any = true;
                continue;
            }
            copies.add(l2.data(slot));
            if l2.data(slot).dirty && !inclusive {
                l2.take(slot);
            } else {
                l2.set_data(slot, Private { dirty: false, shared: true, ..l2.data(slot) });
            }
        }
        copies
    }

    /// A core stores to a line that others may have: they lose it.
    pub(super) fn claim(&mut self, core: u32, line: u64) {
        let slice = self.slice(line);
        if let Some((slot, before)) = self.noted(slice, line) {
            self.note(slice, slot, Holder::core(core));
            self.withdraw(line, before, Some(core));
        }
    }

    /// A core that still has a line takes an older copy back. Returns whether there is one.
    #[inline]
    pub(super) fn absorb(&mut self, line: u64, holder: Holder, dirty: bool) -> bool {
        let holders = holder.cores(self.l2.len());
        let held = |l2: &mut Array<Private>| {
            let slot = l2.find(line)?;
            let copy = l2.data(slot);
            l2.set_data(slot, Private { dirty: copy.dirty | dirty, ..copy });
            Some(())
        };
        self.l2[holders].iter_mut().find_map(held).is_some()
    }
}
