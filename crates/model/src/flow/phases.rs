//! Statistics of the steps of a rank, by name.

use serde::{Deserialize, Serialize};

/// Statistics of all steps with the same name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseStats {
    /// Completed steps.
    pub steps: u64,
    /// Total time of the steps, and time of the longest one, in ps.
    pub time_ps: u64,
    /// See `time_ps`.
    pub most_ps: u64,
    /// Time spent computing, and the part of it spent waiting for an accelerator, in ps.
    pub compute_ps: u64,
    /// See `compute_ps`.
    pub device_ps: u64,
    /// Messages sent, and the bytes of these messages.
    pub messages: u64,
    /// See `messages`.
    pub bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
}

impl PhaseStats {
    /// Returns the sum of two statistics.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            steps: self.steps + other.steps,
            time_ps: self.time_ps + other.time_ps,
            most_ps: self.most_ps.max(other.most_ps),
            compute_ps: self.compute_ps + other.compute_ps,
            device_ps: self.device_ps + other.device_ps,
            messages: self.messages + other.messages,
            bytes: self.bytes + other.bytes,
            received_bytes: self.received_bytes + other.received_bytes,
        }
    }

    /// Returns what has been added since `earlier`; the longest step stays that of all.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            steps: self.steps - earlier.steps,
            time_ps: self.time_ps - earlier.time_ps,
            most_ps: self.most_ps,
            compute_ps: self.compute_ps - earlier.compute_ps,
            device_ps: self.device_ps - earlier.device_ps,
            messages: self.messages - earlier.messages,
            bytes: self.bytes - earlier.bytes,
            received_bytes: self.received_bytes - earlier.received_bytes,
        }
    }

    /// Returns sums multiplied by `factor` and divided by `divisor`, rounded down; the longest step stays.
    #[must_use]
    pub fn scaled(&self, factor: u64, divisor: u64) -> Self {
        let scaled = |sum: u64| {
            let product = u128::from(sum) * u128::from(factor) / u128::from(divisor.max(1));
            u64::try_from(product).unwrap_or(u64::MAX)
        };
        Self {
            steps: scaled(self.steps),
            time_ps: scaled(self.time_ps),
            most_ps: self.most_ps,
            compute_ps: scaled(self.compute_ps),
            device_ps: scaled(self.device_ps),
            messages: scaled(self.messages),
            bytes: scaled(self.bytes),
            received_bytes: scaled(self.received_bytes),
        }
    }

    /// Returns the share of the time not spent computing, in which messages were sent or waited for, 0 to 1. None if
    /// no time was spent.
    #[must_use]
    pub fn communication_share(&self) -> Option<f64> {
        (self.time_ps > 0).then(|| (self.time_ps - self.compute_ps) as f64 / self.time_ps as f64)
    }
}
