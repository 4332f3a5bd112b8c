//! Memory of the queues of one core: rings and buffer pool.

use crate::line::{DescriptorRing, LineRing, QueueRings};
use crate::params::NicParams;
use serde::{Deserialize, Serialize};

/// Bytes of the descriptor ring of a send queue, and of its completion ring: 1024 entries of one line each.
const SEND_RING_BYTES: u64 = 1024 * 64;

/// Bytes of an event queue: 64 entries of one line each, which is one page (assumed).
const EVENT_RING_BYTES: u64 = 64 * 64;

/// Memory of one receive queue and one send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueMemory {
    base: u64,
    pool_bytes: u64,
    completion_bytes: u64,
    /// Bytes of the event queue. 0 if there is none.
    event_bytes: u64,
    /// Descriptors of the receive ring. 0 if they occupy no memory.
    descriptors: u32,
}

impl QueueMemory {
    /// Lays out the queue memory of a NIC with `params` from virtual address `base` on, a multiple of 4096.
    #[must_use]
    pub fn at(base: u64, params: &NicParams) -> Self {
        // A line per descriptor: unread completions are never more than descriptors taken.
        let completion_bytes = (u64::from(params.ring_entries) * 64).next_multiple_of(4096);
        let event_bytes = if params.event_bytes > 0 { EVENT_RING_BYTES } else { 0 };
        // Without `nic.attach` descriptors cost nothing and lie nowhere (docs/models/nic.md, Where it sits).
        let descriptors = params.attach.map_or(0, |_| params.ring_entries);
        // Whole lines, so that the completion ring behind the pool is aligned.
        Self { base, pool_bytes: params.pool_bytes.next_multiple_of(64), completion_bytes, event_bytes, descriptors }
    }

    /// Returns the bytes of memory that the queues of one core occupy.
    #[must_use]
    pub fn bytes(params: &NicParams) -> u64 {
        let Self { pool_bytes, completion_bytes, event_bytes, descriptors, .. } = Self::at(0, params);
        pool_bytes + completion_bytes + 2 * SEND_RING_BYTES + event_bytes + DescriptorRing::bytes(descriptors)
    }

    /// Returns the virtual address of the buffer pool for received frames.
    #[must_use]
    pub fn pool(&self) -> u64 {
        self.base
    }

    /// Returns the rings of the queues.
    #[must_use]
    pub fn rings(&self) -> QueueRings {
        let received = self.base + self.pool_bytes;
        let segments = received + self.completion_bytes;
        QueueRings {
            received: LineRing::new(received, self.completion_bytes),
            segments: LineRing::new(segments, SEND_RING_BYTES),
            sent: LineRing::new(segments + SEND_RING_BYTES, SEND_RING_BYTES),
            free: (self.descriptors > 0)
                .then(|| DescriptorRing::new(segments + 2 * SEND_RING_BYTES + self.event_bytes, self.descriptors)),
            events: (self.event_bytes > 0).then(|| LineRing::new(segments + 2 * SEND_RING_BYTES, self.event_bytes)),
        }
    }
}
