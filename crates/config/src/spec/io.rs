//! The integrated IO controller, PCIe and the drives.

use super::drives::{DriveSockets, SsdModeSpec};
use super::values::{Bandwidth, Size, Time};
use hostnet_model::params::IioParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The integrated IO controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct IioSpec {
    /// Write buffer entries: the credits of P2M-Write (lines).
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) write_credits: u32,
    /// Read buffer entries: the credits of P2M-Read (lines).
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) read_credits: u32,
    /// From allocation of a write entry to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) write_to_cha: Time,
    /// From the CHA's acknowledgement to the release of a write entry (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) write_ack: Time,
    /// From allocation of a read entry to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) read_to_cha: Time,
    /// From data at the CHA to the release of a read entry (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub(crate) read_return: Time,
    /// Mean time per line on the way into the processor interconnect, one line after the other (time).
    #[schemars(extend("x-max" = "1 us"))]
    pub(crate) line: Time,
    /// Half the range of that time as a share of it (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) line_jitter: f64,
    /// Whether writes of a link may pass each other, if their device asks for it (PCIe relaxed ordering).
    #[serde(default = "yes")]
    pub(crate) relaxed_ordering: bool,
}

fn yes() -> bool {
    true
}

impl IioSpec {
    /// What the part reads.
    pub(crate) fn params(&self) -> IioParams {
        IioParams {
            write_credits: self.write_credits,
            read_credits: self.read_credits,
            write_to_cha_ps: self.write_to_cha.0,
            write_ack_ps: self.write_ack.0,
            read_to_cha_ps: self.read_to_cha.0,
            read_return_ps: self.read_return.0,
            line_ps: self.line.0,
            line_spread_ps: self.line.spread_ps(self.line_jitter),
            relaxed_ordering: self.relaxed_ordering,
        }
    }
}

/// Largest `pcie.lanes`.
pub(crate) const LANES_MAX: u32 = 1024;

/// The PCIe links. The lanes are shared out evenly among the drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PcieSpec {
    /// Generation (1 to 6).
    #[schemars(range(min = 1, max = 6))]
    pub(crate) generation: u32,
    /// Lanes of all drives together. Each drive has the largest of 1, 2, 4, 8 or 16 lanes that its share allows.
    #[schemars(range(min = 1, max = LANES_MAX))]
    pub(crate) lanes: u32,
    /// Maximum payload size, MPS (size): 128 B to 4 KiB, a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub(crate) mps: Size,
    /// Maximum read request size, MRRS (size): 128 B to 4 KiB, a power of two.
    #[schemars(extend("x-min" = "128 B", "x-max" = "4 KiB", "x-power-of-two" = true))]
    pub(crate) mrrs: Size,
    /// Framing, sequence number, header and checksum of a memory write (size).
    #[schemars(extend("x-max" = "256 B"))]
    pub(crate) write_overhead: Size,
    /// The same of a memory read request (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "256 B"))]
    pub(crate) read_overhead: Size,
    /// The same of a completion with data (size).
    #[schemars(extend("x-max" = "256 B"))]
    pub(crate) completion_overhead: Size,
    /// Share of the link spent on data-link packets and skip sequences (0 to 0.5).
    #[schemars(range(min = 0.0, max = 0.5))]
    pub(crate) dllp_share: f64,
    /// Latency of the link and its two ends in one direction (time).
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 ms"))]
    pub(crate) latency: Time,
    /// Lines that one drive may have on the link or waiting at the IIO for writing to memory: posted-data credits. At
    /// least `mps`.
    #[schemars(range(min = 2, max = 65536))]
    pub(crate) posted_lines: u32,
    /// Lines that one drive may have requested from memory: tags times `mrrs`. At least `mrrs`.
    #[schemars(range(min = 2, max = 65536))]
    pub(crate) nonposted_lines: u32,
}

/// The NVMe drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SsdSpec {
    /// How many; with several sockets on each, or in all where `ssd.sockets` says where they are.
    #[schemars(range(min = 1, max = 64))]
    pub(crate) count: u32,
    /// The socket that the drives hang off: one number for all, or a list with that of each, ascending, such as [0, 0,
    /// 1, 1]; every socket has `count` drives when absent. Drives are numbered in this order; each has as many lanes as
    /// it would among all of them on one socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sockets: Option<DriveSockets>,
    /// Which ways the drives have to memory: "standard", by the socket that they hang off; "octo", a path to every
    /// socket, each as wide as the one of a standard drive, and data go by that of the memory that they are in;
    /// "standard" when absent.
    #[serde(default, skip_serializing_if = "SsdModeSpec::is_default")]
    pub(crate) mode: SsdModeSpec,
    /// Bandwidth of one drive in both directions (bandwidth): short for `read_bandwidth` and `write_bandwidth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub(crate) bandwidth: Option<Bandwidth>,
    /// Bandwidth of one drive for reading from it: P2M-Write (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub(crate) read_bandwidth: Option<Bandwidth>,
    /// Bandwidth of one drive for writing to it: P2M-Read (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub(crate) write_bandwidth: Option<Bandwidth>,
    /// From submission of a command to its first data (time).
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) latency: Time,
    /// Commands that a drive holds.
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) queue_depth: u32,
    /// Largest transfer of one NVMe request (size), a power of two; the kernel does its work request by request.
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub(crate) max_transfer: Size,
    /// Open commands that a drive serves at a time, TLP by TLP, round robin.
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) streams: u32,
}

/// What storage IO costs beyond its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FioCostSpec {
    /// Lines that the drive moves by DMA beyond the data, per 4 KiB of data (0 to 64).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub(crate) dma_lines_per_page: f64,
    /// Lines of its own structures that the kernel touches per 4 KiB of data (0 to 64).
    #[schemars(range(min = 0.0, max = 64.0))]
    pub(crate) kernel_lines_per_page: f64,
    /// Share of those lines that it only reads (0 to 1); the others are read and written.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) kernel_loads: f64,
}
