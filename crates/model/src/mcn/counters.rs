//! Counters of an interface of a memory channel network.

use serde::{Deserialize, Serialize};

/// Counters of an interface since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McnCounts {
    /// Packets handed to the driver.
    pub offered: u64,
    /// Packets that have become visible to the other machine.
    pub sent: u64,
    /// Bytes of the IP packets sent.
    pub sent_bytes: u64,
    /// Packets dropped because the driver's queue was full.
    pub dropped: u64,
    /// Packets that found the ring full and waited.
    pub busy: u64,
    /// Packets that have arrived.
    pub arrived: u64,
    /// Packets that have been read from the ring.
    pub read: u64,
    /// Pointers that became visible before all of their message. Always 0 with a fence.
    pub early: u64,
    /// Fences that a core has waited for.
    pub fences: u64,
    /// Time from the last store of a message to its pointer, summed over all fences, in ps.
    pub fence_ps: u64,
}
