//! A NIC in the buffer device of a DIMM.

use super::values::{Bandwidth, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The DIMM that a NIC sits in: its memory is a node without cores, whose number follows that of the socket.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NicDimmSpec {
    /// The channel of the socket that it is plugged into, counted with its subchannels; 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 255))]
    pub(crate) channel: Option<u32>,
    /// Its DRAM, by the name of a device; "DDR4_2400" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) device: Option<String>,
    /// From the buffer device to its memory controllers, and as long back (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "2 ps", "x-max" = "10 us"))]
    pub(crate) controller: Option<Time>,
    /// Bandwidth between the NIC and the memory controllers in each direction (bandwidth); "10.74 GB/s" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub(crate) bandwidth: Option<Bandwidth>,
    /// Lines that its DMA engine may have on their way to memory, and as many from there; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) dma_lines: Option<u32>,
    /// Requests of the NIC that go before a request of the host that waits; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) nic_turns: Option<u32>,
    /// The cache of the buffer device of the DIMM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) ncache: Option<NCacheSpec>,
    /// What clones of memory take (RowClone).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clone: Option<CloneSpec>,
    /// Reads and writes of the host at a DIMM that answers for itself.
    #[serde(default, rename = "async", skip_serializing_if = "Option::is_none")]
    pub(crate) asynchronous: Option<AsyncSpec>,
    /// What the driver does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) driver: Option<DimmDriverSpec>,
}

/// The cache of the buffer device of a DIMM.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NCacheSpec {
    /// Its size (size), a power of two, "0 B" for none; "64 KiB" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "64 MiB"))]
    pub(crate) size: Option<Size>,
    /// Its ways, a power of two; 8 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64), extend("x-power-of-two" = true))]
    pub(crate) ways: Option<u32>,
    /// A look into it, with its data (time); "2 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 us"))]
    pub(crate) hit: Option<Time>,
    /// Lines that are read after one that the host has read; 4 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 63))]
    pub(crate) prefetch: Option<u32>,
    /// Whether the first line of each packet is written to it; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) header: Option<bool>,
}

/// What clones of memory take (RowClone).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloneSpec {
    /// Clone of a row to another of its sub-array (time); "90 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub(crate) fpm: Option<Time>,
    /// Clone of 4 KiB to another bank of the rank (time); "540 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub(crate) psm: Option<Time>,
    /// Clone of 4 KiB anywhere else, through the buffer device (time); "1.05 us" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "1 ms"))]
    pub(crate) gcm: Option<Time>,
    /// Sub-arrays of a bank; 512 when absent, or fewer where the device has not the rows for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536), extend("x-power-of-two" = true))]
    pub(crate) subarrays: Option<u32>,
}

/// Reads and writes of the host at a DIMM that answers for itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AsyncSpec {
    /// From a command on the channel until it is in the buffer device (time); "5 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) cmd: Option<Time>,
    /// Request ids: reads of the host that it may work on; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) ids: Option<u32>,
    /// Writes of the host that may be on their way to its memory controllers; 64 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) writes: Option<u32>,
}

/// What the driver of a NIC in a DIMM does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DimmDriverSpec {
    /// The instruction that flushes or invalidates a line (time); "4 ns" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 us"))]
    pub(crate) flush: Option<Time>,
    /// Whether data is cloned before it is sent, or the NIC reads it where it was written; true when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) clone: Option<bool>,
    /// Whether cores copy datagrams between applications and the buffers of the network, or applications have them
    /// there; false when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) copy: Option<bool>,
}
