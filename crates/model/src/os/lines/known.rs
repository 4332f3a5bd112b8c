//! Lines of the kernel whose addresses are known, so that the caches decide whether they hit.

use super::{KnownLine, Lines};
use crate::part::Context;

impl Lines {
    /// Queues an access to the line of a virtual address, which must be complete before the core continues. Returns
    /// false if the line is not simulated by itself: without caches, which would hold it, and in bursts, which have no
    /// single lines.
    pub(in crate::os) fn access_line(&mut self, address: u64, store: bool, class: u8, context: &Context) -> bool {
        self.queue_access(address, KnownLine { line: 0, store, class, when_needed: false, pair: false }, context)
    }

    /// Queues an access to a completion, as [`Lines::access_line`]. If the `next` completion has arrived, too, and
    /// shares a pair of lines with this one, the adjacent-line prefetcher fetches both.
    pub(in crate::os) fn access_completion(&mut self, address: u64, next: bool, class: u8, context: &Context) -> bool {
        // Pairs are aligned to 128 B, so only the even line has its successor beside it.
        let pair = next && self.pairs && address / 64 % 2 == 0;
        self.queue_access(address, KnownLine { line: 0, store: false, class, when_needed: false, pair }, context)
    }

    /// Queues a read of a line, as [`Lines::access_line`], that is not requested while the core does other work.
    pub(in crate::os) fn access_line_when_needed(&mut self, address: u64, class: u8, context: &Context) {
        self.queue_access(address, KnownLine { line: 0, store: false, class, when_needed: true, pair: false }, context);
    }

    fn queue_access(&mut self, address: u64, known: KnownLine, context: &Context) -> bool {
        let counts = context.caches.are_there() && !self.kernel.is_burst();
        if counts {
            self.kernel.access_line(KnownLine { line: self.pages.physical(address) / 64, ..known });
        }
        counts
    }
}
