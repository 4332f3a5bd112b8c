//! Congestion window of a channel over TCP while it is smaller than what is in flight on the path: it begins small, and
//! grows with what is acknowledged.

use super::packets::MessageTransport;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Congestion window of a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StartWindow {
    bytes: u64,
    /// Time at which the last message was sent.
    used: Time,
}

impl StartWindow {
    /// Creates the window of an unused channel.
    pub(super) fn new(transport: &MessageTransport) -> Self {
        Self { bytes: transport.start_bytes, used: Time::ZERO }
    }

    /// Counts a message of `bytes` bytes that was sent from `from` to `to`. Returns the time for which its sender
    /// waited for acknowledgements with the window full, in ps, if these come `round_ps` after the first packet of a
    /// window.
    pub(super) fn send(
        &mut self,
        bytes: u64,
        [from, to]: [Time; 2],
        round_ps: u64,
        transport: &MessageTransport,
    ) -> u64 {
        if from.since(self.used.min(from)) > transport.idle_ps {
            self.bytes = self.bytes.min(transport.start_bytes);
        }
        self.used = to;
        let took_ps = to.since(from);
        let (mut window, mut sent, mut waits_ps) = (self.bytes.max(1), 0, 0_u64);
        while bytes - sent > window {
            let window_ps = u128::from(window) * u128::from(took_ps) / u128::from(bytes);
            let wait_ps = u128::from(round_ps).saturating_sub(window_ps) as u64;
            if wait_ps == 0 {
                break;
            }
            waits_ps += wait_ps;
            sent += window;
            window = window.saturating_mul(2);
        }
        // A window that was less than half full does not grow (RFC 7661).
        if bytes.saturating_mul(2) >= self.bytes {
            self.bytes = self.bytes.saturating_add(bytes);
        }
        waits_ps
    }
}
