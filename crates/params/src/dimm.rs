//! Parameters of a NIC in the buffer device of a DIMM.

use super::MemoryParams;
use serde::{Deserialize, Serialize};

/// Buffer device of a DIMM with a NIC in it, and its memory: a node without cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DimmParams {
    /// Channel of the socket that the DIMM is plugged into, with subchannels counted.
    pub channel: u32,
    /// Local memory of the DIMM: one channel with consecutive lines in each row.
    pub memory: MemoryParams,
    /// Time from a command on the host's channel to the buffer device, in ps (tCMD); at least 1.
    pub command_ps: u64,
    /// Reads of the host that may be in progress, each with a request id; at least 1.
    pub ids: u32,
    /// Writes of the host that may be in flight to the DIMM's memory controllers; at least 1.
    pub writes: u32,
    /// Lines of the DMA engine that may be in flight to the DIMM's memory controllers, and as many from them; at least
    /// 1.
    pub dma_lines: u32,
    /// Latency from the buffer device to its memory controllers, and of the way back, in ps; at least 1.
    pub device_ps: u64,
    /// Requests of the NIC that may go ahead of a waiting request of the host; at least 1.
    pub nic_turns: u32,
    /// The cache of the buffer device.
    pub ncache: NCacheParams,
    /// Costs of cloning rows.
    pub clone: CloneParams,
    /// Behaviour of the driver.
    pub driver: DimmDriverParams,
}

/// Cache of the buffer device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NCacheParams {
    /// Sets; 0 = no cache.
    pub sets: u32,
    /// Ways, 1 to 64.
    pub ways: u32,
    /// Latency of a lookup with its data, in ps; at least 1.
    pub hit_ps: u64,
    /// Lines that the prefetcher reads after an access.
    pub prefetch: u32,
    /// True if the first line of each packet is written to the cache.
    pub header: bool,
}

/// Times of cloning rows (RowClone).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloneParams {
    /// Time to clone a row to another row of its sub-array, whatever its length, in ps; at least 1.
    pub fpm_ps: u64,
    /// Time to clone 4 KiB to another bank of the rank, in ps; at least 1.
    pub psm_ps: u64,
    /// Time to clone 4 KiB to any other place, through the buffer device, in ps; at least 1.
    pub gcm_ps: u64,
    /// Sub-arrays of a bank, numbered by the lowest bits of a row; a power of two below the number of rows.
    pub subarrays: u32,
}

/// Behaviour of the driver of the NIC in a DIMM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimmDriverParams {
    /// Time of the instruction that flushes or invalidates a line, in ps.
    pub flush_ps: u64,
    /// True if data to be sent is cloned into a DMA buffer, false if descriptors point at the original.
    pub clone: bool,
    /// True if applications copy data to and from the network buffers, as with other NICs.
    pub copy: bool,
}
