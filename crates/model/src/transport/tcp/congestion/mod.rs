//! Congestion control: how large the window is.

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

/// The congestion window in bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Window {
    /// Bytes that may be in flight.
    pub(crate) bytes: u64,
    /// Below it, slow start.
    pub(crate) threshold: u64,
    /// Bytes of a segment.
    pub(crate) mss: u64,
    /// Bytes acknowledged that have not made the window grow (RFC 3465).
    acked: u64,
}

impl Window {
    /// Least window after a reduction (RFC 5681 equation 4).
    fn floor(&self) -> u64 {
        2 * self.mss
    }

    /// Slow start; returns the bytes that are left for congestion avoidance.
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
enum Rule {
    Reno,
    Cubic(Cubic),
    Dctcp(Dctcp),
}

/// What an acknowledgement of new data says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// Bytes that it acknowledges.
    pub(crate) bytes: u64,
    /// When it came.
    pub(crate) now: Time,
    /// Smoothed round-trip time in ps.
    pub(crate) rtt_ps: u64,
}

/// Congestion control of one direction of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Congestion {
    window: Window,
    initial: u64,
    rule: Rule,
}

impl Congestion {
    pub(crate) fn new(params: &TcpParams) -> Self {
        let mss = u64::from(params.mss_bytes);
        let initial = u64::from(params.initial_window.max(1)) * mss;
        let rule = match params.control {
            CongestionControl::Reno => Rule::Reno,
            CongestionControl::Cubic => Rule::Cubic(Cubic::default()),
            CongestionControl::Dctcp { gain, alpha } => Rule::Dctcp(Dctcp::new(gain, alpha)),
        };
        Self { window: Window { bytes: initial, threshold: u64::MAX, mss, acked: 0 }, initial, rule }
    }

    /// The congestion window in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.window.bytes
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.window.bytes < self.window.threshold
    }

    /// Alpha of DCTCP in units of 2^-16; 0 for others.
    pub(crate) fn alpha(&self) -> u32 {
        match &self.rule {
            Rule::Dctcp(dctcp) => dctcp.alpha(),
            _ => 0,
        }
    }

    /// New data was acknowledged while the window was what limited the sender.
    pub(crate) fn grow(&mut self, acked: Acked) {
        match &mut self.rule {
            Rule::Reno | Rule::Dctcp(_) => reno::grow(&mut self.window, acked.bytes),
            Rule::Cubic(cubic) => cubic.grow(&mut self.window, acked),
        }
    }

    /// Up to now there was no growth because the window was not used, or because nothing was acknowledged.
    pub(crate) fn skip(&mut self, now: Time) {
        if let Rule::Cubic(cubic) = &mut self.rule {
            cubic.skip(now);
        }
    }

    /// Takes note of marks: `acked` bytes up to `una` were acknowledged, echoing congestion or not; `next` is the first
    /// byte never sent.
    pub(crate) fn observe(&mut self, acked: u64, echo: bool, una: u64, next: u64) {
        if let Rule::Dctcp(dctcp) = &mut self.rule {
            dctcp.observe(acked, echo, una, next);
        }
    }

    /// Answers an echo of congestion; to be called once per window.
    pub(crate) fn on_echo(&mut self) {
        match &mut self.rule {
            Rule::Reno => reno::reduce(&mut self.window),
            Rule::Cubic(cubic) => cubic.reduce(&mut self.window),
            Rule::Dctcp(dctcp) => dctcp.reduce(&mut self.window),
        }
    }

    /// Answers a loss. `reduced`: an echo has reduced this window already. DCTCP answers a loss in any case (RFC 8257
    /// section 3.5).
    pub(crate) fn on_loss(&mut self, reduced: bool) {
        match &mut self.rule {
            Rule::Dctcp(_) => reno::reduce(&mut self.window),
            Rule::Reno if !reduced => reno::reduce(&mut self.window),
            Rule::Cubic(cubic) if !reduced => cubic.reduce(&mut self.window),
            Rule::Reno | Rule::Cubic(_) => {}
        }
    }

    /// Answers a timeout (RFC 5681 section 3.1). `again`: what was in flight has been answered for before, by a timeout
    /// or by recovery, so that the threshold is half of it already.
    pub(crate) fn on_timeout(&mut self, again: bool) {
        if !again {
            self.on_loss(false);
        }
        if let Rule::Cubic(cubic) = &mut self.rule {
            cubic.forget();
        }
        self.window.bytes = self.window.mss;
        self.window.acked = 0;
    }

    /// The sender was idle for longer than the timeout (RFC 5681 section 4.1).
    pub(crate) fn on_idle(&mut self) {
        self.window.bytes = self.window.bytes.min(self.initial);
    }
}
