//! Servers of several sockets: the ways between them, and what each has of its own.

use super::{CacheSpec, ChaSpec, CoreSpec, DdioSpec, IioSpec, MemorySpec, PcieSpec, PrefetchSpec, SsdSpec, UpiSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The ways between the sockets of a server (UPI, before Skylake QPI): one between each two. They take part when there
/// are several sockets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SocketsSpec {
    /// Links between each two sockets, whose bandwidths and credits add up.
    #[schemars(range(min = 1, max = 16))]
    pub(crate) links: u32,
    /// What one link is like.
    pub(crate) link: UpiSpec,
    /// Whether memory reads a line as soon as another socket asks for it, while the caches there are looked up.
    pub(crate) speculative: bool,
    /// Whether a line that becomes dirty at another socket is noted in memory by a write of its own (directory).
    pub(crate) directory: bool,
    /// How the home of a line learns what the caches of other sockets have of it; "directory" when absent.
    #[serde(default, skip_serializing_if = "SnoopSpec::is_default")]
    pub(crate) snoop: SnoopSpec,
    /// What a device's write to the LLC (DDIO) does with a line of another socket: "memory" writes it there, as
    /// processors do; "device" keeps it in the LLC of the device's socket, "home" in that of the line's.
    #[serde(default)]
    pub(crate) ddio: RemoteDdioSpec,
    /// Request buffer entries of a CHA slice that lines of other sockets may hold at most; half of `cha.tor.entries`
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1023))]
    pub(crate) tor_entries: Option<u32>,
}

/// How the home of a line learns what the caches of other sockets have of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SnoopSpec {
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
pub(crate) enum RemoteDdioSpec {
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
pub(crate) struct SocketSpec {
    /// The cores and their line fill buffers.
    pub(crate) core: CoreSpec,
    /// The caching and home agents.
    pub(crate) cha: ChaSpec,
    /// The caches.
    pub(crate) cache: CacheSpec,
    /// The L2 prefetchers of every core.
    pub(crate) prefetch: PrefetchSpec,
    /// Direct cache access of the drives.
    pub(crate) ddio: DdioSpec,
    /// The memory controllers and their DRAM.
    pub(crate) memory: MemorySpec,
    /// The integrated IO controller.
    pub(crate) iio: IioSpec,
    /// The PCIe links between the drives and the IIO. The lanes are shared out evenly among the drives.
    pub(crate) pcie: PcieSpec,
    /// The NVMe drives.
    pub(crate) ssd: SsdSpec,
}

impl SocketSpec {
    /// Its tables.
    pub(crate) const TABLES: [&str; 9] = ["core", "cha", "cache", "prefetch", "ddio", "memory", "iio", "pcie", "ssd"];
}
