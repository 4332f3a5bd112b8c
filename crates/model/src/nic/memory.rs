//! Memory of the queues of one core: rings and buffer pool.

use crate::line::{DescriptorRing, LineRing, QueueRings};
use crate::params::{NicParams, QueueLayout};

/// Memory of one receive queue and one send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueMemory {
    base: u64,
    layout: QueueLayout,
    /// Descriptors of the receive ring. 0 if they occupy no memory.
    descriptors: u32,
}

impl QueueMemory {
    /// Places the queue memory of a NIC with `params` at virtual address `base`, a multiple of 4096.
    #[must_use]
    pub fn at(base: u64, params: &NicParams) -> Self {
        Self { base, layout: params.queue_layout(), descriptors: params.ring_descriptors() }
    }

    /// Returns the virtual address of the buffer pool for received frames.
    #[must_use]
    pub fn pool(&self) -> u64 {
        self.base
    }

    /// Returns the rings of the queues.
    #[must_use]
    pub fn rings(&self) -> QueueRings {
        let QueueLayout { received, segments, sent, events, free, .. } = self.layout;
        let ring = |from: u64, to: u64| LineRing::new(self.base + from, to - from);
        QueueRings {
            received: ring(received, segments),
            segments: ring(segments, sent),
            sent: ring(sent, events),
            free: (self.descriptors > 0).then(|| DescriptorRing::new(self.base + free, self.descriptors)),
            events: (free > events).then(|| ring(events, free)),
        }
    }
}
