//! Keys and parameters of a server and its sockets.

use super::cache::{CacheParams, CacheSpec, DdioSpec, PrefetchSpec};
use super::cha::{ChaParams, ChaSpec};
use super::chiplets::ChipletsSpec;
use super::control::{ControlParams, ControlSpec};
use super::core::{CoreParams, CoreSpec};
use super::die::{DieParams, DieSpec};
use super::dimm::DimmParams;
use super::dma::{DmaParams, DmaSpec};
use super::energy::{EnergyParams, EnergySpec};
use super::expander::{ExpanderParams, ExpanderSpec};
use super::fidelity::Fidelity;
use super::iio::{IioParams, IioSpec};
use super::iommu::{IommuParams, IommuSpec};
use super::mcn::McnParams;
use super::memory::{MemoryParams, MemorySpec};
use super::ncap::{InterruptModerationParams, NcapParams};
use super::nic::{NicParams, NicSpec};
use super::pcie::{PcieParams, PcieSpec};
use super::pool::{PoolParams, PoolSpec};
use super::power::{PowerParams, PowerSpec};
use super::remote::{RemoteParams, RemoteSpec};
use super::run::RunSpec;
use super::sockets::{InterSocketParams, SocketSpec, SocketsSpec};
use super::ssd::{SsdParams, SsdSpec};
use super::stack::{StackParams, StackSpec};
use super::workload::{FioCostSpec, TieringParams, Workload, WorkloadSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Preset and sockets of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServerSpec {
    /// Preset that provides all absent values, by name as `hostnet list presets` shows it; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Number of sockets, each with the cores, caches, memory and drives of the tables of the server, or of its table
    /// "socket.N"; 1 when neither this key nor the preset sets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 8))]
    pub sockets: Option<u32>,
    /// Level of detail at which the server is simulated, where "fluid" is for servers on a network only; "line" when
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fidelity: Option<Fidelity>,
    /// Description of the server, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Reason why results of this server are not validated against measurements; shown with every result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unvalidated: Option<String>,
}

/// Server, its workloads and the length of its run: the content of a configuration file. Absent values come from the
/// preset that `server` names. Values with units are strings such as "70 ns", "46.9 GB/s" or "8 MiB" (GB = 10^9 bytes,
/// GiB = 2^30 bytes).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Preset and sockets of the server.
    #[serde(default)]
    pub server: ServerSpec,
    /// Cores and their line fill buffers.
    pub core: CoreSpec,
    /// Caching and home agents.
    pub cha: ChaSpec,
    /// Caches of the socket; a line has 64 B.
    pub cache: CacheSpec,
    /// L2 prefetchers of every core.
    pub prefetch: PrefetchSpec,
    /// Direct cache access of the drives (DDIO); simulated only with caches.
    pub ddio: DdioSpec,
    /// Memory controllers and their DRAM.
    pub memory: MemorySpec,
    /// Positions of the parts of a socket on a mesh, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noc: Option<DieSpec>,
    /// Chiplets of a socket, if its cores are on dies of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chiplets: Option<ChipletsSpec>,
    /// Memory behind a CXL link: a node without cores, numbered after the sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expander: Option<ExpanderSpec>,
    /// Memory borrowed from and lent to a pool over the network: a node without cores. It is simulated only if the
    /// server is a host of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSpec>,
    /// Integrated IO controller.
    pub iio: IioSpec,
    /// IOMMU, which translates the addresses of devices; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuSpec>,
    /// PCIe links between the drives and the IIO. The lanes are divided evenly among the drives.
    pub pcie: PcieSpec,
    /// NVMe drives, all alike.
    pub ssd: SsdSpec,
    /// Device that generates DMA. It is simulated only with a workload of kind "dma".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<DmaSpec>,
    /// Costs of storage IO beyond its data.
    pub fio: FioCostSpec,
    /// NIC of the server. It is simulated only if the server is a host of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicSpec>,
    /// Costs of network traffic on the cores: kernel, system calls and copies. They are simulated only if the server is
    /// a host of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stack: Option<StackSpec>,
    /// Other sockets, whose cores access the memory of this one over UPI. They are simulated only with a workload of
    /// kind "remote".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteSpec>,
    /// Links between the sockets of the server (UPI, before Skylake QPI), one between each two. They are simulated only
    /// with several sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upi: Option<SocketsSpec>,
    /// Tables of single sockets, by number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub socket: BTreeMap<String, SocketSpec>,
    /// Controller that watches the host and throttles. It is simulated only if the server is a host of a cluster, or
    /// with `control.side = "expander"`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<ControlSpec>,
    /// Energy consumption of the parts of the server; without it there is no energy meter. Absent values come from the
    /// profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<EnergySpec>,
    /// Frequencies, voltages and sleep states of the cores; without it they have one frequency and do not sleep. Absent
    /// values come from the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power: Option<PowerSpec>,
    /// Workloads of the server, by name.
    pub workload: BTreeMap<String, WorkloadSpec>,
    /// Name, seed, length and memory of the run.
    #[serde(default)]
    pub run: RunSpec,
}

/// Server and the workloads that run on it.
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

/// Socket: its cores, its memory, and the devices attached to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SocketParams {
    /// Cores and their line fill buffers.
    pub core: CoreParams,
    /// Caching and home agents.
    pub cha: ChaParams,
    /// Caches; `None` = every access of a stream misses them, as in a buffer much larger than the caches.
    pub cache: Option<CacheParams>,
    /// Memory controllers and their DRAM.
    pub memory: MemoryParams,
    /// Integrated IO controller.
    pub iio: IioParams,
    /// IOMMU; `None` = addresses of devices are not translated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub iommu: Option<IommuParams>,
    /// PCIe links between devices and the IIO.
    pub pcie: PcieParams,
    /// NVMe drives.
    pub ssd: SsdParams,
    /// Device that generates DMA; its PCIe link follows those of the drives. A server has at most one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dma: Option<DmaParams>,
    /// NIC; its PCIe link follows those of the drives. A server has at most one NIC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nic: Option<NicParams>,
    /// Cores of other sockets with memory on this one; nothing else of those sockets is simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remote: Option<RemoteParams>,
    /// Memory behind a CXL link: a separate node, numbered after the sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expander: Option<Box<ExpanderParams>>,
    /// Interfaces to a memory channel network, if the socket is on one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mcn: Option<Box<McnParams>>,
    /// DIMM with a NIC in its buffer device: a separate node, in place of an expander.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dimm: Option<Box<DimmParams>>,
    /// Memory borrowed from other servers, and memory lent to them: a separate node, numbered after the socket.
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

    /// Returns the migration of pages with its class, if there is one.
    #[must_use]
    pub fn tiering(&self) -> Option<(u8, &TieringParams)> {
        (0..).zip(&self.workloads).find_map(|(class, workload)| Some((class, workload.kind.tiering()?)))
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

    /// Returns the drives with a link to the IIO of a socket, in the order of the links: those attached to the socket,
    /// then those of other sockets that have a path to every socket. Each drive is given by its socket and its number
    /// on that socket.
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
