//! Times at which a thread waited for data, and the limits that kept it from requesting more.

use hostnet_kernel::Time;
use hostnet_measure::Waits;
use serde::{Deserialize, Serialize};

/// A pool or window is nearly full when less than one part in this many of it is left.
pub(super) const NEARLY: u32 = 8;

/// Limit that keeps a thread from its next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitCause {
    /// None of the following.
    None,
    /// No LFB entry can be allocated.
    Lfb,
    /// The oldest load in the reorder window has no data.
    Window,
    /// Either LFB entries or the reorder window, with the other limit nearly reached: raising one alone would not help.
    Both,
}

/// Times at which a thread waited for data, by limit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ThreadWaits {
    /// No LFB entry could be allocated.
    pub lfb: Waits,
    /// The reorder window was full.
    pub window: Waits,
    /// One of the LFB and the reorder window was full, and the other nearly.
    pub both: Waits,
}

impl ThreadWaits {
    /// Records the limit that the thread waits for from now on. The wait begins at `at`, when the thread has executed
    /// the work that it has begun ahead of the clock.
    pub(super) fn note(&mut self, now: Time, at: Time, cause: WaitCause) {
        let all =
            [(&mut self.lfb, WaitCause::Lfb), (&mut self.window, WaitCause::Window), (&mut self.both, WaitCause::Both)];
        for (record, kind) in all {
            let waits = kind == cause;
            record.set(if waits { at } else { now }, waits);
        }
    }
}
