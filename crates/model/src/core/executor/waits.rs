//! When a thread of a core waited for data, and what kept it from asking for more.

use super::Executor;
use crate::lfb::Lfb;
use hostnet_kernel::Time;
use hostnet_measure::Waits;
use serde::{Deserialize, Serialize};

/// A pool or window has hardly any room when less than one of so many parts of it is left.
pub(super) const NEARLY: u32 = 8;

/// What keeps a thread from its next access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// Neither of these.
    None,
    /// No LFB entry can be allocated.
    Lfb,
    /// The oldest load in the reorder window has no data.
    Window,
    /// One of both, and the other has hardly any room, either: more of one alone would not help.
    Both,
}

/// When a thread waited for data.
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
    /// The same; it keeps when it waits.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.waits = Some(Box::default());
        self
    }

    /// When it waited for data, if that is kept.
    #[must_use]
    pub fn waits(&self) -> Option<&ThreadWaits> {
        self.waits.as_deref()
    }

    /// From now on it waits so; first it executes what it has begun ahead of the clock.
    pub(super) fn note_wait(&mut self, now: Time, wait: Wait, lfb: &Lfb) {
        let wait = self.behind(wait, lfb);
        let Some(waits) = &mut self.waits else { return };
        let at = Time::from_ps(self.front_fs / 1000).max(now);
        let all = [(&mut waits.lfb, Wait::Lfb), (&mut waits.window, Wait::Window), (&mut waits.both, Wait::Both)];
        for (books, kind) in all {
            let waits = kind == wait;
            books.set(if waits { at } else { now }, waits);
        }
    }

    /// Whether what waits for an LFB entry, or for the window, would soon wait for the other.
    fn behind(&self, wait: Wait, lfb: &Lfb) -> Wait {
        let near = match wait {
            Wait::Lfb => self.window.is_nearly_full(self.position),
            Wait::Window => lfb.idle * NEARLY < self.params.lfb_entries,
            Wait::None | Wait::Both => false,
        };
        if near {
            Wait::Both
        } else {
            wait
        }
    }
}
