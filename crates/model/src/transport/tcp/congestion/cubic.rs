//! CUBIC (RFC 9438) in integers: bytes and microseconds. C = 0.4 segments per second cubed, beta = 0.7.

use super::{Acked, Window};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

const PS_PER_US: u64 = 1_000_000;

/// Microseconds per second, cubed, over C: `time^3 / SCALE` segments.
const SCALE: u128 = 2_500_000_000_000_000_000;

/// Longest time from the plateau that is told from longer ones, in us (over an hour); keeps cubes within 128 bits.
const FAR_US: u64 = 1 << 32;

/// State of CUBIC.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Cubic {
    /// Where the curve is flat, in bytes (W_max).
    plateau: u64,
    /// When congestion avoidance began; moved ahead by all time in which the window could not grow.
    epoch: Option<Time>,
    /// Up to when that has been looked at.
    seen: Time,
    /// From the epoch to the plateau, in us (K).
    rise_us: u64,
    /// What Reno would have, in bytes (W_est), and the remainder of its division.
    reno: u64,
    reno_rest: u64,
    /// Window before the last reduction, in bytes.
    prior: u64,
    /// Remainder of growth, in bytes squared.
    rest: u128,
}

impl Cubic {
    pub(super) fn grow(&mut self, window: &mut Window, acked: Acked) {
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
        if curve < self.reno {
            window.bytes = window.bytes.max(self.reno);
            return;
        }
        let target = self.curve(elapsed + acked.rtt_ps / PS_PER_US, window.mss);
        let target = target.clamp(window.bytes, window.bytes + window.bytes / 2);
        self.rest += u128::from(target - window.bytes) * u128::from(left);
        let step = self.rest / u128::from(window.bytes);
        self.rest -= step * u128::from(window.bytes);
        window.bytes += step as u64;
    }

    /// Section 5.8: time without growth is no part of the curve's.
    pub(super) fn skip(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            *epoch += now.since(self.seen);
        }
        self.seen = now;
    }

    /// Section 4.8: after a timeout the curve begins at its plateau.
    pub(super) fn forget(&mut self) {
        self.plateau = 0;
        self.epoch = None;
    }

    /// Section 4.2: a new epoch, from the window as it is.
    fn begin(&mut self, window: &Window, now: Time) -> Time {
        self.plateau = self.plateau.max(window.bytes);
        let below = u128::from(self.plateau - window.bytes);
        self.rise_us = cube_root(below * SCALE / u128::from(window.mss));
        self.reno = window.bytes;
        self.reno_rest = 0;
        self.rest = 0;
        self.epoch = Some(now);
        now
    }

    /// Section 4.3: 9/17 of a segment per window until the window before the reduction is reached, then one.
    fn grow_reno(&mut self, window: &Window, acked: u64) {
        let (up, down) = if self.reno < self.prior { (9, 17) } else { (1, 1) };
        let growth = self.reno_rest + up * window.mss * acked / down;
        self.reno += growth / window.bytes;
        self.reno_rest = growth % window.bytes;
    }

    /// The curve `elapsed_us` after the epoch, in bytes.
    fn curve(&self, elapsed_us: u64, mss: u64) -> u64 {
        let far = elapsed_us.abs_diff(self.rise_us).min(FAR_US);
        let cube = u128::from(far) * u128::from(far) * u128::from(far);
        let bytes = (cube / SCALE * u128::from(mss) + cube % SCALE * u128::from(mss) / SCALE) as u64;
        if elapsed_us < self.rise_us {
            self.plateau.saturating_sub(bytes)
        } else {
            self.plateau + bytes
        }
    }

    /// Sections 4.6 and 4.7: to 0.7 of the window; a flow that did not reach its plateau again makes room for others.
    pub(super) fn reduce(&mut self, window: &mut Window) {
        let bytes = window.bytes;
        self.plateau = if bytes < self.plateau { bytes / 20 * 17 } else { bytes };
        self.prior = bytes;
        self.epoch = None;
        window.reduce_to(bytes / 10 * 7);
    }
}

/// The largest number whose cube is at most `value`.
pub(super) fn cube_root(value: u128) -> u64 {
    let mut root = 0_u64;
    for bit in (0..42).rev() {
        let candidate = root | (1 << bit);
        if u128::from(candidate).pow(3) <= value {
            root = candidate;
        }
    }
    root
}
