//! What one end of a RoCE flow counts.

use crate::met::Met;
use serde::{Deserialize, Serialize};

/// Counts of one end since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoceCounters {
    /// Packets with data that were sent for the first time.
    pub packets_sent: u64,
    /// Bytes of data of them.
    pub bytes_sent: u64,
    /// Packets with data that were sent again.
    pub packets_retransmitted: u64,
    /// Bytes of data of them.
    pub bytes_retransmitted: u64,
    /// Requests for reads, repeated ones among them.
    pub requests_sent: u64,
    /// Packets with data that came in order: what is placed in memory.
    pub packets_received: u64,
    /// Bytes of data of them.
    pub bytes_received: u64,
    /// Packets with data that came out of order and were thrown away.
    pub packets_out_of_order: u64,
    /// Packets with data that had come before.
    pub packets_duplicate: u64,
    /// Packets with data that carried a mark.
    pub packets_marked: u64,
    /// Positive acknowledgements sent.
    pub acks_sent: u64,
    /// Negative acknowledgements sent.
    pub naks_sent: u64,
    /// Negative acknowledgements received.
    pub naks_received: u64,
    /// Times that the requester went back, whatever the reason.
    pub rewinds: u64,
    /// Timeouts that expired.
    pub timeouts: u64,
    /// Congestion notifications sent.
    pub notifications_sent: u64,
    /// Congestion notifications received.
    pub notifications_received: u64,
    /// Time that the rate of DCQCN gave the data that was sent, in ps, and what it would be at the speed of the port.
    pub paced_ps: u64,
    /// See `paced_ps`.
    pub at_line_ps: u64,
    /// Limits that have come into play.
    pub met: Met,
}

impl RoceCounters {
    /// Counts a packet with data that is sent.
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
