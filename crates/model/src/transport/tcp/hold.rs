//! What keeps data back that could be sent, as Linux tells it of a socket (`tcpi_rwnd_limited`, `tcpi_sndbuf_limited`).

use super::Counters;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// What keeps the next data of a sender back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Hold {
    /// The receiver's window.
    Receiver,
    Congestion,
    /// The send buffer has no room for more, and all that is in it is in flight.
    Buffer,
}

/// What keeps data back now, and since when.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Held(Option<(Hold, Time)>);

impl Held {
    /// Notes what keeps data back from now on.
    pub(super) fn turn(&mut self, now: Time, hold: Option<Hold>, counters: &mut Counters) {
        if self.0.map(|(hold, _)| hold) != hold {
            self.count(now, counters);
            self.0 = hold.map(|hold| (hold, now));
        }
    }

    /// Adds the time until `now` for which data is kept back.
    pub(super) fn count(&self, now: Time, counters: &mut Counters) {
        let Some((hold, since)) = self.0 else { return };
        let sum = match hold {
            Hold::Receiver => &mut counters.window_limited_ps,
            Hold::Congestion => &mut counters.congestion_limited_ps,
            Hold::Buffer => &mut counters.buffer_limited_ps,
        };
        *sum += now.since(since);
    }
}
