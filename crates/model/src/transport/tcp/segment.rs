//! Header of a TCP segment, as far as it is modelled.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Bytes that arrived out of order: the interval from `start` up to but excluding `end` of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SackBlock {
    /// First byte of the block.
    pub start: u64,
    /// One past the last byte; equal to `start` if the block is unused.
    pub end: u64,
}

/// A segment. Streams begin at byte 0 and never wrap; the handshake is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Segment {
    /// Position of the first byte of the segment in the sender's stream.
    pub sequence: u64,
    /// Bytes of data; 0 for a pure acknowledgement. It exceeds the maximum segment size (MSS) before TSO splits the
    /// segment, and may exceed it after GRO or LRO has merged packets.
    pub bytes: u32,
    /// Next byte that the sender of the segment expects of the other stream.
    pub ack: u64,
    /// Bytes beyond `ack` that the sender of the segment has room for.
    pub window: u64,
    /// SACK blocks, the latest first.
    pub sack: [SackBlock; 3],
    /// True if congestion is echoed (ECE).
    pub echo: bool,
    /// True if the sender has reduced its congestion window (CWR).
    pub reduced: bool,
    /// True if the packet carried an ECN mark (congestion experienced). Set by the part that passes the segment to the
    /// receiver.
    pub marked: bool,
    /// Time at which the segment was sent, for the timestamp option.
    pub sent: Time,
    /// Echoed time stamp; [`Time::ZERO`] if there is none.
    pub sent_echo: Time,
    /// True if the data of the segment was sent before.
    pub retransmitted: bool,
}
