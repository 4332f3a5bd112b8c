//! What a TCP header says, as far as it matters.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Bytes that arrived out of order: from `start` up to but not including `end` of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SackBlock {
    /// First byte.
    pub start: u64,
    /// One past the last byte; equal to `start` when the block is unused.
    pub end: u64,
}

/// A segment. Streams begin at byte 0 and never wrap; the handshake is not modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Segment {
    /// First byte of its data in the stream of its sender.
    pub sequence: u64,
    /// Bytes of data; 0 for a pure acknowledgement. More than the segment size before segmentation offload cuts it, or
    /// after receive offload has joined packets.
    pub bytes: u32,
    /// The next byte that its sender expects of the other stream.
    pub ack: u64,
    /// Bytes beyond `ack` that its sender has room for.
    pub window: u64,
    /// Selective acknowledgements, the latest first.
    pub sack: [SackBlock; 3],
    /// Echo of congestion (ECE).
    pub echo: bool,
    /// The window was reduced (CWR).
    pub reduced: bool,
    /// The packet carried a mark: congestion experienced. Set by who hands it to the receiving side.
    pub marked: bool,
    /// When it was sent, for the timestamp option.
    pub sent: Time,
    /// The timestamp that it echoes; [`Time::ZERO`] when there is none.
    pub sent_echo: Time,
    /// Whether its data was sent before.
    pub retransmitted: bool,
}
