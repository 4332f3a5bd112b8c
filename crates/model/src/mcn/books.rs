//! What an interface of a memory channel network counts.

use serde::{Deserialize, Serialize};

/// Counts of an interface since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct McnCounts {
    /// Packets that were handed to the driver.
    pub offered: u64,
    /// Of these, those that the other machine could see.
    pub sent: u64,
    /// Bytes of IP packets of them.
    pub sent_bytes: u64,
    /// Packets that found no room in the queue of the driver.
    pub dropped: u64,
    /// Packets that found the ring full, and waited.
    pub busy: u64,
    /// Packets that came.
    pub arrived: u64,
    /// Of these, those that have been read out of the ring.
    pub read: u64,
    /// Pointers that could be seen before all of their message: none with a fence.
    pub early: u64,
    /// Fences that were waited for, and the time from the last store of a message to its pointer, in ps.
    pub fences: u64,
    /// See `fences`.
    pub fence_ps: u64,
}
