//! What one end of a TCP flow counts.

use crate::met::Met;
use serde::{Deserialize, Serialize};

/// Counts of one end since the start. Packets are what segments become when they are cut to the segment size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Segments with data that were sent for the first time.
    pub segments_sent: u64,
    /// Packets of them.
    pub packets_sent: u64,
    /// Bytes of data of them.
    pub bytes_sent: u64,
    /// Segments that were sent again, tail loss probes that repeat data among them.
    pub segments_retransmitted: u64,
    /// Packets of them.
    pub packets_retransmitted: u64,
    /// Bytes of data of them.
    pub bytes_retransmitted: u64,
    /// Retransmission timeouts that expired.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Probes of a window that was closed.
    pub window_probes: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Reductions of the window because of an echo of congestion.
    pub reductions: u64,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes acknowledged by segments that echo congestion.
    pub bytes_marked: u64,
    /// Segments received that echo congestion.
    pub echoes: u64,
    /// Segments without data that were sent.
    pub acks_sent: u64,
    /// Segments without data that were received.
    pub acks_received: u64,
    /// Segments with data that were received.
    pub segments_received: u64,
    /// Those of them that came before data ahead of them in the stream.
    pub segments_early: u64,
    /// Bytes of data received that were new and had room.
    pub bytes_received: u64,
    /// Bytes of data received that were there already.
    pub bytes_duplicate: u64,
    /// Bytes of data received for which the window had no room.
    pub bytes_refused: u64,
    /// Segments with data that carried a mark.
    pub segments_marked: u64,
    /// Time in which there was data to send and the receiver's window did not let it go, in ps.
    pub window_limited_ps: u64,
    /// Likewise of the congestion window.
    pub congestion_limited_ps: u64,
    /// Time in which the application had no room in the send buffer, and all that is in it was in flight, in ps.
    pub buffer_limited_ps: u64,
    /// Limits that have come into play.
    pub met: Met,
}
