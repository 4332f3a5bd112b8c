//! Congestion control.

#[cfg(test)]
mod tests;

use crate::params::{CongestionControl, TcpParams};
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
        // Slow start ends at the threshold; the rest of the acknowledgement counts for avoidance.
        let grown = acked.min(self.threshold - self.bytes);
        self.bytes += grown;
        acked - grown
    }

    /// Grows the window as Reno does: slow start, then one segment per window, with byte counting (RFC 3465). Slow
    /// start counts all bytes of an acknowledgement, because receivers that join packets acknowledge many at a time.
    fn grow(&mut self, acked: u64) {
        self.acked += self.slow_start(acked);
        while self.acked >= self.bytes {
            self.acked -= self.bytes;
            self.bytes += self.mss;
        }
    }

    /// Halves the window.
    fn halve(&mut self) {
        self.reduce_to(self.bytes / 2);
    }

    /// Reduces window and threshold to `bytes`, but not below the floor.
    fn reduce_to(&mut self, bytes: u64) {
        self.threshold = bytes.max(self.floor());
        self.bytes = self.threshold;
        self.acked = 0;
    }
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

/// Rule by which a congestion control changes the window. The defaults are those of Reno.
trait CongestionRule {
    /// True if all packets are ECN-capable and the receiver echoes each mark (RFC 8257 sections 3.1 and 3.2), instead
    /// of as RFC 3168 says.
    const ECHOES_EACH_MARK: bool = false;

    /// Grows the window after an acknowledgement of new data while the window limited the sender.
    fn grow(&mut self, window: &mut CongestionWindow, acked: Acked) {
        window.grow(acked.bytes);
    }

    /// Notes that the window could not grow up to now because it was not used or nothing was acknowledged.
    fn skip(&mut self, _now: Time) {}

    /// Updates the estimate of marks: `acked` bytes up to `una` were acknowledged, with an ECN echo or without; `next`
    /// is the first byte never sent.
    fn observe(&mut self, _acked: u64, _echo: bool, _una: u64, _next: u64) {}

    /// Returns the estimate of the share of marked bytes, in units of 2^-16; 0 without one.
    fn alpha(&self) -> u32 {
        0
    }

    /// Reduces the window after an ECN echo. Is called once per window at most.
    fn on_echo(&mut self, window: &mut CongestionWindow);

    /// Reduces the window after a loss. If `reduced`, an echo has already reduced this window.
    fn on_loss(&mut self, window: &mut CongestionWindow, reduced: bool) {
        // An echo and a loss in one window of data are one congestion event (RFC 3168 section 6.1.2).
        if !reduced {
            self.on_echo(window);
        }
    }

    /// Forgets what was learnt before a timeout.
    fn on_timeout(&mut self) {}
}

macro_rules! control_rules {
    ($($kind:ident $module:ident $({ $($field:ident: $meaning:literal),* })? $title:literal;)*) => {
        $(mod $module;)*

        /// State of the rule of any congestion control.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        enum AnyRule {
            $($kind($module::$kind),)*
        }

        impl AnyRule {
            fn new(control: CongestionControl) -> Self {
                match control {
                    $(CongestionControl::$kind $({ $($field),* })? => {
                        Self::$kind($module::$kind::new($($($field),*)?))
                    })*
                }
            }
        }

        /// Returns true if all packets of a control are ECN-capable and its receiver echoes each mark.
        pub(crate) fn echoes_each_mark(control: CongestionControl) -> bool {
            match control {
                $(CongestionControl::$kind { .. } => $module::$kind::ECHOES_EACH_MARK,)*
            }
        }

        /// Evaluates an expression with the rule of a flow, whichever it is.
        macro_rules! with_rule {
            ($any:expr, $rule:ident => $value:expr) => {
                match $any {
                    $(AnyRule::$kind($rule) => $value,)*
                }
            };
        }
    };
}
hostnet_params::for_each_control!(control_rules);

/// Congestion control of one direction of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Congestion {
    window: CongestionWindow,
    initial: u64,
    rule: AnyRule,
}

impl Congestion {
    pub(crate) fn new(params: &TcpParams) -> Self {
        let mss = u64::from(params.mss_bytes);
        let initial = u64::from(params.initial_window.max(1)) * mss;
        // Arbitrarily high, so that slow start ends at the first congestion (RFC 5681 section 3.1).
        let window = CongestionWindow { bytes: initial, threshold: u64::MAX, mss, acked: 0 };
        Self { window, initial, rule: AnyRule::new(params.control) }
    }

    /// Returns the congestion window, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.window.bytes
    }

    pub(crate) fn in_slow_start(&self) -> bool {
        self.window.bytes < self.window.threshold
    }

    /// Returns the estimate of the share of marked bytes, in units of 2^-16; 0 without one.
    pub(crate) fn alpha(&self) -> u32 {
        with_rule!(&self.rule, rule => rule.alpha())
    }

    /// Grows the window after an acknowledgement of new data while the window limited the sender.
    pub(crate) fn grow(&mut self, acked: Acked) {
        with_rule!(&mut self.rule, rule => rule.grow(&mut self.window, acked));
    }

    /// Notes that the window could not grow up to now because it was not used or nothing was acknowledged.
    pub(crate) fn skip(&mut self, now: Time) {
        with_rule!(&mut self.rule, rule => rule.skip(now));
    }

    /// Updates the estimate of marks, see [`CongestionRule::observe`].
    pub(crate) fn observe(&mut self, acked: u64, echo: bool, una: u64, next: u64) {
        with_rule!(&mut self.rule, rule => rule.observe(acked, echo, una, next));
    }

    /// Reduces the window after an ECN echo. Must be called once per window at most.
    pub(crate) fn on_echo(&mut self) {
        with_rule!(&mut self.rule, rule => rule.on_echo(&mut self.window));
    }

    /// Reduces the window after a loss. If `reduced`, an echo has already reduced this window.
    pub(crate) fn on_loss(&mut self, reduced: bool) {
        with_rule!(&mut self.rule, rule => rule.on_loss(&mut self.window, reduced));
    }

    /// Reduces the window after a timeout (RFC 5681 section 3.1). If `again`, recovery or an earlier timeout has
    /// already set the threshold to half of the data in flight.
    pub(crate) fn on_timeout(&mut self, again: bool) {
        if !again {
            self.on_loss(false);
        }
        with_rule!(&mut self.rule, rule => rule.on_timeout());
        // The loss window is one segment (RFC 5681 section 3.1).
        self.window.bytes = self.window.mss;
        self.window.acked = 0;
    }

    /// Limits the window to the initial one after an idle time longer than the timeout (RFC 5681 section 4.1).
    pub(crate) fn on_idle(&mut self) {
        self.window.bytes = self.window.bytes.min(self.initial);
    }
}
