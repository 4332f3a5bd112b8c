//! Which limits of a configuration have come into play.
//!
//! A part marks a limit where it keeps something back, so that a run can tell of those that never did.

use serde::{Deserialize, Serialize};
use std::ops::BitOr;

/// A limit that marks itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// TCP: the send buffer was full, and what it held did not fill what might be sent, or an application waited.
    SendBuffer,
    /// TCP: the window of the receiver kept data back.
    ReceiveBuffer,
    /// TCP: a segment was cut to the offload size.
    Offload,
    /// TCP: the congestion window kept data back.
    CongestionWindow,
    /// TCP: an acknowledgement waited for more data, or would have with more segments for each.
    AckCount,
    /// TCP: an acknowledgement went out because it had waited long enough.
    AckDelay,
    /// RoCE: so many messages were in flight as may be.
    InFlight,
    /// NIC: what is asked of memory left no room for another packet to be sent.
    SendWindow,
    /// NIC: completions ended the wait of an interrupt.
    CoalescePackets,
    /// Kernel: packets were not joined, or no longer, because of their bytes.
    JoinedBytes,
    /// Kernel: a system call moved less than there was.
    CallBytes,
    /// Endpoint: a transport waited for room at the port.
    PortQueue,
}

/// The limits that have come into play since the start of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met(u16);

impl Met {
    /// A limit comes into play.
    #[inline]
    pub(crate) fn set(&mut self, limit: Limit) {
        self.0 |= 1 << limit as u16;
    }

    /// Returns true if a limit has come into play.
    #[must_use]
    pub fn has(self, limit: Limit) -> bool {
        self.0 >> limit as u16 & 1 != 0
    }
}

impl BitOr for Met {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl FromIterator<Met> for Met {
    fn from_iter<I: IntoIterator<Item = Met>>(all: I) -> Self {
        all.into_iter().fold(Self::default(), BitOr::bitor)
    }
}
