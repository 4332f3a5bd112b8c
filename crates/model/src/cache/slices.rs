//! The slices of the LLC, and the holders of lines that they track.

use super::{ArraySlot, Holder, LlcLine, TagArray};
use serde::{Deserialize, Serialize};

/// Slices of the LLC, with what they know of the cores' copies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LlcSlices {
    /// LLC, by slice.
    pub(super) llc: Vec<TagArray<LlcLine>>,
    /// Snoop filter, by slice. Empty if the LLC is inclusive and records the holders itself.
    pub(super) filter: Vec<TagArray<Holder>>,
}

impl LlcSlices {
    /// Prefetches the state of a line into the host processor's cache, before an expected lookup.
    #[inline]
    pub(super) fn expect(&self, slice: usize, line: u64) {
        self.llc[slice].expect(line);
        if let Some(filter) = self.filter.get(slice) {
            filter.expect(line);
        }
    }

    /// Returns the holder of a line and the slot that records it, or `None` if the line is not tracked.
    #[inline]
    pub(super) fn tracked_holder(&self, slice: usize, line: u64) -> Option<(ArraySlot, Holder)> {
        match self.filter.get(slice) {
            None => {
                let llc = &self.llc[slice];
                llc.find(line).map(|slot| (slot, llc.data(slot).holder))
            }
            Some(filter) => filter.find(line).map(|slot| (slot, filter.data(slot))),
        }
    }

    /// Returns the cores that may have a line.
    pub(super) fn holder(&self, slice: usize, line: u64) -> Holder {
        self.tracked_holder(slice, line).map(|(_, holder)| holder).unwrap_or_default()
    }

    /// Records the holder of a line in the slot that [`LlcSlices::tracked_holder`] returned.
    #[inline]
    pub(super) fn note(&mut self, slice: usize, slot: ArraySlot, holder: Holder) {
        match self.filter.get_mut(slice) {
            None => {
                let llc = &mut self.llc[slice];
                llc.set_data(slot, LlcLine { holder, ..llc.data(slot) });
            }
            Some(filter) => filter.set_data(slot, holder),
        }
    }
}
