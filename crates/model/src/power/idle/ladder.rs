//! Ladder governor: one state deeper after several long sleeps, one shallower after a short one.

use super::CStateLatency;
use serde::{Deserialize, Serialize};

/// Long sleeps before the next deeper state (`PROMOTION_COUNT`).
const PROMOTION_COUNT: u32 = 4;

/// `ladder.c` of Linux 4.19. A sleep without its exit latency is long if it exceeds the exit latency of its state,
/// and short if it is below. One short sleep demotes (`DEMOTION_COUNT` is 1). The governor ignores timers and target
/// residencies, and polls only if even the lightest state takes too long to leave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ladder {
    depths: Vec<CStateLatency>,
    /// Current state.
    rung: usize,
    /// Long sleeps in the current state.
    promotions: u32,
    /// True if the last decision was to sleep.
    asleep: bool,
    /// Last sleep in the current state, without the exit latency, in ps.
    slept_ps: Option<u64>,
}

impl Ladder {
    pub(super) fn new(depths: Vec<CStateLatency>) -> Self {
        Self { depths, rung: 0, promotions: 0, asleep: false, slept_ps: None }
    }

    pub(super) fn select(&mut self, qos_ps: Option<u64>) -> Option<usize> {
        let depth = *self.depths.get(self.rung)?;
        if let Some(slept_ps) = self.slept_ps.take() {
            self.climb(slept_ps, depth, qos_ps);
        }
        // PM QoS may have become stricter since the last sleep.
        let deepest = (0..=self.rung).rev().find(|at| self.depths[*at].fits(qos_ps));
        self.step_to(deepest.unwrap_or(0));
        self.asleep = deepest.is_some();
        deepest
    }

    pub(super) fn reflect(&mut self, slept_ps: u64) {
        if self.asleep {
            self.slept_ps = Some(slept_ps.saturating_sub(self.depths[self.rung].exit_ps));
        }
    }

    fn climb(&mut self, slept_ps: u64, depth: CStateLatency, qos_ps: Option<u64>) {
        let deeper = self.depths.get(self.rung + 1).is_some_and(|next| next.fits(qos_ps));
        if slept_ps > depth.exit_ps && deeper {
            self.promotions += 1;
            if self.promotions >= PROMOTION_COUNT {
                self.step_to(self.rung + 1);
            }
        // A sleep as long as the exit latency neither promotes nor demotes.
        } else if slept_ps < depth.exit_ps && self.rung > 0 {
            self.step_to(self.rung - 1);
        }
    }

    fn step_to(&mut self, rung: usize) {
        if rung != self.rung {
            (self.rung, self.promotions) = (rung, 0);
        }
    }
}
