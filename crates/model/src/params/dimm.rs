//! A NIC in the buffer device of a DIMM.

use super::MemoryParams;
use serde::{Deserialize, Serialize};

/// The buffer device of a DIMM with a NIC in it, and its memory: a node without cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DimmParams {
    /// The channel of the socket that it is plugged into, counted with its subchannels.
    pub channel: u32,
    /// Its local memory: one channel whose rows hold consecutive lines.
    pub memory: MemoryParams,
    /// From a command on the host's channel until it is in the buffer device, in ps (tCMD); at least 1.
    pub command_ps: u64,
    /// Reads of the host that it may work on, each with a request id; at least 1.
    pub ids: u32,
    /// Writes of the host that may be on their way to its memory controllers; at least 1.
    pub writes: u32,
    /// Lines that its DMA engine may have on their way to its memory controllers, and as many from there; at least 1.
    pub dma_lines: u32,
    /// From the buffer device to its memory controllers, in ps; as long back, at least 1.
    pub device_ps: u64,
    /// Requests of the NIC that go before a request of the host that waits; at least 1.
    pub nic_turns: u32,
    /// The cache of the buffer device.
    pub ncache: NCacheParams,
    /// What a clone takes.
    pub clone: CloneParams,
    /// What the driver does.
    pub driver: DimmDriverParams,
}

/// The cache of the buffer device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NCacheParams {
    /// Sets; 0: there is no cache.
    pub sets: u32,
    /// Ways, 1 to 64.
    pub ways: u32,
    /// A look into it, and its data, in ps; at least 1.
    pub hit_ps: u64,
    /// Lines that the prefetcher reads after an access.
    pub prefetch: u32,
    /// Whether the first line of each packet is written to it.
    pub header: bool,
}

/// What a clone of rows takes (RowClone).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloneParams {
    /// A row to another of its sub-array, whatever its length, in ps; at least 1.
    pub fpm_ps: u64,
    /// 4 KiB to another bank of the rank, in ps; at least 1.
    pub psm_ps: u64,
    /// 4 KiB anywhere else, through the buffer device, in ps; at least 1.
    pub gcm_ps: u64,
    /// Sub-arrays of a bank: the lowest bits of its rows, a power of two below their number.
    pub subarrays: u32,
}

/// What the driver of the NIC does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimmDriverParams {
    /// The instruction that flushes or invalidates a line, in ps.
    pub flush_ps: u64,
    /// Whether data is cloned into a DMA buffer to be sent; else descriptors point at it.
    pub clone: bool,
    /// Whether applications copy data to and from the buffers of the network as elsewhere.
    pub copy: bool,
}
