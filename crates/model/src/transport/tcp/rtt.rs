//! Round-trip time and retransmission timeout (RFC 6298), with a sample from every echoed time stamp (RFC 7323).

use serde::{Deserialize, Serialize};

/// Longest retransmission timeout, 60 s (RFC 6298 section 2.5 requires at least that).
const RTO_MAX_PS: u64 = 60_000_000_000_000;

/// Maximum number of doublings: more have no effect because the timeout is at its longest.
const BACKOFF_MAX: u32 = 16;

/// Estimator of the round-trip time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RttEstimator {
    smoothed_ps: u64,
    variation_ps: u64,
    least_ps: u64,
    rto_min_ps: u64,
    rto_ps: u64,
    backoff: u32,
}

impl RttEstimator {
    pub(crate) fn new(rto_min_ps: u64, rto_initial_ps: u64) -> Self {
        let rto_ps = rto_initial_ps.max(rto_min_ps).min(RTO_MAX_PS);
        Self { smoothed_ps: 0, variation_ps: 0, least_ps: u64::MAX, rto_min_ps, rto_ps, backoff: 0 }
    }

    /// Adds a sample, in ps.
    pub(crate) fn sample(&mut self, rtt_ps: u64) {
        let rtt_ps = rtt_ps.clamp(1, RTO_MAX_PS);
        self.least_ps = self.least_ps.min(rtt_ps);
        // First sample: SRTT = R, RTTVAR = R / 2 (RFC 6298 section 2.2).
        if self.smoothed_ps == 0 {
            self.smoothed_ps = rtt_ps;
            self.variation_ps = rtt_ps / 2;
        } else {
            let error = self.smoothed_ps.abs_diff(rtt_ps);
            // Beta is 1/4 and alpha 1/8 (RFC 6298 section 2.3); the variation uses the old mean.
            self.variation_ps = self.variation_ps - self.variation_ps / 4 + error / 4;
            self.smoothed_ps = self.smoothed_ps - self.smoothed_ps / 8 + rtt_ps / 8;
        }
        // K is 4 (RFC 6298 section 2.2); the clock has no granularity.
        let rto_ps = self.smoothed_ps + 4 * self.variation_ps;
        self.rto_ps = rto_ps.max(self.rto_min_ps).min(RTO_MAX_PS);
    }

    /// Returns the smoothed round-trip time, in ps; 0 before the first sample.
    pub(crate) fn smoothed_ps(&self) -> u64 {
        self.smoothed_ps
    }

    /// Returns the shortest round-trip time so far, in ps; `u64::MAX` before the first sample.
    pub(crate) fn least_ps(&self) -> u64 {
        self.least_ps
    }

    /// Returns the retransmission timeout, in ps, doubled for every timeout without an acknowledgement since.
    pub(crate) fn rto_ps(&self) -> u64 {
        (self.rto_ps << self.backoff).min(RTO_MAX_PS)
    }

    pub(crate) fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(BACKOFF_MAX);
    }

    pub(crate) fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}
