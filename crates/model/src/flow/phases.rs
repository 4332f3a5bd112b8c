//! What the steps of a rank took, by their names.

use serde::{Deserialize, Serialize};

/// What steps of the same name did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PhaseBooks {
    /// Steps that were taken.
    pub steps: u64,
    /// Time that they took, and the longest of them, in ps.
    pub time_ps: u64,
    /// See `time_ps`.
    pub most_ps: u64,
    /// Of that time, what was computed, and of this what an accelerator was waited for.
    pub compute_ps: u64,
    /// See `compute_ps`.
    pub device_ps: u64,
    /// Messages that were sent, and their bytes.
    pub messages: u64,
    /// See `messages`.
    pub bytes: u64,
    /// Bytes that were received.
    pub received_bytes: u64,
}

impl PhaseBooks {
    /// Both together.
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

    /// Share of the time that was not computed: in which messages were sent or waited for. None without any time.
    #[must_use]
    pub fn communication_share(&self) -> Option<f64> {
        (self.time_ps > 0).then(|| (self.time_ps - self.compute_ps) as f64 / self.time_ps as f64)
    }
}
