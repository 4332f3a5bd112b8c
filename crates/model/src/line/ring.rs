//! Lines of memory that a core and a device use one after the other.

use serde::{Deserialize, Serialize};

/// Lines of virtual memory that are used in order, and the first again after the last. Who writes them and who reads
/// them has a copy each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    base: u64,
    bytes: u64,
    at: u64,
}

impl Ring {
    /// The lines of `bytes` bytes, at least one line, from virtual address `base` on.
    #[must_use]
    pub fn new(base: u64, bytes: u64) -> Self {
        Self { base, bytes: bytes.max(64), at: 0 }
    }

    /// How many lines it has.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.bytes / 64
    }

    /// The virtual address of the next line.
    pub fn next_line(&mut self) -> u64 {
        let address = self.base + self.at;
        self.at = (self.at + 64) % self.bytes;
        address
    }
}

/// The rings of the queues of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rings {
    /// Completions of packets, which the device writes.
    pub received: Ring,
    /// Descriptors of segments, which the core writes.
    pub segments: Ring,
    /// Completions of segments, which the device writes.
    pub sent: Ring,
    /// What the device writes before it interrupts, if it does.
    pub events: Option<Ring>,
}

impl Rings {
    /// Those of a core without queues, which never uses them.
    pub const NONE: Self = {
        let ring = Ring { base: 0, bytes: 64, at: 0 };
        Self { received: ring, segments: ring, sent: ring, events: None }
    };
}
