//! Timer events oriented governor (TEO): predicts by how often timers woke the core, and when other events did.

use super::CStateLatency;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Weight of an event in its metric (`PULSE`).
const PULSE: u64 = 1024;
/// Decay of a metric at each sleep: one eighth (`DECAY_SHIFT`).
const DECAY_SHIFT: u32 = 3;
/// Number of sleeps that count as recent (`NR_RECENT`).
const RECENT: usize = 9;

/// Statistics of sleeps whose length fell into the range of a state, from its target residency to that of the next.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Bin {
    /// Metric of sleeps whose timer was in the same range.
    hits: u64,
    /// Metric of sleeps whose timer was in a later range.
    intercepts: u64,
    /// Recent sleeps whose timer was in a later range.
    recent: u64,
}

/// `teo.c` of Linux 6.2 without its use of the utilisation, for a core with a stopped tick.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Teo {
    depths: Vec<CStateLatency>,
    /// Bin of polling, followed by those of the C-states.
    bins: Vec<Bin>,
    /// Bin in which each recent sleep was intercepted, if it was.
    recent: [Option<usize>; RECENT],
    /// Index of the oldest recent sleep.
    oldest: usize,
    /// Time of the last decision.
    selected: Time,
    /// Time to the timer at the last decision, in ps.
    timer_ps: u64,
    /// Last decision.
    chosen: Option<usize>,
}

impl Teo {
    pub(super) fn new(depths: Vec<CStateLatency>) -> Self {
        let bins = vec![Bin::default(); depths.len() + 1];
        Self { depths, bins, recent: [None; RECENT], oldest: 0, selected: Time::ZERO, timer_ps: 0, chosen: None }
    }

    pub(super) fn select(&mut self, now: Time, timer_ps: u64, qos_ps: Option<u64>) -> Option<usize> {
        (self.selected, self.timer_ps) = (now, timer_ps);
        let bin = self.intercepted(self.bin_of(timer_ps));
        self.chosen = (0..bin).rev().find(|at| self.depths[*at].fits(qos_ps));
        self.chosen
    }

    pub(super) fn reflect(&mut self, now: Time, slept_ps: u64) {
        let timer = self.bin_of(self.timer_ps);
        // An event never counts as later than the timer.
        let slept = timer.min(self.bin_of(self.measured_ps(now, slept_ps)));
        for bin in &mut self.bins {
            // Metrics lose an eighth per sleep and gain 1024, so they stay below 8192.
            bin.hits -= bin.hits >> DECAY_SHIFT;
            bin.intercepts -= bin.intercepts >> DECAY_SHIFT;
        }
        let intercepted = (slept < timer).then_some(slept);
        // The oldest of the nine recent sleeps leaves its bin.
        if let Some(forgotten) = std::mem::replace(&mut self.recent[self.oldest], intercepted) {
            self.bins[forgotten].recent -= 1;
        }
        self.oldest = (self.oldest + 1) % RECENT;
        match intercepted {
            Some(at) => {
                self.bins[at].intercepts += PULSE;
                self.bins[at].recent += 1;
            }
            None => self.bins[timer].hits += PULSE,
        }
    }

    /// Returns the length that a sleep counts as, in ps. A sleep up to the timer is a hit regardless of its measured
    /// length. From other sleeps half of the exit latency is subtracted, since a core rarely needs all of it.
    fn measured_ps(&self, now: Time, slept_ps: u64) -> u64 {
        let exit_ps = self.chosen.map_or(0, |at| self.depths[at].exit_ps);
        match slept_ps {
            _ if now.ps().saturating_sub(self.selected.ps()) >= self.timer_ps => u64::MAX,
            long if long >= exit_ps => long - exit_ps / 2,
            short => short / 2,
        }
    }

    /// Returns the bin of a length: 0 is polling, and bin `i` is C-state `i - 1`.
    fn bin_of(&self, ps: u64) -> usize {
        self.depths.iter().take_while(|depth| depth.residency_ps <= ps).count()
    }

    /// Returns `candidate`, or an earlier bin if sleeps that could have lasted as long were mostly intercepted.
    fn intercepted(&self, candidate: usize) -> usize {
        let (before, from) = self.bins.split_at(candidate);
        let intercepts: u64 = before.iter().map(|bin| bin.intercepts).sum();
        let recent: u64 = before.iter().map(|bin| bin.recent).sum();
        let lasted: u64 = from.iter().map(|bin| bin.hits + bin.intercepts).sum();
        let (often, lately) = (intercepts > lasted, recent > RECENT as u64 / 2);
        if !often && !lately {
            return candidate;
        }
        let (mut intercepts_here, mut recent_here) = (0, 0);
        // From the deepest bin down, until more than half of the intercepts lie in and above it.
        for (at, bin) in before.iter().enumerate().rev() {
            intercepts_here += bin.intercepts;
            recent_here += bin.recent;
            if (!often || 2 * intercepts_here > intercepts) && (!lately || 2 * recent_here > recent) {
                return at;
            }
        }
        candidate
    }
}
