//! Counters of one end of a TCP flow.

use crate::met::ReachedLimits;
use serde::{Deserialize, Serialize};

/// Counters of one end since the start of the run. A packet is a piece of a segment, cut to the segment size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Segments with new data sent.
    pub segments_sent: u64,
    /// Packets of these segments.
    pub packets_sent: u64,
    /// Bytes of data in these segments.
    pub bytes_sent: u64,
    /// Segments sent again, including tail loss probes that repeat data.
    pub segments_retransmitted: u64,
    /// Packets of these segments.
    pub packets_retransmitted: u64,
    /// Bytes of data in these segments.
    pub bytes_retransmitted: u64,
    /// Retransmission timeouts that expired.
    pub timeouts: u64,
    /// Tail loss probes sent.
    pub probes: u64,
    /// Probes of a closed window sent.
    pub window_probes: u64,
    /// Fast recoveries begun.
    pub recoveries: u64,
    /// Reductions of the window because of an ECN echo.
    pub reductions: u64,
    /// Bytes acknowledged.
    pub bytes_acked: u64,
    /// Bytes acknowledged by segments with an ECN echo.
    pub bytes_marked: u64,
    /// Segments received with an ECN echo.
    pub echoes: u64,
    /// Segments without data sent.
    pub acks_sent: u64,
    /// Segments without data received.
    pub acks_received: u64,
    /// Segments with data received.
    pub segments_received: u64,
    /// Segments with data received before earlier data of the stream.
    pub segments_early: u64,
    /// Bytes of data received that were new and within the window.
    pub bytes_received: u64,
    /// Bytes of data received that had arrived before.
    pub bytes_duplicate: u64,
    /// Bytes of data received beyond the window.
    pub bytes_refused: u64,
    /// Segments with data received with an ECN mark.
    pub segments_marked: u64,
    /// Time for which the receiver's window held data back, in ps.
    pub window_limited_ps: u64,
    /// Time for which the congestion window held data back, in ps.
    pub congestion_limited_ps: u64,
    /// Time for which the send buffer had no room for the application while all data in it was in flight, in ps.
    pub buffer_limited_ps: u64,
    /// Limits that have come into play.
    pub met: ReachedLimits,
}
