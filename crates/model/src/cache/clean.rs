//! Flushes of lines by cores.

use super::{Caches, L2Line, LlcLine};

impl Caches {
    /// Writes a line back to memory for a core. All copies stay and become clean. Returns true if a copy was dirty.
    pub fn clean(&mut self, line: u64) -> bool {
        let slice = self.slice(line);
        let mut dirty = false;
        if let Some(slot) = self.llc[slice].find(line) {
            let held = self.llc[slice].data(slot);
            dirty |= held.dirty;
            let clean = LlcLine { dirty: false, ..held };
            // Lines are counted by their state, so the dirty line leaves and the clean one enters.
            self.counts.leave(held);
            self.llc[slice].set_data(slot, clean);
            self.counts.enter(clean);
        }
        let holder = self.tracked_holder(slice, line).map(|(_, holder)| holder).unwrap_or_default();
        let holders = holder.cores(self.l2.len());
        for l2 in &mut self.l2[holders] {
            let Some(slot) = l2.find(line) else { continue };
            let held = l2.data(slot);
            dirty |= held.dirty;
            l2.set_data(slot, L2Line { dirty: false, ..held });
        }
        dirty
    }
}
