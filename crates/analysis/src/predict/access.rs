//! Rates of accesses of streams, from the lines that their cores keep in flight.

use super::solve::{Latency, Problem, Rate};
use super::storage::least;
use super::traffic::Stream;

impl Problem {
    /// Rate of accesses of one core, per ns.
    pub(super) fn access(&self, stream: &Stream, latency: &Latency) -> f64 {
        // An entry is held for the read and for the write-back of a store, and is free only after the refill time.
        let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
        // A prefetch credit is used again at once.
        let prefetched = if stream.prefetched { self.prefetches / held } else { 0.0 };
        least(1.0 / stream.gap_ns.max(1e-3), self.entries / (held + self.refill_ns) + prefetched)
    }

    /// Rate at which the prefetchers of one core request lines of a stream, per ns: what its LFB does not carry.
    pub(super) fn prefetched(&self, stream: &Stream, rate: &Rate, latency: &Latency) -> f64 {
        if !stream.prefetched || self.prefetches == 0.0 {
            return 0.0;
        }
        let held = latency.core_read + (1.0 - stream.loads) * latency.core_write;
        (rate.access - self.entries / (held + self.refill_ns)).max(0.0)
    }
}
