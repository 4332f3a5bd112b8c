//! Send queue of a core: segments and datagrams whose doorbells have been rung.

use crate::line::{LineRing, PacketId, QueueRings};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Segment whose descriptor has been requested.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OpenSegment {
    pub(super) id: PacketId,
    /// True once the descriptor has arrived.
    pub(super) known: bool,
    /// Bytes of data that have been cut into packets.
    pub(super) cut: u32,
}

/// Segments whose descriptors are requested ahead, so that the next descriptor has arrived when a segment ends.
pub(super) const OPEN_SEGMENTS: usize = 2;
/// Datagrams whose descriptors are requested ahead. A datagram ends long before the next descriptor could arrive, so
/// NICs read the descriptors of many datagrams at a time (assumed: 32).
const OPEN_DATAGRAMS: usize = 32;

/// Segment or datagram whose doorbell has been rung.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct PostedDescriptor {
    /// Earliest time at which the descriptor may be read.
    pub(super) visible_at: Time,
    pub(super) id: PacketId,
    pub(super) datagram: bool,
}

/// Send queue of one core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct SendQueue {
    pub(super) descriptors: LineRing,
    /// Function that the queue belongs to.
    pub(super) function: usize,
    /// Extra latency of a doorbell from another socket, in ps.
    pub(super) away_ps: u64,
    /// Segments whose doorbells have been rung and whose descriptors have not been requested.
    pub(super) waiting: VecDeque<PostedDescriptor>,
    /// Segments whose descriptors have been requested.
    pub(super) open: VecDeque<OpenSegment>,
}

impl SendQueue {
    /// Returns the next segment whose descriptor may be requested.
    pub(super) fn next(&self) -> Option<&PostedDescriptor> {
        let ahead = |rung: &&PostedDescriptor| if rung.datagram { OPEN_DATAGRAMS } else { OPEN_SEGMENTS };
        // The limit is that of the next entry: a datagram may be the 32nd, a segment only the second.
        self.waiting.front().filter(|rung| self.open.len() < ahead(rung))
    }
}

/// Placement of a core's queue: its rings, and its distance to the function.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuePlacement {
    pub(super) rings: QueueRings,
    pub(super) function: usize,
    pub(super) far: bool,
    pub(super) away_ps: u64,
}
