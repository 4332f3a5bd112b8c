//! Prefetchers of a core without caches: they keep lines of its sequential streams in flight beside the LFB.

use super::memory::STALLED;
use super::Programs;
use crate::lfb::Lfb;
use crate::part::{Context, Payload};
use hostnet_kernel::Time;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Bit in the tag of a request that holds a prefetch credit; the other bits are the number of the program.
pub(super) const OF_PREFETCH: u32 = 1 << 31;

/// Credits of the prefetchers of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct StreamPrefetcher {
    /// Lines in flight for the prefetchers, and the write-backs of those that were stored to.
    pub(super) credits: Domain,
    /// Time of the last wake-up that was scheduled for the next prefetch.
    wake_up_at: Time,
}

impl StreamPrefetcher {
    /// Creates the prefetchers of a core, or returns `None` if it has no credits for them.
    pub(super) fn new(credits: u32, classes: usize) -> Option<Box<Self>> {
        let prefetcher = || Self { credits: Domain::new(credits, credits, classes), wake_up_at: Time::ZERO };
        (credits > 0).then(|| Box::new(prefetcher()))
    }
}

impl Programs {
    /// Prefetches lines while the LFB has no entry for them.
    #[inline]
    pub(super) fn prefetch(&mut self, lfb: &mut Lfb, context: &mut Context) {
        if self.prefetcher.is_some() {
            self.prefetch_next(lfb, context);
        }
    }

    #[inline(never)]
    fn prefetch_next(&mut self, lfb: &mut Lfb, context: &mut Context) {
        let Some(prefetcher) = &mut self.prefetcher else { return };
        // Demand misses go first: the prefetchers only run ahead of a full LFB.
        if lfb.idle > 0 || prefetcher.credits.free() == 0 || self.halted {
            return;
        }
        let now = context.now();
        let ready =
            self.programs.iter().zip(&self.ready).filter(|(program, _)| program.prefetched && program.has_work());
        let Some(at) = ready.map(|(_, &ready)| ready.max(self.next_issue)).min().filter(|&at| at < STALLED) else {
            return;
        };
        if at > now {
            // An entry that waits for the same time makes the access itself.
            let wanted = lfb.held.free() == 0 && prefetcher.wake_up_at != at;
            if wanted {
                prefetcher.wake_up_at = at;
                context.send(context.id, at.since(now), Payload::Step);
            }
            return;
        }
        if let Some(index) = self.next_program(now, |program| program.prefetched) {
            self.issue(index, OF_PREFETCH, lfb, context);
            self.prefetch_next(lfb, context);
        }
    }

    /// Releases the credit of a prefetch that was taken at `entered`, and prefetches the next line.
    pub(super) fn end_prefetch(&mut self, class: u8, entered: Time, lfb: &mut Lfb, context: &mut Context) {
        if let Some(prefetcher) = &mut self.prefetcher {
            prefetcher.credits.release(context.now(), class, entered);
        }
        self.prefetch(lfb, context);
    }

    /// Returns the credits of the prefetchers, if they are on.
    #[must_use]
    pub fn prefetch_credits(&self) -> Option<&Domain> {
        self.prefetcher.as_deref().map(|prefetcher| &prefetcher.credits)
    }

    /// Returns the credits of the prefetchers, to settle or reset them.
    pub(in crate::core) fn prefetch_credits_mut(&mut self) -> Option<&mut Domain> {
        self.prefetcher.as_deref_mut().map(|prefetcher| &mut prefetcher.credits)
    }
}

/// Returns the number of the program of a request, and true if the request holds a prefetch credit.
#[inline]
pub(super) fn of_tag(tag: u32) -> (usize, bool) {
    ((tag & !OF_PREFETCH) as usize, tag & OF_PREFETCH != 0)
}
