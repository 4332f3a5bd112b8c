//! DCTCP (RFC 8257): reduces the window in proportion to the share of marked bytes.

use super::{CongestionRule, CongestionWindow};
use serde::{Deserialize, Serialize};

/// One, in units of alpha.
const ONE: u64 = 1 << 32;

/// Estimate of the share of marked bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Dctcp {
    /// Smoothed share of marked bytes, in units of 2^-32.
    alpha: u64,
    /// Weight of a new sample, in units of 2^-16.
    gain: u64,
    acked: u64,
    marked: u64,
    /// End of the current observation window: its acknowledgement updates the estimate.
    end: u64,
}

impl Dctcp {
    /// Creates the estimate; `gain` and `alpha` are in units of 2^-16, 1 at most.
    pub(super) fn new(gain: u32, alpha: u32) -> Self {
        let alpha = (u64::from(alpha) << 16).min(ONE);
        Self { alpha, gain: u64::from(gain).min(1 << 16), acked: 0, marked: 0, end: 0 }
    }
}

impl CongestionRule for Dctcp {
    const ECHOES_EACH_MARK: bool = true;

    fn alpha(&self) -> u32 {
        (self.alpha >> 16) as u32
    }

    /// Updates the estimate (RFC 8257 section 3.3, steps 1 to 7).
    fn observe(&mut self, acked: u64, echo: bool, una: u64, next: u64) {
        self.acked += acked;
        if echo {
            self.marked += acked;
        }
        // One update per window of data, when the data sent at the last update is acknowledged.
        if una <= self.end {
            return;
        }
        if self.acked > 0 {
            let share = (u128::from(self.marked) << 32) / u128::from(self.acked);
            // Alpha = (1 - g) x alpha + g x share of marked bytes (RFC 8257 section 3.3).
            self.alpha = (self.alpha * ((1 << 16) - self.gain) + self.gain * share as u64) >> 16;
        }
        self.end = next;
        self.acked = 0;
        self.marked = 0;
    }

    /// Reduces the window by half of alpha (RFC 8257 section 3.3, step 9).
    fn on_echo(&mut self, window: &mut CongestionWindow) {
        // Half of alpha, which is in units of 2^-32: a shift by 33.
        let cut = (u128::from(window.bytes) * u128::from(self.alpha)) >> 33;
        window.reduce_to(window.bytes - cut as u64);
    }

    /// Halves the window, also if an echo has already reduced it (RFC 8257 section 3.5).
    fn on_loss(&mut self, window: &mut CongestionWindow, _reduced: bool) {
        window.halve();
    }
}
