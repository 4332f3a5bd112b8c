//! Time for which each limit holds a sender's data back, as Linux reports it for a socket (`tcpi_rwnd_limited`,
//! `tcpi_sndbuf_limited`).

use super::Counters;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Limit that holds the next data of a sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum SendLimit {
    /// The receiver's window.
    Receiver,
    /// The congestion window.
    Congestion,
    /// The send buffer: it has no room for more, and all data in it is in flight.
    Buffer,
}

/// Limit that holds data back now, if any, and since when.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct SendLimitClock(Option<(SendLimit, Time)>);

impl SendLimitClock {
    /// Sets the limit that holds data back from now on.
    pub(super) fn set_limit(&mut self, now: Time, hold: Option<SendLimit>, counters: &mut Counters) {
        if self.0.map(|(hold, _)| hold) != hold {
            self.count(now, counters);
            self.0 = hold.map(|hold| (hold, now));
        }
    }

    /// Returns true if nothing holds data back.
    pub(super) fn is_free(&self) -> bool {
        self.0.is_none()
    }

    /// Adds the time for which data has been held back until `now` to the counters.
    pub(super) fn count(&self, now: Time, counters: &mut Counters) {
        let Some((hold, since)) = self.0 else { return };
        let sum = match hold {
            SendLimit::Receiver => &mut counters.window_limited_ps,
            SendLimit::Congestion => &mut counters.congestion_limited_ps,
            SendLimit::Buffer => &mut counters.buffer_limited_ps,
        };
        *sum += now.since(since);
    }
}
