//! Congestion control.

mod cubic;
mod dctcp;
mod reno;
#[cfg(test)]
mod tests;

use crate::params::{CongestionControl, TcpParams};
use cubic::Cubic;
use dctcp::Dctcp;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Congestion window.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CongestionWindow {
    /// Bytes that may be in flight.
    pub(crate) bytes: u64,
    /// Slow-start threshold, in bytes.
    pub(crate) threshold: u64,
    /// Bytes of a segment.
    pub(crate) mss: u64,
    /// Bytes acknowledged that have not yet increased the window (RFC 3465).
    acked: u64,
}

impl CongestionWindow {
    /// Returns the least window after a reduction, in bytes (RFC 5681 equation 4).
    fn floor(&self) -> u64 {
        2 * self.mss
    }

    /// Grows the window in slow start. Returns the bytes that are left for congestion avoidance.
    fn slow_start(&mut self, acked: u64) -> u64 {
        if self.bytes >= self.threshold {
            return acked;
        }
        let grown = acked.min(self.threshold - self.bytes);
        self.bytes += grown;
        acked - grown
    }

    /// Reduces window and threshold to `bytes`, but not below the floor.
    fn reduce_to(&mut self, bytes: u64) {
        self.threshold = bytes.max(self.floor());
        self.bytes = self.threshold;
        self.acked = 0;
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum CongestionRule {
    Reno,
    Cubic(Cubic),
    Dctcp(Dctcp),
}

/// Acknowledgement of new data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// Bytes acknowledged.
    pub(crate) bytes: u64,
    /// Time of arrival.
    pub(crate) now: Time,
    /// Smoothed round-trip time, in ps.
    pub(crate) rtt_ps: u64,
}

/// Congestion control of one direction of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Congestion {
    window: CongestionWindow,
    initial: u64,
    rule: CongestionRule,
}

impl Congestion {
    pub(crate) fn new(params: &TcpParams) -> Self {
        let mss = u64::from(params.mss_bytes);
        let initial = u64::from(params.initial_window.max(1)) * mss;
        let rule = match params.control {
            CongestionControl::Reno => CongestionRule::Reno,
            CongestionControl::Cubic => CongestionRule::Cubic(Cubic::default()),
            CongestionControl::Dctcp { gain, alpha } => CongestionRule::Dctcp(Dctcp::new(gain, alpha)),
        };
        Self { window: CongestionWindow { bytes: initial, threshold: u64::MAX, mss, acked: 0 }, initial, rule }
    }

    /// Returns the congestion window, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.window.bytes
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.window.bytes < self.window.threshold
    }

    /// Returns alpha of DCTCP, in units of 2^-16; 0 for other algorithms.
    pub(crate) fn alpha(&self) -> u32 {
        match &self.rule {
            CongestionRule::Dctcp(dctcp) => dctcp.alpha(),
            _ => 0,
        }
    }

    /// Grows the window after an acknowledgement of new data while the window limited the sender.
    pub(crate) fn grow(&mut self, acked: Acked) {
        match &mut self.rule {
            CongestionRule::Reno | CongestionRule::Dctcp(_) => reno::grow(&mut self.window, acked.bytes),
            CongestionRule::Cubic(cubic) => cubic.grow(&mut self.window, acked),
        }
    }

    /// Notes that the window could not grow up to now because it was not used or nothing was acknowledged.
    pub(crate) fn skip(&mut self, now: Time) {
        if let CongestionRule::Cubic(cubic) = &mut self.rule {
            cubic.skip(now);
        }
    }

    /// Updates the estimate of marks: `acked` bytes up to `una` were acknowledged, with an ECN echo or without; `next`
    /// is the first byte never sent.
    pub(crate) fn observe(&mut self, acked: u64, echo: bool, una: u64, next: u64) {
        if let CongestionRule::Dctcp(dctcp) = &mut self.rule {
            dctcp.observe(acked, echo, una, next);
        }
    }

    /// Reduces the window after an ECN echo. Must be called once per window at most.
    pub(crate) fn on_echo(&mut self) {
        match &mut self.rule {
            CongestionRule::Reno => reno::reduce(&mut self.window),
            CongestionRule::Cubic(cubic) => cubic.reduce(&mut self.window),
            CongestionRule::Dctcp(dctcp) => dctcp.reduce(&mut self.window),
        }
    }

    /// Reduces the window after a loss. If `reduced`, an echo has already reduced this window, and only DCTCP reduces
    /// it again (RFC 8257 section 3.5).
    pub(crate) fn on_loss(&mut self, reduced: bool) {
        match &mut self.rule {
            CongestionRule::Dctcp(_) => reno::reduce(&mut self.window),
            CongestionRule::Reno if !reduced => reno::reduce(&mut self.window),
            CongestionRule::Cubic(cubic) if !reduced => cubic.reduce(&mut self.window),
            CongestionRule::Reno | CongestionRule::Cubic(_) => {}
        }
    }

    /// Reduces the window after a timeout (RFC 5681 section 3.1). If `again`, recovery or an earlier timeout has
    /// already set the threshold to half of the data in flight.
    pub(crate) fn on_timeout(&mut self, again: bool) {
        if !again {
            self.on_loss(false);
        }
        if let CongestionRule::Cubic(cubic) = &mut self.rule {
            cubic.forget();
        }
        self.window.bytes = self.window.mss;
        self.window.acked = 0;
    }

    /// Limits the window to the initial one after an idle time longer than the timeout (RFC 5681 section 4.1).
    pub(crate) fn on_idle(&mut self) {
        self.window.bytes = self.window.bytes.min(self.initial);
    }
}
