//! DCQCN (Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, section 3).
//!
//! Neither part needs events: what their timers would have done is made up for when it matters, in order of time.

use crate::params::DcqcnParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// One, in units of alpha.
const ONE: u64 = 1 << 32;

const PS_PER_S: u128 = 1_000_000_000_000;

/// The receiver of data (notification point): one notification per period at most.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Notifier {
    /// Before then nothing is notified.
    quiet_to: Time,
    pub(crate) owed: bool,
}

impl Notifier {
    /// A marked packet came.
    pub(crate) fn on_mark(&mut self, now: Time, params: &DcqcnParams) {
        if now >= self.quiet_to {
            self.quiet_to = now.saturating_add(params.notify_ps);
            self.owed = true;
        }
    }
}

/// The sender of data (reaction point).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Reaction {
    params: DcqcnParams,
    line: u64,
    /// Current and target rate, in bytes per second.
    rate: u64,
    target: u64,
    /// In units of 2^-32, as of `alpha_at`, the last notification.
    alpha: u64,
    alpha_at: Option<Time>,
    /// When the timer of rate increase expires next; never before the first notification.
    increase_at: Time,
    /// Bytes sent since the byte counter expired.
    bytes: u64,
    /// How often timer and byte counter have expired since the last notification.
    timer_rounds: u32,
    byte_rounds: u32,
}

impl Reaction {
    /// A flow begins at the speed of its port (section 3.3), with an alpha of 1.
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

    /// Alpha in units of 2^-16.
    pub(crate) fn alpha(&self) -> u32 {
        (self.alpha >> 16) as u32
    }

    /// How long `bytes` bytes take at the current rate, in ps.
    pub(crate) fn span_ps(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(self.rate)) as u64
    }

    /// How long they take at the speed of the port, in ps.
    pub(crate) fn at_line_ps(&self, bytes: u64) -> u64 {
        (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(self.line)) as u64
    }

    /// A notification came: equation 1.
    pub(crate) fn on_notification(&mut self, now: Time) {
        self.catch_up(now);
        self.decay(now);
        let gain = u64::from(self.params.gain);
        self.target = self.rate;
        let cut = (u128::from(self.rate) * u128::from(self.alpha)) >> 33;
        self.rate = (self.rate - cut as u64).max(self.params.least_bytes_per_s.clamp(1, self.line));
        self.alpha = ((self.alpha * ((1 << 16) - gain)) >> 16) + gain * (ONE >> 16);
        self.alpha_at = Some(now);
        self.increase_at = now.saturating_add(self.params.increase_ps.max(1));
        self.bytes = 0;
        self.timer_rounds = 0;
        self.byte_rounds = 0;
    }

    /// Equation 2, once for every period without notification.
    fn decay(&mut self, now: Time) {
        let Some(since) = self.alpha_at else { return };
        let mut periods = now.since(since) / self.params.alpha_ps.max(1);
        let keep = (1 << 16) - u64::from(self.params.gain);
        while periods > 0 && self.alpha > 0 {
            let next = (self.alpha * keep) >> 16;
            if next == self.alpha {
                break;
            }
            self.alpha = next;
            periods -= 1;
        }
    }

    /// What the timer of rate increase has done up to `now`.
    pub(crate) fn catch_up(&mut self, now: Time) {
        let period_ps = self.params.increase_ps.max(1);
        while self.increase_at <= now {
            if self.rate == self.line {
                self.increase_at = Time::MAX;
                return;
            }
            self.increase_at = self.increase_at.saturating_add(period_ps);
            self.timer_rounds += 1;
            self.increase();
        }
    }

    /// `bytes` bytes were sent.
    pub(crate) fn on_sent(&mut self, bytes: u64) {
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

    /// Equations 3 and 4, and hyper increase.
    fn increase(&mut self) {
        let (more, less) = (self.timer_rounds.max(self.byte_rounds), self.timer_rounds.min(self.byte_rounds));
        let step = if more < self.params.fast_rounds {
            0
        } else if less > self.params.fast_rounds {
            self.params.hyper_bytes_per_s
        } else {
            self.params.additive_bytes_per_s
        };
        self.target = self.target.saturating_add(step).min(self.line);
        // Rounded up, so that it arrives.
        self.rate += (self.target.saturating_sub(self.rate)).div_ceil(2);
    }
}
