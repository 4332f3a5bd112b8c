//! DCQCN (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3).
//!
//! Neither side needs events: the effects of its timers are computed when they matter, in order of time.

use crate::params::DcqcnParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// One, in units of alpha.
const ONE: u64 = 1 << 32;

const PS_PER_S: u128 = 1_000_000_000_000;

/// Notification point (receiver of data): sends at most one notification per period.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct NotificationPoint {
    /// Time before which no notification is sent.
    quiet_to: Time,
    pub(crate) notification_due: bool,
}

impl NotificationPoint {
    /// Handles a marked packet.
    pub(crate) fn on_mark(&mut self, now: Time, params: &DcqcnParams) {
        // At most one notification per period, whatever the share of marked packets (section 3).
        if now >= self.quiet_to {
            self.quiet_to = now.saturating_add(params.notify_ps);
            self.notification_due = true;
        }
    }
}

/// Reaction point (sender of data): controls the rate.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReactionPoint {
    params: DcqcnParams,
    line: u64,
    /// Current and target rate, in bytes per second.
    rate: u64,
    target: u64,
    /// Alpha as of the last notification, in units of 2^-32, and the time of that notification.
    alpha: u64,
    alpha_at: Option<Time>,
    /// Time at which the timer of rate increase expires next; never before the first notification.
    increase_at: Time,
    /// Bytes sent since the byte counter expired last.
    bytes: u64,
    /// Expirations of the timer and of the byte counter since the last notification.
    timer_rounds: u32,
    byte_rounds: u32,
}

impl ReactionPoint {
    /// Starts a flow at the rate of its port (section 3.3), with an alpha of 1.
    pub(crate) fn new(params: DcqcnParams, line: u64) -> Self {
        let line = line.max(1);
        Self {
            params,
            line,
            rate: line,
            target: line,
            alpha: ONE,
            alpha_at: None,
            increase_at: Time::MAX,
            bytes: 0,
            timer_rounds: 0,
            byte_rounds: 0,
        }
    }

    pub(crate) fn rate(&self) -> u64 {
        self.rate
    }

    /// Returns alpha, in units of 2^-16.
    pub(crate) fn alpha(&self) -> u32 {
        (self.alpha >> 16) as u32
    }

    /// Returns the time that `bytes` take at the current rate, in ps.
    pub(crate) fn span_ps(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(self.rate)) as u64
    }

    /// Returns the time that `bytes` take at the rate of the port, in ps.
    pub(crate) fn at_line_ps(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(self.line)) as u64
    }

    /// Reduces the rate after a notification (equation 1).
    pub(crate) fn on_notification(&mut self, now: Time) {
        // Increases that were due before the notification come first.
        self.catch_up(now);
        self.decay(now);
        let gain = u64::from(self.params.gain);
        self.target = self.rate;
        // Half of alpha, which is in units of 2^-32: a shift by 33.
        let cut = (u128::from(self.rate) * u128::from(self.alpha)) >> 33;
        // A minimum keeps a flow alive: at rate 0 it would send nothing that raises the rate again.
        self.rate = (self.rate - cut as u64).max(self.params.least_bytes_per_s.clamp(1, self.line));
        self.alpha = ((self.alpha * ((1 << 16) - gain)) >> 16) + gain * (ONE >> 16);
        self.alpha_at = Some(now);
        self.increase_at = now.saturating_add(self.params.increase_ps.max(1));
        // A cut starts fast recovery anew (section 3).
        self.bytes = 0;
        self.timer_rounds = 0;
        self.byte_rounds = 0;
    }

    /// Applies the decay of alpha (equation 2), once per period without a notification.
    fn decay(&mut self, now: Time) {
        let Some(since) = self.alpha_at else { return };
        let mut periods = now.since(since) / self.params.alpha_ps.max(1);
        let keep = (1 << 16) - u64::from(self.params.gain);
        while periods > 0 && self.alpha > 0 {
            // Rounding may stop the decay above 0; more periods then change nothing.
            let next = (self.alpha * keep) >> 16;
            if next == self.alpha {
                break;
            }
            self.alpha = next;
            periods -= 1;
        }
    }

    /// Applies the expirations of the timer of rate increase up to `now`.
    pub(crate) fn catch_up(&mut self, now: Time) {
        let period_ps = self.params.increase_ps.max(1);
        while self.increase_at <= now {
            // At the rate of the port nothing is left to increase until the next cut.
            if self.rate == self.line {
                self.increase_at = Time::MAX;
                return;
            }
            self.increase_at = self.increase_at.saturating_add(period_ps);
            self.timer_rounds += 1;
            self.increase();
        }
    }

    /// Advances the byte counter after `bytes` bytes were sent.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
        // The flow has not been cut, or is back at the rate of its port.
        if self.increase_at == Time::MAX {
            return;
        }
        self.bytes += bytes;
        let period = self.params.increase_bytes.max(1);
        while self.bytes >= period {
            self.bytes -= period;
            self.byte_rounds += 1;
            self.increase();
        }
    }

    /// Increases the rate (equations 3 and 4, and hyper increase).
    fn increase(&mut self) {
        let (more, less) = (self.timer_rounds.max(self.byte_rounds), self.timer_rounds.min(self.byte_rounds));
        // F rounds of fast recovery, then additive increase; hyper increase when both counters are past F.
        let step = if more < self.params.fast_rounds {
            0
        } else if less > self.params.fast_rounds {
            self.params.hyper_bytes_per_s
        } else {
            self.params.additive_bytes_per_s
        };
        self.target = self.target.saturating_add(step).min(self.line);
        // Rounded up, so that the rate reaches its target.
        self.rate += (self.target.saturating_sub(self.rate)).div_ceil(2);
    }
}
