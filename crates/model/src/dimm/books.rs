//! What the buffer device counts.

use serde::{Deserialize, Serialize};

/// What the buffer device has done since the last reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimmCounters {
    /// Reads of the host (XRD).
    pub reads: u64,
    /// Those that nCache had, and those for which it waited for a line that was on its way to it.
    pub hits: u64,
    /// See `hits`.
    pub late: u64,
    /// Of the hits: first lines of packets.
    pub first: u64,
    /// Reads of clones of packets, and those that it had to read from memory for.
    pub packet_reads: u64,
    /// See `packet_reads`.
    pub packet_misses: u64,
    /// Lines that the prefetcher has read.
    pub prefetches: u64,
    /// Lines that the host has written.
    pub writes: u64,
    /// Lines that the NIC has written, and read.
    pub dma_written: u64,
    /// See `dma_written`.
    pub dma_read: u64,
    /// Clones of rows in a sub-array, between banks, and through the buffer device.
    pub clones: [u64; 3],
    /// Requests of the NIC that have gone before one of the host at most.
    pub passed_max: u64,
    /// Packets that the NIC has written.
    pub bursts: u64,
    /// From the first line of each of these until the memory controllers have its last, in ps.
    pub burst_ps: u64,
    /// Lines of them.
    pub burst_lines: u64,
}
