//! Counters of one end of a RoCE flow.

use crate::met::ReachedLimits;
use serde::{Deserialize, Serialize};

/// Counters of one end since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoceCounters {
    /// Data packets sent for the first time.
    pub packets_sent: u64,
    /// Bytes of payload of these packets.
    pub bytes_sent: u64,
    /// Data packets sent again.
    pub packets_retransmitted: u64,
    /// Bytes of payload of these packets.
    pub bytes_retransmitted: u64,
    /// Read requests sent, including repetitions.
    pub requests_sent: u64,
    /// Data packets received in order, which are placed in memory.
    pub packets_received: u64,
    /// Bytes of payload of these packets.
    pub bytes_received: u64,
    /// Data packets received out of order and discarded.
    pub packets_out_of_order: u64,
    /// Data packets received that had arrived before.
    pub packets_duplicate: u64,
    /// Data packets received with an ECN mark.
    pub packets_marked: u64,
    /// Positive acknowledgements sent.
    pub acks_sent: u64,
    /// Negative acknowledgements sent.
    pub naks_sent: u64,
    /// Negative acknowledgements received.
    pub naks_received: u64,
    /// Rewinds of the requester, for any reason.
    pub rewinds: u64,
    /// Timeouts that expired.
    pub timeouts: u64,
    /// Congestion notifications sent.
    pub notifications_sent: u64,
    /// Congestion notifications received.
    pub notifications_received: u64,
    /// Time that the data sent takes at the rate of DCQCN, and at the rate of the port, in ps.
    pub paced_ps: u64,
    /// See `paced_ps`.
    pub at_line_ps: u64,
    /// Limits that have come into play.
    pub met: ReachedLimits,
}

impl RoceCounters {
    /// Counts a data packet that is sent.
    pub(crate) fn count_data(&mut self, bytes: u32, again: bool) {
        if again {
            self.packets_retransmitted += 1;
            self.bytes_retransmitted += u64::from(bytes);
        } else {
            self.packets_sent += 1;
            self.bytes_sent += u64::from(bytes);
        }
    }
}
