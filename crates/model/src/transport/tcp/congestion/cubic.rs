//! CUBIC (RFC 9438) in integers: bytes and microseconds. C = 0.4 segments per second cubed, beta = 0.7.

use super::{Acked, CongestionRule, CongestionWindow};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

const PS_PER_US: u64 = 1_000_000;

/// Cube of the microseconds per second, over C: the curve is `time^3 / SCALE` segments.
const SCALE: u128 = 2_500_000_000_000_000_000;

/// Longest time from the plateau that is distinguished, in us (over an hour); keeps cubes within 128 bits.
const FAR_US: u64 = 1 << 32;

/// State of CUBIC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Cubic {
    /// Window at the plateau of the curve, in bytes (W_max).
    plateau: u64,
    /// Start of congestion avoidance, moved ahead by all time in which the window could not grow.
    epoch: Option<Time>,
    /// Time up to which `epoch` accounts for time without growth.
    seen: Time,
    /// Time from the epoch to the plateau, in us (K).
    rise_us: u64,
    /// Window that Reno would have, in bytes (W_est), and the remainder of its division.
    reno: u64,
    reno_rest: u64,
    /// Window before the last reduction, in bytes.
    prior: u64,
    /// Remainder of the growth, in bytes squared.
    rest: u128,
}

impl CongestionRule for Cubic {
    fn grow(&mut self, window: &mut CongestionWindow, acked: Acked) {
        self.seen = acked.now;
        let left = window.slow_start(acked.bytes);
        if left == 0 {
            return;
        }
        let epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(window, acked.now),
        };
        let elapsed = acked.now.since(epoch) / PS_PER_US;
        self.grow_reno(window, left);
        let curve = self.curve(elapsed, window.mss);
        // Where Reno would have more, CUBIC takes Reno's window (section 4.3).
        if curve < self.reno {
            window.bytes = window.bytes.max(self.reno);
            return;
        }
        // Where the curve will be one round trip later (section 4.2).
        let target = self.curve(elapsed + acked.rtt_ps / PS_PER_US, window.mss);
        // The window never shrinks here, and grows by half per round trip at most (section 4.2).
        let target = target.clamp(window.bytes, window.bytes + window.bytes / 2);
        // The remainder is kept, because single acknowledgements add less than a byte.
        self.rest += u128::from(target - window.bytes) * u128::from(left);
        let step = self.rest / u128::from(window.bytes);
        self.rest -= step * u128::from(window.bytes);
        window.bytes += step as u64;
    }

    /// Excludes the time up to `now` from the curve, in which the window could not grow (section 5.8).
    fn skip(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            *epoch += now.since(self.seen);
        }
        self.seen = now;
    }

    /// Reduces the window to 0.7 of its size (section 4.6). A flow that did not reach its last plateau lowers the next
    /// one to make room for others (section 4.7).
    fn on_echo(&mut self, window: &mut CongestionWindow) {
        let bytes = window.bytes;
        // Fast convergence: (1 + beta) / 2 = 17/20 of the window (section 4.7).
        self.plateau = if bytes < self.plateau { bytes / 20 * 17 } else { bytes };
        self.prior = bytes;
        self.epoch = None;
        // Beta is 0.7 (section 4.6).
        window.reduce_to(bytes / 10 * 7);
    }

    /// Starts the curve at its plateau after a timeout (section 4.8).
    fn on_timeout(&mut self) {
        self.plateau = 0;
        self.epoch = None;
    }
}

impl Cubic {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Starts a new epoch from the current window (section 4.2).
    fn begin(&mut self, window: &CongestionWindow, now: Time) -> Time {
        // A window above its last plateau starts at the plateau: K is 0.
        self.plateau = self.plateau.max(window.bytes);
        let below = u128::from(self.plateau - window.bytes);
        self.rise_us = cube_root(below * SCALE / u128::from(window.mss));
        self.reno = window.bytes;
        self.reno_rest = 0;
        self.rest = 0;
        self.epoch = Some(now);
        now
    }

    /// Grows the window of Reno by 9/17 of a segment per window until it reaches the window before the reduction, then
    /// by one (section 4.3).
    fn grow_reno(&mut self, window: &CongestionWindow, acked: u64) {
        let (up, down) = if self.reno < self.prior { (9, 17) } else { (1, 1) };
        let growth = self.reno_rest + up * window.mss * acked / down;
        self.reno += growth / window.bytes;
        self.reno_rest = growth % window.bytes;
    }

    /// Returns the curve `elapsed_us` after the epoch, in bytes.
    fn curve(&self, elapsed_us: u64, mss: u64) -> u64 {
        let far = elapsed_us.abs_diff(self.rise_us).min(FAR_US);
        let cube = u128::from(far) * u128::from(far) * u128::from(far);
        // Divided first: a cube of the farthest time, times the segment size, exceeds 128 bits.
        let bytes = (cube / SCALE * u128::from(mss) + cube % SCALE * u128::from(mss) / SCALE) as u64;
        if elapsed_us < self.rise_us {
            self.plateau.saturating_sub(bytes)
        } else {
            self.plateau + bytes
        }
    }
}

/// Returns the largest number whose cube is at most `value`.
pub(super) fn cube_root(value: u128) -> u64 {
    let mut root = 0_u64;
    // Bit by bit from the top; the cube of 42 bits still fits 128 bits.
    for bit in (0..42).rev() {
        let candidate = root | (1 << bit);
        if u128::from(candidate).pow(3) <= value {
            root = candidate;
        }
    }
    root
}
