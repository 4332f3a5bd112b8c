//! Keys and parameters of several sockets and the UPI between them.

use super::cache::{CacheSpec, DdioSpec, PrefetchSpec};
use super::cha::ChaSpec;
use super::core::CoreSpec;
use super::iio::IioSpec;
use super::memory::MemorySpec;
use super::pcie::PcieSpec;
use super::remote::{UpiParams, UpiSpec};
use super::ssd::SsdSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Links between the sockets of a server (UPI, before Skylake QPI): one between each two. They are simulated only with
/// several sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketsSpec {
    /// Number of links between each two sockets, whose bandwidths and credits add up.
    #[schemars(range(min = 1, max = 16))]
    pub links: u32,
    /// Bandwidth, latency and credits of one link.
    pub link: UpiSpec,
    /// True if memory reads a line speculatively as soon as another socket requests it, while the caches of the home
    /// socket are looked up.
    pub speculative: bool,
    /// True if a line that becomes dirty at another socket causes a directory write to memory.
    pub directory: bool,
    /// Snooping of the caches of other sockets by the home of a line; "directory" when absent.
    #[serde(default, skip_serializing_if = "SnoopSpec::is_default")]
    pub snoop: SnoopSpec,
    /// Destination of a device's write to the LLC (DDIO) if the line belongs to another socket: "memory", the memory of
    /// that socket, as on real processors; "device", the LLC of the device's socket; "home", the LLC of the line's
    /// socket.
    #[serde(default)]
    pub ddio: RemoteDdio,
    /// Maximum number of request buffer entries (TOR) of a CHA slice that lines of other sockets hold; half of
    /// `cha.tor.entries` when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1023))]
    pub tor_entries: Option<u32>,
}

/// Snooping of the caches of other sockets by the home of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnoopSpec {
    /// The home knows the sockets that have the line, and snoops only those.
    #[default]
    Directory,
    /// The home snoops all other sockets on every read that its memory answers, while memory reads, and waits for their
    /// answers.
    Home,
}

impl SnoopSpec {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Destination of DDIO writes to lines of another socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RemoteDdio {
    /// The memory of the line's socket.
    #[default]
    Memory,
    /// The LLC of the device's socket.
    Device,
    /// The LLC of the line's socket.
    Home,
}

/// Tables of one socket; absent values come from the tables of the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// Cores and their line fill buffers.
    pub core: CoreSpec,
    /// Caching and home agents.
    pub cha: ChaSpec,
    /// Caches of the socket.
    pub cache: CacheSpec,
    /// L2 prefetchers of every core.
    pub prefetch: PrefetchSpec,
    /// Direct cache access of the drives.
    pub ddio: DdioSpec,
    /// Memory controllers and their DRAM.
    pub memory: MemorySpec,
    /// Integrated IO controller.
    pub iio: IioSpec,
    /// PCIe links between the drives and the IIO. The lanes are divided evenly among the drives.
    pub pcie: PcieSpec,
    /// NVMe drives.
    pub ssd: SsdSpec,
}

impl SocketSpec {
    /// Names of the tables of a socket.
    pub const TABLES: [&str; 9] = ["core", "cha", "cache", "prefetch", "ddio", "memory", "iio", "pcie", "ssd"];
}

/// Coherence and UPI between the sockets of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterSocketParams {
    /// UPI link between each two sockets.
    pub upi: UpiParams,
    /// True if the home socket reads memory speculatively for every request from a remote socket.
    pub speculative: bool,
    /// True if the home snoops all other sockets on every read that memory serves, and waits for their answers.
    pub broadcast: bool,
    /// True if a line that becomes dirty at a remote socket causes a directory write to memory.
    pub directory: bool,
    /// Maximum number of TOR entries of a slice that lines homed on remote sockets hold.
    pub tor_entries: u32,
    /// Destination of DDIO writes to lines of a remote socket.
    #[serde(with = "super::variant")]
    pub ddio: RemoteDdio,
}
