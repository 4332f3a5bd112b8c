//! What the user can write: the schema. Every key, its meaning, its unit and its range stand here and nowhere else.

mod app;
mod cache;
mod chip;
mod chip_run;
mod cluster;
mod compress;
mod controller;
mod die;
mod dimm;
mod dram;
mod drives;
mod ecn;
mod energy;
mod expander;
mod host;
mod io;
mod job;
mod lists;
mod mcn;
mod memory;
mod memory_run;
mod ncap;
mod net_host;
mod network;
mod nic;
mod noc_run;
mod packets;
mod patterns;
mod pool;
mod power;
mod service;
mod sockets;
mod topology;
mod training;
mod transport;
mod values;
mod workload;

pub(crate) use app::{AppName, AppSpec, KernelSpec, OrderSpec, COMMON_KEYS, OWN_KEYS};
pub(crate) use cache::{CacheSpec, CleanVictimsSpec, DdioSpec, InclusionSpec, PrefetchSpec, ReplacementSpec};
pub(crate) use chip::{
    ChipSpec, ChipTopologySpec, CompletionSpec, HomeSpec, McInterleaveSpec, PlacementSpec, RackKindSpec,
    RackPatternSpec, RoutingSpec,
};
pub(crate) use chip_run::{ChipModeSpec, ChipOpSpec};
pub(crate) use cluster::{
    ClusterSpec, DatagramPatternSpec, FidelitySpec, FlowKindSpec, FlowSpec, HostKindSpec, HostSpec, OtherSpec,
};
pub(crate) use compress::{CodecModeSpec, CompressSpec};
pub(crate) use controller::{
    ControllerSpec, EntryUntilSpec, IdleDrainSpec, PageSpec, ProtectSpec, RefreshSpec, SchedulerSpec,
};
pub(crate) use die::{DieSpec, PlaceSpec};
pub(crate) use dimm::{AsyncSpec, CloneSpec, DimmDriverSpec, NCacheSpec, NicDimmSpec};
pub(crate) use dram::{DramSpec, SameBankSpec, TimingSpec};
pub(crate) use drives::{DriveSockets, SsdModeSpec};
pub(crate) use ecn::{EcnSpec, RampSpec};
pub(crate) use energy::{EnergySpec, SwitchEnergySpec};
pub(crate) use expander::ExpanderSpec;
pub(crate) use host::{ChaSpec, CoreSpec, RunSpec, ServerSpec, UntilSpec};
pub(crate) use io::{FioCostSpec, IioSpec, PcieSpec, SsdSpec, LANES_MAX};
pub(crate) use job::{AlgorithmSpec, AnswerSpec, JobKindSpec, JobSpec, JobStepSpec, ProblemSpec};
pub(crate) use lists::{CoreList, Names, RanksPerHost, WayMask, CHANNEL_MAX, DRIVE_MAX};
pub(crate) use mcn::McnKeys;
pub(crate) use memory::{MapSpec, MapTable, MemorySpec};
pub(crate) use memory_run::{MemoryPartSpec, MemoryRunSpec, TraceFormatSpec, TraceSpec, TrafficSpec};
pub(crate) use ncap::{NcapModeSpec, NcapSpec, RearmSpec, Template};
pub(crate) use net_host::{ControlSpec, RemoteSpec, RingsSpec, RuleSpec, SideSpec, StackSpec, UpiSpec};
pub(crate) use network::{BottleneckSpec, CableSpec, EndSpec, NetworkSpec, PfcSpec, Span, SwitchKindSpec, SwitchSpec};
pub(crate) use nic::{AttachSpec, CxlSpec, NicFunctionSpec, NicModeSpec, NicSpec, OnChipSpec};
pub(crate) use noc_run::{AllocationSpec, CyclesSpec, NocRunSpec, NocSpec, NocTopologySpec, PacketsSpec, ReuseSpec};
pub(crate) use packets::FunctionSpec;
pub(crate) use patterns::{FlowSizesSpec, PairsSpec, SizePoint, SizesFile};
pub(crate) use pool::{PoolFetch, PoolPrefetchKind, PoolSpec, PoolWriteBack};
pub(crate) use power::{
    CStateSpec, DomainSpec, GovernorKindSpec, GovernorSpec, IdleSpec, PStateEntry, PStatesSpec, PowerAt, PowerSpec,
    StateAt, StaticSpec, VariantSpec,
};
pub(crate) use service::{ArrivalsSpec, DistributionSpec, PhaseSpec, ServiceSpec};
pub(crate) use sockets::{RemoteDdioSpec, SnoopSpec, SocketSpec, SocketsSpec};
pub(crate) use topology::{Sizes, TopologySpec, TrunkSpec};
pub(crate) use training::{ComputePartsSpec, ComputeSpec};
pub(crate) use transport::{BaseSpec, TransportSpec};
pub(crate) use values::{
    Bandwidth, MemorySize, RateOrNever, Share, Size, SleepPower, Time, TimeLimit, TimeOrNever, TransferRate,
    WarmUpSpec, Watermark,
};
pub(crate) use workload::{Direction, FioJobSpec, FioSpec, PatternSpec, RemoteStreamSpec, StreamSpec, WorkloadSpec};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A server, what runs on it, and for how long: the content of a configuration file. What is absent comes from the
/// preset that `server` names. Values with units are strings such as "70 ns", "46.9 GB/s" or "8 MiB"
/// (GB = 10^9 bytes, GiB = 2^30 bytes).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spec {
    /// Which server the values start from.
    #[serde(default)]
    pub(crate) server: ServerSpec,
    /// The cores and their line fill buffers.
    pub(crate) core: CoreSpec,
    /// The caching and home agents.
    pub(crate) cha: ChaSpec,
    /// The caches of the socket; a line has 64 B.
    pub(crate) cache: CacheSpec,
    /// The L2 prefetchers of every core; they take part when the caches do.
    pub(crate) prefetch: PrefetchSpec,
    /// Direct cache access of the drives (DDIO); it takes part when the caches do.
    pub(crate) ddio: DdioSpec,
    /// The memory controllers and their DRAM.
    pub(crate) memory: MemorySpec,
    /// Where the parts of a socket lie, if they lie on a mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) noc: Option<DieSpec>,
    /// Memory behind a CXL link: a node without cores, whose number follows those of the sockets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expander: Option<ExpanderSpec>,
    /// A place in a pool of memory over the network: a node without cores. It takes part when the server is a host of
    /// a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) pool: Option<PoolSpec>,
    /// The integrated IO controller.
    pub(crate) iio: IioSpec,
    /// The PCIe links between the drives and the IIO. The lanes are shared out evenly among the drives.
    pub(crate) pcie: PcieSpec,
    /// The NVMe drives, all alike.
    pub(crate) ssd: SsdSpec,
    /// What storage IO costs beyond its data.
    pub(crate) fio: FioCostSpec,
    /// The NIC. It takes part when the server is a host of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nic: Option<NicSpec>,
    /// What network traffic costs the cores: kernel, system calls and copies. It takes part when the server is a host
    /// of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stack: Option<StackSpec>,
    /// Other sockets, whose cores reach the memory of this one over UPI. They take part when a workload of kind
    /// "remote" does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) remote: Option<RemoteSpec>,
    /// The ways between the sockets of the server (UPI, before Skylake QPI), one between each two. They take part when
    /// there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) upi: Option<SocketsSpec>,
    /// What a socket has of its own, by its number.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) socket: BTreeMap<String, SocketSpec>,
    /// What watches the host and throttles. It takes part when the server is a host of a cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) control: Option<ControlSpec>,
    /// What the parts of the server consume; without it there is no energy meter. What is absent comes from the
    /// profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) energy: Option<EnergySpec>,
    /// Frequencies, voltages and sleep of the cores; without it they have one frequency and do not sleep. What is
    /// absent comes from the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) power: Option<PowerSpec>,
    /// What runs on the server, by name.
    pub(crate) workload: BTreeMap<String, WorkloadSpec>,
    /// How long to simulate.
    #[serde(default)]
    pub(crate) run: RunSpec,
}
