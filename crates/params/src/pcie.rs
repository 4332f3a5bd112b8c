//! Keys and parameters of the PCIe links.

use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest `pcie.lanes`.
pub const LANES_MAX: u32 = 1024;

/// PCIe links of the drives. The lanes are divided evenly among the drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PcieSpec {
    /// Generation (1 to 6).
    #[schemars(range(min = 1, max = 6))]
    pub generation: u32,
    /// Total number of lanes of all drives. Each drive has the largest of 1, 2, 4, 8 or 16 lanes that its share allows.
    #[schemars(range(min = 1, max = LANES_MAX))]
    pub lanes: u32,
    /// Maximum payload size, MPS (size): 128 B to 4 KiB, a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub mps: Size,
    /// Maximum read request size, MRRS (size): 128 B to 4 KiB, a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub mrrs: Size,
    /// Framing, sequence number, header and checksum of a memory write (size).
    #[schemars(extend("x-max" = "256 B"))]
    pub write_overhead: Size,
    /// Framing, sequence number, header and checksum of a memory read request (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "256 B"))]
    pub read_overhead: Size,
    /// Framing, sequence number, header and checksum of a completion with data (size).
    #[schemars(extend("x-max" = "256 B"))]
    pub completion_overhead: Size,
    /// Share of the link spent on data-link packets and skip sequences (0 to 0.5).
    #[schemars(range(min = 0.0, max = 0.5))]
    pub dllp_share: f64,
    /// Latency of the link and its two ends in one direction (time).
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 ms"))]
    pub latency: Time,
    /// Lines that one drive may have on the link or waiting at the IIO for writing to memory: posted-data credits. At
    /// least `mps`.
    #[schemars(range(min = 2, max = 65536))]
    pub posted_lines: u32,
    /// Lines that one drive may have requested from memory: tags times `mrrs`. At least `mrrs`.
    #[schemars(range(min = 2, max = 65536))]
    pub nonposted_lines: u32,
}

/// PCIe link between a device and the IIO: bandwidth, overheads, latency and credits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PcieParams {
    /// Raw bandwidth of one device's link per direction, after line coding, in bytes per second.
    pub bytes_per_s: u64,
    /// Maximum payload size in bytes.
    pub mps_bytes: u32,
    /// Maximum read request size in bytes.
    pub mrrs_bytes: u32,
    /// Framing, sequence number, header and LCRC of a memory write, in bytes.
    pub write_overhead_bytes: u32,
    /// Framing, sequence number, header and LCRC of a memory read request, in bytes.
    pub read_overhead_bytes: u32,
    /// Framing, sequence number, header and LCRC of a completion with data, in bytes.
    pub completion_overhead_bytes: u32,
    /// Share of the link spent on data-link packets (DLLPs) and skip sequences, in units of 2^-16.
    pub dllp_share: u32,
    /// Latency of the link and its two endpoints in one direction, in ps.
    pub latency_ps: u64,
    /// Posted-data credits of one link, in lines: lines that the device may have on the link or waiting at the IIO.
    pub posted_lines: u32,
    /// Reads that one device may have outstanding, in lines (tags times MRRS).
    pub nonposted_lines: u32,
}
