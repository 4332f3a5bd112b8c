//! What a machine is made of: every parameter the parts read, resolved to picoseconds, clocks and counts.
//!
//! `config` makes these from what the user wrote; nothing here has a default.

mod app;
mod cache;
mod compress;
mod congestion;
mod die;
mod dimm;
mod energy;
mod expander;
mod fluid;
mod gradients;
mod job;
mod line_size;
mod mcn;
mod memory;
mod net_host;
mod network;
mod packets;
mod pool;
mod power;
mod service;
mod space;
mod switch;
mod workload;
mod written;

pub use app::*;
pub use cache::*;
pub use compress::*;
pub(crate) use congestion::for_each_control;
pub use congestion::{CongestionControl, ControlKind};
pub use die::*;
pub use dimm::*;
pub use energy::*;
pub use expander::*;
pub use fluid::*;
pub use gradients::*;
pub use job::*;
pub use line_size::*;
pub use mcn::*;
pub use memory::*;
pub use net_host::*;
pub use network::*;
pub use packets::{ForwardParams, Function, PacketsParams};
pub use pool::*;
pub use power::*;
pub use service::*;
pub use space::*;
pub use switch::*;
pub use workload::*;
pub use written::*;

use serde::{Deserialize, Serialize};

/// One server and what runs on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerParams {
    /// Its sockets, at least one. Workloads number cores and drives through them, those of the first socket first; a
    /// client and its server are on one socket.
    pub sockets: Vec<SocketParams>,
    /// The ways between them, if there are several that know each other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upi: Option<SocketsParams>,
    /// Whether each drive has a path to every socket.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub octo_drives: bool,
    /// What runs on the server. The index of a workload is its class in every domain.
    pub workloads: Vec<Workload>,
    /// What network traffic costs the cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackParams>,
    /// What watches the host and throttles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlParams>,
    /// What its parts consume; `None` = no meter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Box<EnergyParams>>,
    /// Frequencies and sleep of its cores; `None` = they have one frequency and do not sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Box<PowerParams>>,
    /// How its NIC holds interrupts back by a clock of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<ModerationParams>,
    /// What its NIC, or the driver of that, tells the power management.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ncap: Option<Box<NcapParams>>,
    /// Seed of every random stream of the run.
    pub seed: u64,
}

/// One socket: its cores, its memory, and the devices that hang off it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SocketParams {
    /// The cores and their line fill buffers.
    pub core: CoreParams,
    /// The caching and home agents.
    pub cha: ChaParams,
    /// The caches; `None` = every access of a stream misses them, as in a buffer much larger than they are.
    pub cache: Option<CacheParams>,
    /// The memory controllers and their DRAM.
    pub memory: MemoryParams,
    /// The integrated IO controller.
    pub iio: IioParams,
    /// The PCIe links between devices and the IIO.
    pub pcie: PcieParams,
    /// The NVMe drives.
    pub ssd: SsdParams,
    /// The NIC; its PCIe link follows those of the drives. A server has one at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicParams>,
    /// Cores of other sockets with memory on this one; of those sockets there is nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteParams>,
    /// Memory behind a link; a node of its own, whose number follows those of the sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expander: Option<Box<ExpanderParams>>,
    /// The interfaces of a memory channel network, if it is on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcn: Option<Box<McnParams>>,
    /// The DIMM with the NIC in it; a node of its own in the place of an expander.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimm: Option<Box<DimmParams>>,
    /// Memory of other servers, and what it lends to them; a node of its own, whose number follows that of the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Box<PoolParams>>,
    /// Where its parts lie; `None` = the ways between them are as long for all, and carry whatever comes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<DieParams>,
}

impl SocketParams {
    /// The memory of the node without cores that hangs off it, if there is one.
    #[must_use]
    pub fn far_memory(&self) -> Option<&MemoryParams> {
        let dimm = self.dimm.as_ref().map(|dimm| &dimm.memory);
        dimm.or_else(|| self.expander.as_ref().map(|expander| &expander.memory))
    }
}

impl ServerParams {
    /// The socket that stands for the server where one is spoken of, as in predictions, explanations and reports, and
    /// whose memory may have rates: the first.
    ///
    /// # Panics
    /// If the server has no socket; the configuration has seen to that.
    #[must_use]
    pub fn socket(&self) -> &SocketParams {
        self.sockets.first().expect("a server has a socket")
    }

    /// As [`ServerParams::socket`], to change it.
    ///
    /// # Panics
    /// If the server has no socket.
    pub fn socket_mut(&mut self) -> &mut SocketParams {
        self.sockets.first_mut().expect("a server has a socket")
    }

    /// The NIC, whichever socket it hangs off.
    #[must_use]
    pub fn nic(&self) -> Option<&NicParams> {
        self.sockets.iter().find_map(|socket| socket.nic.as_ref())
    }

    /// The links of the functions of the NIC and their sockets, the first function first.
    pub fn nic_links(&self) -> impl Iterator<Item = (u8, &PcieParams)> {
        let at = (0..).zip(&self.sockets).find_map(|(number, socket)| Some((number, socket.nic.as_ref()?)));
        at.into_iter().flat_map(|(socket, nic)| {
            let others = nic.functions.iter().map(|function| (function.socket, &function.pcie));
            std::iter::once((socket, &nic.pcie)).chain(others)
        })
    }

    /// The drives with a link to the IIO of a socket, in the order of the links: its own, then those of others that
    /// have a path to every socket. Each is told by its socket and its number there.
    #[must_use]
    pub fn drives_at(&self, socket: u8) -> Vec<(u8, u32)> {
        let of = |number: u8| (0..self.sockets[usize::from(number)].ssd.count).map(move |index| (number, index));
        let others = (0..self.sockets.len() as u8).filter(|&other| self.octo_drives && other != socket);
        of(socket).chain(others.flat_map(of)).collect()
    }

    /// Of those: whether their writes go to the LLC. Empty without caches.
    #[must_use]
    pub fn ddio_at(&self, socket: u8) -> Vec<bool> {
        let puts = |(number, index): (u8, u32)| {
            let cache = self.sockets[usize::from(number)].cache.as_ref()?;
            Some(cache.ddio.drives.get(index as usize) == Some(&true))
        };
        self.drives_at(socket).into_iter().filter_map(puts).collect()
    }
}

/// One core: where the credits of C2M-Read and C2M-Write live.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreParams {
    /// Cores of the socket.
    pub count: u32,
    /// Line fill buffer entries per core.
    pub lfb_entries: u32,
    /// Mean time between the release of an entry and its next allocation, in ps.
    pub refill_ps: u64,
    /// Half the range of that time, in ps.
    pub refill_spread_ps: u64,
    /// Least time between two allocations of one core, in ps.
    pub issue_ps: u64,
    /// From the core to the CHA, in ps.
    pub to_cha_ps: u64,
    /// From the CHA to the core, in ps.
    pub from_cha_ps: u64,
    /// From the CHA's admission of a write-back to the release of the LFB entry, in ps.
    pub write_ack_ps: u64,
    /// Dirty lines of one core that wait for eviction; one of them, drawn at random, leaves per store miss.
    /// Without meaning when there are caches.
    pub dirty_pool_lines: u32,
    /// Instructions that a core may have in flight (reorder buffer): how far it runs ahead of an access without data.
    pub rob: u32,
}

/// The caching and home agents of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChaParams {
    /// Slices; a line belongs to one by a hash of its address.
    pub slices: u32,
    /// Request buffer (TOR) entries per slice, shared by reads and writes.
    pub tor_entries: u32,
    /// Of those, entries that writes of cores may hold at most; reads and IIO have the rest to themselves.
    pub tor_write_entries: u32,
    /// From admission of a read to its arrival at the memory controller, in ps.
    pub read_to_mc_ps: u64,
    /// From the last data beat on the channel to the CHA, in ps.
    pub from_mc_ps: u64,
    /// From admission of a core's write-back to its arrival at the memory controller, in ps.
    pub core_write_to_mc_ps: u64,
    /// From admission of an IIO write to its arrival at the memory controller, in ps.
    pub io_write_to_mc_ps: u64,
    /// From the memory controller's acceptance of a write to the CHA, in ps.
    pub write_ack_ps: u64,
}

/// The integrated IO controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IioParams {
    /// Write buffer entries (lines): the credits of P2M-Write.
    pub write_credits: u32,
    /// Read buffer entries (lines): the credits of P2M-Read.
    pub read_credits: u32,
    /// From allocation of a write entry to the CHA, in ps.
    pub write_to_cha_ps: u64,
    /// From the CHA's acknowledgement to the release of a write entry, in ps.
    pub write_ack_ps: u64,
    /// From allocation of a read entry to the CHA, in ps.
    pub read_to_cha_ps: u64,
    /// From data at the CHA to the release of a read entry, in ps.
    pub read_return_ps: u64,
    /// Mean time the IIO needs per line on its way into the processor interconnect, in ps.
    pub line_ps: u64,
    /// Half the range of that time, in ps.
    pub line_spread_ps: u64,
    /// Whether writes of a link may pass each other. Otherwise all leave their entries in the order in which they came,
    /// whatever their device asks for.
    pub relaxed_ordering: bool,
}

/// A PCIe link per device: how many bytes it moves, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PcieParams {
    /// Raw bytes per second and direction of the link of one device, after line coding.
    pub bytes_per_s: u64,
    /// Maximum payload size in bytes.
    pub mps_bytes: u32,
    /// Maximum read request size in bytes.
    pub mrrs_bytes: u32,
    /// Framing, sequence number, header and LCRC of a memory write, in bytes.
    pub write_overhead_bytes: u32,
    /// The same of a memory read request.
    pub read_overhead_bytes: u32,
    /// The same of a completion with data.
    pub completion_overhead_bytes: u32,
    /// Share of the link spent on data-link packets and skip sequences, in units of 2^-16.
    pub dllp_share: u32,
    /// Latency of the link and its two endpoints in one direction, in ps.
    pub latency_ps: u64,
    /// Posted-data credits of one link, in lines: lines that the device may have on the link or waiting at the IIO.
    pub posted_lines: u32,
    /// Reads one device may have outstanding, in lines (tags times MRRS).
    pub nonposted_lines: u32,
}

/// NVMe drives. All drives of a server are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdParams {
    /// How many.
    pub count: u32,
    /// Bytes per second of one drive, reading from it (P2M-Write).
    pub read_bytes_per_s: u64,
    /// Bytes per second of one drive, writing to it (P2M-Read).
    pub write_bytes_per_s: u64,
    /// From submission of a command to its first data, in ps.
    pub latency_ps: u64,
    /// Commands that a drive holds.
    pub queue_depth: u32,
    /// Open commands that a drive serves at a time, TLP by TLP, round robin.
    pub streams: u32,
    /// Largest transfer of one NVMe request in bytes; the kernel does its work request by request.
    pub max_transfer_bytes: u64,
}
