//! The memory that the queues of a core go through.

use crate::line::{Descriptors, Ring, Rings};
use crate::params::NicParams;
use serde::{Deserialize, Serialize};

/// Bytes of the descriptors of one send queue, and of its completions: 1024 of a line each.
const SEND_RING_BYTES: u64 = 1024 * 64;

/// Bytes of an event queue: 64 entries of a line each, a page (assumed).
const EVENT_RING_BYTES: u64 = 64 * 64;

/// The memory of a receive queue and a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueMemory {
    base: u64,
    pool_bytes: u64,
    completion_bytes: u64,
    /// 0: there is no event queue.
    event_bytes: u64,
    /// 0: receive descriptors take no memory.
    descriptors: u32,
}

impl QueueMemory {
    /// That of a card with these parameters at virtual address `base`, a multiple of 4096.
    #[must_use]
    pub fn at(base: u64, params: &NicParams) -> Self {
        let completion_bytes = (u64::from(params.ring_entries) * 64).next_multiple_of(4096);
        let event_bytes = if params.event_bytes > 0 { EVENT_RING_BYTES } else { 0 };
        let descriptors = params.attach.map_or(0, |_| params.ring_entries);
        Self { base, pool_bytes: params.pool_bytes.next_multiple_of(64), completion_bytes, event_bytes, descriptors }
    }

    /// Bytes that it takes.
    #[must_use]
    pub fn bytes(params: &NicParams) -> u64 {
        let Self { pool_bytes, completion_bytes, event_bytes, descriptors, .. } = Self::at(0, params);
        pool_bytes + completion_bytes + 2 * SEND_RING_BYTES + event_bytes + Descriptors::bytes(descriptors)
    }

    /// The virtual address of the memory that frames go through.
    #[must_use]
    pub fn pool(&self) -> u64 {
        self.base
    }

    /// Its rings.
    #[must_use]
    pub fn rings(&self) -> Rings {
        let received = self.base + self.pool_bytes;
        let segments = received + self.completion_bytes;
        Rings {
            received: Ring::new(received, self.completion_bytes),
            segments: Ring::new(segments, SEND_RING_BYTES),
            sent: Ring::new(segments + SEND_RING_BYTES, SEND_RING_BYTES),
            free: (self.descriptors > 0)
                .then(|| Descriptors::new(segments + 2 * SEND_RING_BYTES + self.event_bytes, self.descriptors)),
            events: (self.event_bytes > 0).then(|| Ring::new(segments + 2 * SEND_RING_BYTES, self.event_bytes)),
        }
    }
}
