//! Keys and parameters of a NIC in a DIMM.

use super::memory::MemoryParams;
use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// DIMM with a NIC in its buffer device. The memory of the DIMM is a NUMA node without cores, and the number of the
/// node follows that of the socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicDimmSpec {
    /// Channel of the socket that the DIMM is plugged into, with subchannels counted; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub channel: Option<u32>,
    /// DRAM of the DIMM, by the name of a device; "DDR4_2400" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Latency between the buffer device and its memory controllers in each direction (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 ps", "x-max" = "10 us"))]
    pub controller: Option<Time>,
    /// Bandwidth between the NIC and the memory controllers in each direction (bandwidth); "10.74 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub bandwidth: Option<Bandwidth>,
    /// Lines that the DMA engine may have in flight to memory, and as many from memory; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub dma_lines: Option<u32>,
    /// Requests of the NIC that may go ahead of a waiting request of the host; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub nic_turns: Option<u32>,
    /// Cache of the buffer device (nCache).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ncache: Option<NCacheSpec>,
    /// Times of cloning memory (RowClone).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<CloneSpec>,
    /// Asynchronous reads and writes of the host at the DIMM.
    #[serde(default, rename = "async", skip_serializing_if = "Option::is_none")]
    pub asynchronous: Option<AsyncSpec>,
    /// Behaviour of the driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub driver: Option<DimmDriverSpec>,
}

/// Cache of the buffer device of a DIMM (nCache).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NCacheSpec {
    /// Size of the cache (size), a power of two, "0 B" for none; "64 KiB" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "64 MiB"))]
    pub size: Option<Size>,
    /// Ways of the cache, a power of two; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("x-power-of-two" = true))]
    pub ways: Option<u32>,
    /// Latency of a lookup with its data (time); "2 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 us"))]
    pub hit: Option<Time>,
    /// Lines that the prefetcher reads after a line that the host has read; 4 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 63))]
    pub prefetch: Option<u32>,
    /// True if the first line of each packet is written to the cache; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub header: Option<bool>,
}

/// Times of cloning memory (RowClone).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CloneSpec {
    /// Time to clone a row to another row of its sub-array (time); "90 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub fpm: Option<Time>,
    /// Time to clone 4 KiB to another bank of the rank (time); "540 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub psm: Option<Time>,
    /// Time to clone 4 KiB to any other place, through the buffer device (time); "1.05 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub gcm: Option<Time>,
    /// Sub-arrays of a bank; 512 when absent, or fewer if the device has too few rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub subarrays: Option<u32>,
}

/// Asynchronous reads and writes of the host at a DIMM with a NIC.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AsyncSpec {
    /// Time from a command on the channel to the buffer device (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub cmd: Option<Time>,
    /// Request ids: reads of the host that may be in progress; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub ids: Option<u32>,
    /// Writes of the host that may be in flight to the DIMM's memory controllers; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub writes: Option<u32>,
}

/// Behaviour of the driver of a NIC in a DIMM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DimmDriverSpec {
    /// Time of the instruction that flushes or invalidates a line (time); "4 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 us"))]
    pub flush: Option<Time>,
    /// True if data is cloned into a DMA buffer before it is sent, false if the NIC reads the original; true when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clone: Option<bool>,
    /// True if cores copy datagrams between applications and the network buffers, false if applications use these
    /// buffers; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub copy: Option<bool>,
}

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
    /// Latency between the buffer device and its memory controllers in each direction, in ps; at least 1.
    pub device_ps: u64,
    /// Requests of the NIC that may go ahead of a waiting request of the host; at least 1.
    pub nic_turns: u32,
    /// Cache of the buffer device.
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
