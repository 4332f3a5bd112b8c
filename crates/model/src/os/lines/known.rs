//! Lines of the kernel whose addresses are known, so that caches say whether they are there.

use super::{Known, Lines};
use crate::part::Context;

impl Lines {
    /// The core is to touch the line at a virtual address before it goes on. Without caches, false: nobody keeps
    /// account of what caches would have. Nor in bursts, which have no room for single lines.
    pub(in crate::os) fn know(&mut self, address: u64, store: bool, class: u8, context: &Context) -> bool {
        self.remember(address, Known { line: 0, store, class, in_turn: false, pair: false }, context)
    }

    /// As [`Lines::know`] of a completion. If the `next` one is there, too, and shares a pair of lines with it, the
    /// adjacent-line prefetcher brings both.
    pub(in crate::os) fn know_completion(&mut self, address: u64, next: bool, class: u8, context: &Context) -> bool {
        let pair = next && self.pairs && address / 64 % 2 == 0;
        self.remember(address, Known { line: 0, store: false, class, in_turn: false, pair }, context)
    }

    /// As [`Lines::know`] of a line that is read, but nothing asks for it while the core works on something else.
    pub(in crate::os) fn know_in_turn(&mut self, address: u64, class: u8, context: &Context) {
        self.remember(address, Known { line: 0, store: false, class, in_turn: true, pair: false }, context);
    }

    fn remember(&mut self, address: u64, known: Known, context: &Context) -> bool {
        let counts = context.caches.are_there() && !self.kernel.is_burst();
        if counts {
            self.kernel.know(Known { line: self.pages.physical(address) / 64, ..known });
        }
        counts
    }
}
