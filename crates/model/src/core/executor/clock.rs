//! Clock of a core with caches: instructions and L2 hits take cycles, everything farther away takes time.

use super::Executor;
use crate::lfb::Lfb;
use crate::part::Context;
use crate::power::{Clock, ClockChange};
use serde::{Deserialize, Serialize};

/// Times of a core at the reference clock.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct ReferenceTimes {
    pub(super) instruction_fs: u64,
    pub(super) l2_hit_ps: u64,
    /// Current clock.
    pub(super) clock: Clock,
    /// Fastest clock that the core may have.
    pub(super) fastest: Clock,
}

impl ReferenceTimes {
    /// Creates the times of a core that always has the reference clock.
    pub(super) fn new(instruction_fs: u64, l2_hit_ps: u64) -> Self {
        Self { instruction_fs, l2_hit_ps, clock: Clock::default(), fastest: Clock::default() }
    }
}

impl Executor {
    /// Sets the initial clock, the fastest that the core may have.
    pub(in crate::core) fn set_clock(&mut self, clock: Clock) {
        self.reference.fastest = clock;
        self.use_clock(clock);
    }

    /// Returns the time of an instruction at the current clock, in fs.
    pub(in crate::core) fn instruction_fs(&self) -> u64 {
        self.thread.instruction_fs
    }

    /// Handles a change of the clock. Work that the core has begun ahead of time ends as the new clock says.
    pub(in crate::core) fn change_clock(&mut self, change: ClockChange, lfb: &mut Lfb, context: &mut Context) {
        // While another engine has the core, the work ahead stands still since it lost the core.
        let since = self.held_since.unwrap_or_else(|| context.now());
        let since_fs = since.ps() * 1000;
        let ahead_fs = self.front_fs.saturating_sub(since_fs);
        let executes = self.idle_until <= since;
        match change {
            ClockChange::To(clock) => {
                // Work begun before now is already done at the old clock; only the rest is rescaled.
                if executes && ahead_fs > 0 {
                    self.front_fs = since_fs + clock.rescale_remaining(self.reference.clock, ahead_fs);
                }
                self.use_clock(clock);
            }
            ClockChange::Halt(ps) if executes => self.front_fs = since_fs + ahead_fs + ps * 1000,
            // A core that waits for its next operation sits out the halt meanwhile.
            ClockChange::Halt(ps) => self.front_fs = self.front_fs.max(since_fs + ps * 1000),
        }
        // The wake-up was for a time at the old clock; its event is ignored when it fires.
        self.wake = None;
        self.advance(lfb, context);
    }

    fn use_clock(&mut self, clock: Clock) {
        self.reference.clock = clock;
        self.thread.instruction_fs = clock.stretched(self.reference.instruction_fs);
        self.l2_hit_ps = clock.stretched(self.reference.l2_hit_ps);
    }
}
