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

/// The ways between the sockets of a server (UPI, before Skylake QPI): one between each two. They take part when there
/// are several sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketsSpec {
    /// Links between each two sockets, whose bandwidths and credits add up.
    #[schemars(range(min = 1, max = 16))]
    pub links: u32,
    /// What one link is like.
    pub link: UpiSpec,
    /// Whether memory reads a line as soon as another socket asks for it, while the caches there are looked up.
    pub speculative: bool,
    /// Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory).
    pub directory: bool,
    /// How the home of a line learns what the caches of other sockets have of it; "directory" when absent.
    #[serde(default, skip_serializing_if = "SnoopSpec::is_default")]
    pub snoop: SnoopSpec,
    /// What a device's write to the LLC (DDIO) does with a line of another socket: "memory" writes it there, as
    /// processors do; "device" keeps it in the LLC of the device's socket, "home" in that of the line's.
    #[serde(default)]
    pub ddio: RemoteDdioSpec,
    /// Request buffer entries of a CHA slice that lines of other sockets may hold at most; half of `cha.tor.entries`
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1023))]
    pub tor_entries: Option<u32>,
}

/// How the home of a line learns what the caches of other sockets have of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SnoopSpec {
    /// It knows, and asks those that have something.
    #[default]
    Directory,
    /// It asks all others about every read that its memory answers, while memory reads, and waits for their answers.
    Home,
}

impl SnoopSpec {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What DDIO does with lines of another socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RemoteDdioSpec {
    /// To memory.
    #[default]
    Memory,
    /// To the LLC of the device's socket.
    Device,
    /// To the LLC of the line's socket.
    Home,
}

/// What a socket has of its own; the tables of the server hold for what is not given.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketSpec {
    /// The cores and their line fill buffers.
    pub core: CoreSpec,
    /// The caching and home agents.
    pub cha: ChaSpec,
    /// The caches.
    pub cache: CacheSpec,
    /// The L2 prefetchers of every core.
    pub prefetch: PrefetchSpec,
    /// Direct cache access of the drives.
    pub ddio: DdioSpec,
    /// The memory controllers and their DRAM.
    pub memory: MemorySpec,
    /// The integrated IO controller.
    pub iio: IioSpec,
    /// The PCIe links between the drives and the IIO. The lanes are shared out evenly among the drives.
    pub pcie: PcieSpec,
    /// The NVMe drives.
    pub ssd: SsdSpec,
}

impl SocketSpec {
    /// Its tables.
    pub const TABLES: [&str; 9] = ["core", "cha", "cache", "prefetch", "ddio", "memory", "iio", "pcie", "ssd"];
}

/// Coherence and UPI between the sockets of a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterSocketParams {
    /// UPI link between each two sockets.
    pub upi: UpiParams,
    /// True if memory reads speculatively for every request of a remote socket.
    pub speculative: bool,
    /// True if the home snoops all other sockets on every read that memory serves, and waits for their answers.
    pub broadcast: bool,
    /// True if a line that becomes dirty at a remote socket causes a directory write to memory.
    pub directory: bool,
    /// TOR entries of a slice that lines homed on remote sockets may hold at most.
    pub tor_entries: u32,
    /// Destination of DDIO writes to lines of a remote socket.
    pub ddio: RemoteDdio,
}

/// Destination of a device's write to a line of a remote socket, if DDIO applies to the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RemoteDdio {
    /// The memory of the line's socket, as processors do.
    Memory,
    /// The LLC of the device's socket.
    Device,
    /// The LLC of the line's socket.
    Home,
}
