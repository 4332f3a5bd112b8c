//! Decision of NCAP to interrupt.

use super::InterruptCause;
use crate::params::NcapParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

const PS_PER_S: u128 = 1_000_000_000_000;
const BITS_PER_BYTE: u128 = 8;

/// `DecisionEngine`, algorithm 1 (section 2.4.3). Counts are compared against thresholds times time, so that no rate
/// is rounded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DecisionEngine {
    high_per_s: Option<u64>,
    low_per_s: u64,
    low_bits_per_s: u64,
    idle_ps: Option<u64>,
    steps: u32,
    low_ps: u64,
    rearm_by_frequency: bool,
    level: u32,
    /// Time of the last timer expiry.
    expired: Time,
    /// Time since which rates have been low, if they are.
    low_since: Option<Time>,
    /// Time of the last interrupt.
    interrupted: Time,
}

impl DecisionEngine {
    /// Creates an engine at level 0 whose timer starts at `now`. The start counts as an interrupt.
    #[must_use]
    pub fn new(params: &NcapParams, now: Time) -> Self {
        Self {
            high_per_s: params.high_per_s,
            low_per_s: params.low_per_s,
            low_bits_per_s: params.low_bits_per_s,
            idle_ps: params.idle_ps,
            steps: params.steps.max(1),
            low_ps: params.low_ps,
            rearm_by_frequency: params.rearm_by_frequency,
            level: 0,
            expired: now,
            low_since: None,
            interrupted: now,
        }
    }

    /// Handles an expiry of the timer after `requests` requests and `sent_bytes` bytes sent since the last one.
    ///
    /// Rates count as low from the beginning of the first period in which they are low. After an interrupt for low
    /// rates, the rates must be low for an equally long time again. A second expiry at the same instant has no effect.
    ///
    /// # Panics
    /// Panics if `now` is before the last expiry.
    #[must_use]
    pub fn expired(&mut self, now: Time, requests: u64, sent_bytes: u64, at_max: bool) -> Option<InterruptCause> {
        let begin = std::mem::replace(&mut self.expired, now);
        let window_ps = now.since(begin);
        if window_ps == 0 {
            return None;
        }
        let by = |per_s: u64| u128::from(per_s) * u128::from(window_ps);
        let requested = u128::from(requests) * PS_PER_S;
        let sent = u128::from(sent_bytes) * BITS_PER_BYTE * PS_PER_S;
        let armed = if self.rearm_by_frequency { !at_max } else { self.level != self.steps };
        // Both rates must be low: requests and what is sent (algorithm 1).
        let low = requested < by(self.low_per_s) && sent < by(self.low_bits_per_s);
        self.low_since = low.then(|| self.low_since.unwrap_or(begin));
        // A burst goes before the end of one: performance first.
        if armed && self.high_per_s.is_some_and(|high| requested > by(high)) {
            self.level = self.steps;
            return Some(self.interrupt(now, InterruptCause { rx: true, high: true, low: false }));
        }
        let over = self.low_since.is_some_and(|since| now.since(since) >= self.low_ps);
        if over && self.level > 0 {
            self.level -= 1;
            // The rates must be low for an equally long time again before the next step.
            self.low_since = Some(now);
            return Some(self.interrupt(now, InterruptCause { low: true, ..InterruptCause::default() }));
        }
        None
    }

    /// Handles a counted request. `requests` is the count since the last timer expiry.
    #[must_use]
    pub fn request(&mut self, now: Time, requests: u64) -> Option<InterruptCause> {
        // Longer than CIT after the last interrupt the cores may sleep deeply (thesis, section 2.4).
        let quiet = self.idle_ps.is_some_and(|idle_ps| now.since(self.interrupted) > idle_ps);
        (quiet && requests > 0).then(|| self.interrupt(now, InterruptCause { rx: true, ..InterruptCause::default() }))
    }

    /// Records an interrupt for another reason.
    pub fn interrupted(&mut self, now: Time) {
        self.interrupted = now;
    }

    /// Returns the number of steps down that are left.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.level
    }

    fn interrupt(&mut self, now: Time, cause: InterruptCause) -> InterruptCause {
        self.interrupted = now;
        cause
    }
}
