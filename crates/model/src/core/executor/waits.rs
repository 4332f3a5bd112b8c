//! Times at which a thread waited for data, and the limits that kept it from requesting more.

use super::Executor;
use crate::lfb::Lfb;
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
    /// One of the two limits, with the other nearly reached: raising one alone would not help.
    Both,
}

/// Times at which a thread waited for data, by limit.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ThreadWaits {
    /// No LFB entry could be allocated.
    pub lfb: Waits,
    /// The reorder window was full.
    pub window: Waits,
    /// One of both was full, and the other nearly.
    pub both: Waits,
}

impl Executor {
    /// Makes the executor record the times at which it waits.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.waits = Some(Box::default());
        self
    }

    /// Returns the times at which the thread waited for data, if they are recorded.
    #[must_use]
    pub fn waits(&self) -> Option<&ThreadWaits> {
        self.waits.as_deref()
    }

    /// Records the limit that the thread waits for from now on. The wait begins when the thread has executed the work
    /// that it has begun ahead of the clock.
    pub(super) fn note_wait(&mut self, now: Time, wait: WaitCause, lfb: &Lfb) {
        let wait = self.refine_wait(wait, lfb);
        let Some(waits) = &mut self.waits else { return };
        // The wait begins when the work ahead of the clock is executed.
        let at = Time::from_ps(self.front_fs / 1000).max(now);
        let all = [
            (&mut waits.lfb, WaitCause::Lfb),
            (&mut waits.window, WaitCause::Window),
            (&mut waits.both, WaitCause::Both),
        ];
        for (record, kind) in all {
            let waits = kind == wait;
            record.set(if waits { at } else { now }, waits);
        }
    }

    /// Returns `wait`, or [`WaitCause::Both`] if the other limit is nearly reached as well.
    fn refine_wait(&self, wait: WaitCause, lfb: &Lfb) -> WaitCause {
        let near = match wait {
            WaitCause::Lfb => self.window.is_nearly_full(self.position),
            // Fewer than one in eight entries left: raising the other limit alone would not help.
            WaitCause::Window => lfb.idle * NEARLY < self.params.lfb_entries,
            WaitCause::None | WaitCause::Both => false,
        };
        if near {
            WaitCause::Both
        } else {
            wait
        }
    }
}
