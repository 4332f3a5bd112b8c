//! Parameters of a machine: every value that its parts read, resolved to picoseconds, clocks and counts.
//!
//! The crate `config` makes them from the user's configuration. No parameter has a default here.

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
pub use congestion::CongestionControl;
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
pub use packets::{ForwardFunction, ForwardParams, PacketsParams};
pub use pool::*;
pub use power::*;
pub use service::*;
pub use space::*;
pub use switch::*;
pub use workload::*;
pub use written::*;

use serde::{Deserialize, Serialize};

/// One server and the workloads that run on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ServerParams {
    /// Sockets of the server, at least one. Workloads number cores and drives across the sockets, those of the first
    /// socket first. A Redis client and its server are on one socket.
    pub sockets: Vec<SocketParams>,
    /// UPI between the sockets, if there are several that are all simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upi: Option<InterSocketParams>,
    /// True if each drive has a path to every socket.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub octo_drives: bool,
    /// Workloads of the server. The index of a workload is its class in every domain.
    pub workloads: Vec<Workload>,
    /// Costs of network traffic on the cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackParams>,
    /// Controller that watches the host for congestion and throttles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlParams>,
    /// Power and energy of the parts; `None` = no energy meter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Box<EnergyParams>>,
    /// Frequencies and sleep of the cores; `None` = the cores have one frequency and do not sleep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<Box<PowerParams>>,
    /// Interrupt moderation of the NIC by a master timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moderation: Option<InterruptModerationParams>,
    /// Notifications from the NIC, or from its driver, to the power management (NCAP).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ncap: Option<Box<NcapParams>>,
    /// Seed of every random stream of the run.
    pub seed: u64,
}

/// One socket: its cores, its memory, and the devices attached to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SocketParams {
    /// The cores and their line fill buffers.
    pub core: CoreParams,
    /// The caching and home agents.
    pub cha: ChaParams,
    /// The caches; `None` = every access of a stream misses them, as in a buffer much larger than the caches.
    pub cache: Option<CacheParams>,
    /// The memory controllers and their DRAM.
    pub memory: MemoryParams,
    /// The integrated IO controller.
    pub iio: IioParams,
    /// The PCIe links between devices and the IIO.
    pub pcie: PcieParams,
    /// The NVMe drives.
    pub ssd: SsdParams,
    /// The NIC; its PCIe link follows those of the drives. A server has at most one NIC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicParams>,
    /// Cores of other sockets with memory on this one; nothing else of those sockets is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteParams>,
    /// Memory behind a CXL link: a node of its own, numbered after the sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expander: Option<Box<ExpanderParams>>,
    /// Interfaces to a memory channel network, if the socket is on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcn: Option<Box<McnParams>>,
    /// DIMM with a NIC in its buffer device: a node of its own, in the place of an expander.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimm: Option<Box<DimmParams>>,
    /// Memory borrowed from other servers, and memory lent to them: a node of its own, numbered after the socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<Box<PoolParams>>,
    /// Places of the parts on the die; `None` = all distances are equal, and the mesh has unlimited bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<DieParams>,
}

impl SocketParams {
    /// Returns the memory of the node without cores that is attached to the socket, if there is one.
    #[must_use]
    pub fn far_memory(&self) -> Option<&MemoryParams> {
        let dimm = self.dimm.as_ref().map(|dimm| &dimm.memory);
        dimm.or_else(|| self.expander.as_ref().map(|expander| &expander.memory))
    }
}

impl ServerParams {
    /// Returns the first socket. It stands for the server where only one socket is meant, as in predictions,
    /// explanations and reports; only its memory may be simulated as rates.
    ///
    /// # Panics
    /// Panics if the server has no socket, which the checks of the configuration rule out.
    #[must_use]
    pub fn socket(&self) -> &SocketParams {
        self.sockets.first().expect("a server has a socket")
    }

    /// Returns the first socket, as [`ServerParams::socket`], for changes.
    ///
    /// # Panics
    /// Panics if the server has no socket.
    pub fn socket_mut(&mut self) -> &mut SocketParams {
        self.sockets.first_mut().expect("a server has a socket")
    }

    /// Returns the NIC of the server, at any of its sockets.
    #[must_use]
    pub fn nic(&self) -> Option<&NicParams> {
        self.sockets.iter().find_map(|socket| socket.nic.as_ref())
    }

    /// Iterates over the sockets and PCIe links of the functions of the NIC, the first function first.
    pub fn nic_links(&self) -> impl Iterator<Item = (u8, &PcieParams)> {
        let at = (0..).zip(&self.sockets).find_map(|(number, socket)| Some((number, socket.nic.as_ref()?)));
        at.into_iter().flat_map(|(socket, nic)| {
            let others = nic.functions.iter().map(|function| (function.socket, &function.pcie));
            std::iter::once((socket, &nic.pcie)).chain(others)
        })
    }

    /// Returns the drives with a link to the IIO of a socket, in the order of the links: those attached to the
    /// socket, then those of other sockets that have a path to every socket. Each drive is given by its socket and
    /// its number there.
    #[must_use]
    pub fn drives_at(&self, socket: u8) -> Vec<(u8, u32)> {
        let of = |number: u8| (0..self.sockets[usize::from(number)].ssd.count).map(move |index| (number, index));
        let others = (0..self.sockets.len() as u8).filter(|&other| self.octo_drives && other != socket);
        of(socket).chain(others.flat_map(of)).collect()
    }

    /// Returns, for each drive of [`ServerParams::drives_at`], true if its writes go to the LLC. Empty without
    /// caches.
    #[must_use]
    pub fn ddio_at(&self, socket: u8) -> Vec<bool> {
        let puts = |(number, index): (u8, u32)| {
            let cache = self.sockets[usize::from(number)].cache.as_ref()?;
            Some(cache.ddio.drives.get(index as usize) == Some(&true))
        };
        self.drives_at(socket).into_iter().filter_map(puts).collect()
    }
}

/// Parameters of the cores of a socket, which hold the credits of C2M-Read and C2M-Write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoreParams {
    /// Cores of the socket.
    pub count: u32,
    /// Line fill buffer entries per core.
    pub lfb_entries: u32,
    /// Mean time between the release of an entry and its next allocation, in ps.
    pub refill_ps: u64,
    /// Half the range of that allocation gap, in ps.
    pub refill_spread_ps: u64,
    /// Least time between two allocations of one core, in ps.
    pub issue_ps: u64,
    /// Latency from the core to the CHA, in ps.
    pub to_cha_ps: u64,
    /// Latency from the CHA to the core, in ps.
    pub from_cha_ps: u64,
    /// Time from the CHA's admission of a write-back to the release of the LFB entry, in ps.
    pub write_ack_ps: u64,
    /// Dirty lines of one core that wait for eviction. Each store miss evicts one of them, drawn at random. Ignored
    /// if there are caches.
    pub dirty_pool_lines: u32,
    /// Instructions that a core may have in flight (reorder buffer). They bound how far the core runs ahead of an
    /// access without data.
    pub rob: u32,
}

/// The caching and home agents of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChaParams {
    /// Slices of the CHA; a hash of its address assigns a line to a slice.
    pub slices: u32,
    /// Request buffer (TOR) entries per slice, shared by reads and writes.
    pub tor_entries: u32,
    /// TOR entries that writes of cores may hold at most; the rest is reserved for reads and the IIO.
    pub tor_write_entries: u32,
    /// Time from admission of a read to its arrival at the memory controller, in ps.
    pub read_to_mc_ps: u64,
    /// Time from the last data beat on the channel to the CHA, in ps.
    pub from_mc_ps: u64,
    /// Time from admission of a core's write-back to its arrival at the memory controller, in ps.
    pub core_write_to_mc_ps: u64,
    /// Time from admission of an IIO write to its arrival at the memory controller, in ps.
    pub io_write_to_mc_ps: u64,
    /// Time from the memory controller's acceptance of a write to the CHA, in ps.
    pub write_ack_ps: u64,
}

/// The integrated IO controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IioParams {
    /// Write buffer entries (lines): the credits of P2M-Write.
    pub write_credits: u32,
    /// Read buffer entries (lines): the credits of P2M-Read.
    pub read_credits: u32,
    /// Time from allocation of a write entry to the CHA, in ps.
    pub write_to_cha_ps: u64,
    /// Time from the CHA's acknowledgement to the release of a write entry, in ps.
    pub write_ack_ps: u64,
    /// Time from allocation of a read entry to the CHA, in ps.
    pub read_to_cha_ps: u64,
    /// Time from data at the CHA to the release of a read entry, in ps.
    pub read_return_ps: u64,
    /// Mean service time of the IIO per line that it sends into the processor interconnect, in ps.
    pub line_ps: u64,
    /// Half the range of that service time, in ps.
    pub line_spread_ps: u64,
    /// True if writes of a link may pass each other. Otherwise all writes leave their entries in the order of their
    /// arrival, even if their device allows relaxed ordering.
    pub relaxed_ordering: bool,
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

/// NVMe drives of a socket, all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdParams {
    /// Number of drives.
    pub count: u32,
    /// Bandwidth of reads from one drive (P2M-Write), in bytes per second.
    pub read_bytes_per_s: u64,
    /// Bandwidth of writes to one drive (P2M-Read), in bytes per second.
    pub write_bytes_per_s: u64,
    /// Time from submission of a command to its first data, in ps.
    pub latency_ps: u64,
    /// Commands that a drive holds at most.
    pub queue_depth: u32,
    /// Commands that a drive serves at a time, TLP by TLP, round robin.
    pub streams: u32,
    /// Largest transfer of one NVMe request, in bytes; the kernel does its work per request.
    pub max_transfer_bytes: u64,
}
