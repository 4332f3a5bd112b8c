//! Memory layout of the queues of a NIC.

use super::nic::NicParams;

/// Bytes of a receive descriptor (assumed: 16, an address and flags).
pub const DESCRIPTOR_BYTES: u64 = 16;

/// Bytes of the descriptor ring of a send queue, and of its completion ring: 1024 entries of one line each.
const SEND_RING_BYTES: u64 = 1024 * 64;

/// Bytes of an event queue: 64 entries of one line each, which is one page (assumed).
const EVENT_RING_BYTES: u64 = 64 * 64;

/// Layout of the memory of one receive queue and one send queue, which begins with the buffer pool for received frames.
/// Each field is the offset in bytes at which a structure begins and the previous one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueLayout {
    /// Completion ring of the receive queue.
    pub received: u64,
    /// Descriptor ring of the send queue.
    pub segments: u64,
    /// Completion ring of the send queue.
    pub sent: u64,
    /// Event queue; empty if there is none.
    pub events: u64,
    /// Descriptor ring of the receive queue; empty if its descriptors occupy no memory.
    pub free: u64,
    /// End of the memory.
    pub bytes: u64,
}

impl NicParams {
    /// Returns the layout of the memory of the queues of one core.
    #[must_use]
    pub fn queue_layout(&self) -> QueueLayout {
        // Whole lines, so that the completion ring behind the pool is aligned.
        let received = self.pool_bytes.next_multiple_of(64);
        // A line per descriptor: unread completions are never more than descriptors taken.
        let segments = received + (u64::from(self.ring_entries) * 64).next_multiple_of(4096);
        let sent = segments + SEND_RING_BYTES;
        let events = sent + SEND_RING_BYTES;
        let free = events + if self.event_bytes > 0 { EVENT_RING_BYTES } else { 0 };
        let bytes = free + descriptor_ring_bytes(self.ring_descriptors());
        QueueLayout { received, segments, sent, events, free, bytes }
    }

    /// Returns the descriptors of the receive ring in memory. 0 if they occupy no memory.
    #[must_use]
    pub fn ring_descriptors(&self) -> u32 {
        // Without `nic.attach` descriptors cost nothing and lie nowhere (docs/models/nic.md, Where it sits).
        self.attach.map_or(0, |_| self.ring_entries)
    }
}

/// Returns the bytes that a ring of `entries` descriptors takes, in whole pages.
#[must_use]
pub fn descriptor_ring_bytes(entries: u32) -> u64 {
    (u64::from(entries) * DESCRIPTOR_BYTES).next_multiple_of(4096)
}
