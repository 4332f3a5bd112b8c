//! Counters of the buffer device.

use serde::{Deserialize, Serialize};

/// Counters of the buffer device since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimmCounters {
    /// Reads of the host (XRD).
    pub reads: u64,
    /// Reads that hit in nCache.
    pub hits: u64,
    /// Reads that waited for a line in flight to nCache.
    pub late: u64,
    /// Hits of the first lines of packets.
    pub first: u64,
    /// Reads of clones of packets.
    pub packet_reads: u64,
    /// Reads of clones of packets that were read from memory.
    pub packet_misses: u64,
    /// Lines that the prefetcher has requested.
    pub prefetches: u64,
    /// Lines that the host has written.
    pub writes: u64,
    /// Lines that the NIC has written.
    pub dma_written: u64,
    /// Lines that the NIC has read.
    pub dma_read: u64,
    /// Clones of rows within a sub-array, between banks, and through the buffer device.
    pub clones: [u64; 3],
    /// Maximum number of requests of the NIC that went before one waiting request of the host.
    pub passed_max: u64,
    /// Packets that the NIC has written.
    pub bursts: u64,
    /// Total time from the first line of each of these packets until the memory controllers have its last line, in ps.
    pub burst_ps: u64,
    /// Lines of these packets.
    pub burst_lines: u64,
}
