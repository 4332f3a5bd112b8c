//! Rings of lines and of descriptors in memory, which a core and a device use one after the other.

use crate::params::DESCRIPTOR_BYTES;
use serde::{Deserialize, Serialize};

/// Ring of lines in virtual memory, used in order. The writer and the reader of the lines each have a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineRing {
    base: u64,
    bytes: u64,
    at: u64,
}

impl LineRing {
    /// Creates a ring of `bytes` bytes, at least one line, from virtual address `base` on.
    #[must_use]
    pub fn new(base: u64, bytes: u64) -> Self {
        Self { base, bytes: bytes.max(64), at: 0 }
    }

    /// Returns the number of lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.bytes / 64
    }

    /// Advances by one line and returns its virtual address.
    pub fn next_line(&mut self) -> u64 {
        let address = self.base + self.at;
        self.at = (self.at + 64) % self.bytes;
        address
    }
}

const PER_LINE: u32 = (64 / DESCRIPTOR_BYTES) as u32;

/// Descriptor ring of a receive queue, with several descriptors per line. The writer and the reader of the descriptors
/// each have a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DescriptorRing {
    base: u64,
    entries: u32,
    at: u32,
}

impl DescriptorRing {
    /// Creates a ring of `entries` descriptors, at least 1, from virtual address `base` on, a multiple of 64.
    #[must_use]
    pub fn new(base: u64, entries: u32) -> Self {
        Self { base, entries: entries.max(1), at: 0 }
    }

    /// Returns the virtual address of the first descriptor.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Returns the lines that `count` descriptors fill. No more lines are taken at a time.
    #[must_use]
    pub fn lines(count: u32) -> u32 {
        count.div_ceil(PER_LINE)
    }

    /// Advances by up to `count` descriptors, but neither past the end of the ring nor past as many lines as `count`
    /// descriptors fill. Returns the number of descriptors, the virtual address of their first line, and their lines.
    pub fn advance(&mut self, count: u32) -> (u32, u64, u32) {
        // A read covers whole lines, so a batch that begins within a line gets fewer descriptors.
        let within = Self::lines(count) * PER_LINE - self.at % PER_LINE;
        let count = count.min(within).min(self.entries - self.at);
        let [from, to] = [self.at, self.at + count].map(|at| u64::from(at) * DESCRIPTOR_BYTES);
        self.at = (self.at + count) % self.entries;
        (count, self.base + from / 64 * 64, (to.div_ceil(64) - from / 64) as u32)
    }
}

/// Rings of the queues of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueRings {
    /// Completions of received packets, which the device writes.
    pub received: LineRing,
    /// Descriptors of segments, which the core writes.
    pub segments: LineRing,
    /// Completions of segments, which the device writes.
    pub sent: LineRing,
    /// Descriptors of the receive queue; `None` if they cost nothing.
    pub free: Option<DescriptorRing>,
    /// Lines that the device writes before it interrupts, if it does.
    pub events: Option<LineRing>,
}

impl QueueRings {
    /// Rings of a core without queues, which never uses them.
    pub const NONE: Self = {
        let ring = LineRing { base: 0, bytes: 64, at: 0 };
        Self { received: ring, segments: ring, sent: ring, free: None, events: None }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::descriptor_ring_bytes;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn descriptors_lie_in_their_ring_and_come_in_order(
            entries in 1_u32..300,
            counts in prop::collection::vec(1_u32..40, 1..60),
        ) {
            let base = 1 << 20;
            let mut ring = DescriptorRing::new(base, entries);
            let mut at = 0;
            for count in counts {
                let (taken, address, lines) = ring.advance(count);
                let within = count.div_ceil(4) * 4 - at % 4;
                prop_assert!(taken == count.min(within).min(entries - at) && taken > 0);
                prop_assert!(lines <= DescriptorRing::lines(count));
                prop_assert_eq!(address, base + u64::from(at / 4) * 64);
                prop_assert_eq!(lines, (at + taken).div_ceil(4) - at / 4);
                prop_assert!(address + u64::from(lines) * 64 <= base + descriptor_ring_bytes(entries));
                at = (at + taken) % entries;
            }
        }
    }
}
