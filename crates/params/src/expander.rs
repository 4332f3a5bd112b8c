//! Keys and parameters of memory behind a CXL link.

use super::memory::MemoryParams;
use super::values::{MemorySize, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory behind a CXL link: a node without cores, whose number follows those of the sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpanderSpec {
    /// PCIe generation of the link's physical layer (1 to 6).
    #[serde(default = "generation_5")]
    #[schemars(range(min = 1, max = 6))]
    pub generation: u32,
    /// Lanes: 1, 2, 4, 8 or 16.
    #[serde(default = "lanes_8")]
    #[schemars(range(min = 1, max = 16), extend("x-power-of-two" = true))]
    pub lanes: u32,
    /// Latency of the link and its two ends in one direction (time).
    #[serde(default = "latency_40_ns")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub latency: Time,
    /// Latency between the end of the link and the memory controllers of the device in each direction (time).
    #[serde(default = "controller_20_ns")]
    #[schemars(extend("x-min" = "2 ps", "x-max" = "10 us"))]
    pub controller: Time,
    /// Reads that the host may have outstanding at the device.
    #[serde(default = "credits_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub read_credits: u32,
    /// Writes that the host may have outstanding at the device.
    #[serde(default = "credits_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub write_credits: u32,
    /// DRAM device on every channel, by its name.
    #[serde(default = "device_ddr5")]
    pub device: String,
    /// Channels of the device.
    #[serde(default = "channels_1")]
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
    /// Memory in use (size), or "all" for the capacity of the channels.
    #[serde(default = "all")]
    #[schemars(extend("x-min" = "64 KiB", "x-max" = "64 TiB"))]
    pub size: MemorySize,
}

fn generation_5() -> u32 {
    5
}

fn lanes_8() -> u32 {
    8
}

fn latency_40_ns() -> Time {
    Time(40_000)
}

fn controller_20_ns() -> Time {
    Time(20_000)
}

fn credits_256() -> u32 {
    256
}

fn device_ddr5() -> String {
    "DDR5_4800".to_owned()
}

fn channels_1() -> u32 {
    1
}

fn all() -> MemorySize {
    MemorySize::All
}

/// Memory expander: memory behind a CXL link, a node without cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpanderParams {
    /// Bandwidth of the link in each direction that is left for message slots, in bytes per second.
    pub bytes_per_s: u64,
    /// Latency of the link with both of its ends in one direction, in ps.
    pub latency_ps: u64,
    /// Bytes of a message without data.
    pub request_bytes: u32,
    /// Bytes of a message with a line of data.
    pub data_bytes: u32,
    /// Reads that the host may have outstanding at the expander.
    pub read_credits: u32,
    /// Writes that the host may have outstanding at the expander.
    pub write_credits: u32,
    /// Latency between the end of the link and the memory controllers in each direction, in ps; at least 1.
    pub device_ps: u64,
    /// Memory of the expander.
    pub memory: MemoryParams,
}
