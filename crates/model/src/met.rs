//! Limits of a configuration that have been reached.
//!
//! A part marks a limit where the limit holds something back, so that a run can report the limits that never took
//! effect.

use serde::{Deserialize, Serialize};
use std::ops::BitOr;

/// Limit that is recorded when it takes effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// TCP: the send buffer was full and held less data than could have been sent, or an application waited for room.
    SendBuffer,
    /// TCP: the window of the receiver held data back.
    ReceiveBuffer,
    /// TCP: the segmentation offload size (TSO) cut a segment short.
    Offload,
    /// TCP: the congestion window held data back.
    CongestionWindow,
    /// TCP: an acknowledgement waited for more data, or would have waited with more segments per acknowledgement.
    AckCount,
    /// TCP: an acknowledgement was sent because its delay had expired.
    AckDelay,
    /// RoCE: the maximum number of messages was in flight.
    InFlight,
    /// NIC: data requested from memory left no room in the send window for another packet.
    SendWindow,
    /// NIC: the number of completions ended the moderation delay of an interrupt.
    CoalescePackets,
    /// Kernel: packets were not merged (GRO), or merged no further, because of their size.
    JoinedBytes,
    /// Kernel: a system call moved less than was available.
    CallBytes,
    /// Endpoint: a transport waited for room in the queue of its port.
    PortQueue,
}

/// Set of the limits that have been reached since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReachedLimits(u16);

impl ReachedLimits {
    /// Marks a limit as reached.
    #[inline]
    pub(crate) fn set(&mut self, limit: Limit) {
        self.0 |= 1 << limit as u16;
    }

    /// Returns true if a limit has been reached.
    #[must_use]
    pub fn has(self, limit: Limit) -> bool {
        self.0 >> limit as u16 & 1 != 0
    }
}

impl BitOr for ReachedLimits {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<ReachedLimits> for ReachedLimits {
    fn from_iter<I: IntoIterator<Item = ReachedLimits>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), BitOr::bitor)
    }
}
