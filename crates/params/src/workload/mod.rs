//! Keys and parameters of workloads: the list of kinds, and a file for each of them.

mod app;
mod app_layout;
mod dma;
mod fio;
mod graph_layout;
mod redis_layout;
mod stream;
mod threads;
mod tiering;

pub use app::*;
pub use app_layout::*;
pub use dma::*;
pub use fio::*;
pub use graph_layout::*;
pub use redis_layout::*;
pub use stream::*;
pub use threads::*;
pub use tiering::*;

use crate::lists::WayMask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Workload that runs on the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum WorkloadSpec {
    /// Loads and stores of cores over a buffer per core.
    Stream(StreamSpec),
    /// Storage IO as fio generates it: `job` names a job file, or `jobs` gives the jobs.
    Fio(FioSpec),
    /// Application. Absent values come from its profile.
    App(Box<AppSpec>),
    /// Loads and stores of cores of other sockets, over a buffer per core in the memory of this one.
    Remote(RemoteStreamSpec),
    /// DMA that a device generates over a window of memory.
    Dma(DmaLoadSpec),
    /// Migration of pages between the memory of the socket and memory behind a link.
    Tiering(TieringSpec),
}

impl WorkloadSpec {
    /// Returns true if the cores belong to other sockets of which nothing else is simulated.
    pub fn is_remote(&self) -> bool {
        matches!(self, WorkloadSpec::Remote(_))
    }

    /// Returns the keys of the workload.
    fn keys(&self) -> &dyn WorkloadKeys {
        match self {
            WorkloadSpec::Stream(stream) => stream,
            WorkloadSpec::Fio(fio) => fio,
            WorkloadSpec::App(app) => &**app,
            WorkloadSpec::Remote(stream) => stream,
            WorkloadSpec::Dma(dma) => dma,
            WorkloadSpec::Tiering(tiering) => tiering,
        }
    }

    /// Returns the placement of the buffers, if it is given.
    pub fn memory(&self) -> Option<&str> {
        self.keys().memory()
    }

    /// Returns the ways of the LLC that the cores may allocate in, if they are given.
    pub fn llc_ways(&self) -> Option<WayMask> {
        self.keys().llc_ways()
    }
}

/// Keys that kinds of workloads have in common. A kind without such a key has the default.
pub(crate) trait WorkloadKeys {
    /// Returns the place of its buffers, if that is given.
    fn memory(&self) -> Option<&str> {
        None
    }

    /// Returns the ways of the LLC that its cores may allocate in, if they are given.
    fn llc_ways(&self) -> Option<WayMask> {
        None
    }
}

/// Workload that runs on a server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Name that the user gave the workload.
    pub name: String,
    /// Kind of the workload and its parameters.
    pub kind: WorkloadKind,
    /// Placement of the workload's buffers.
    #[serde(default, skip_serializing_if = "Placement::is_local")]
    pub memory: Placement,
}

/// NUMA node whose memory holds a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// The node of the core that uses the buffer.
    #[default]
    Local,
    /// The given socket, or the memory beyond the last one. On a socket of several sub-NUMA clusters, the cluster that
    /// the core has on its own socket.
    Socket(u8),
    /// The given sub-NUMA cluster of a socket.
    Cluster {
        /// Number of the socket.
        socket: u8,
        /// Number of the cluster in the socket.
        cluster: u8,
    },
    /// All nodes round robin, by runs of pages.
    Interleaved,
}

impl Placement {
    /// Returns true for [`Placement::Local`].
    #[must_use]
    pub fn is_local(&self) -> bool {
        *self == Self::Local
    }
}

impl Workload {
    /// Creates a workload with buffers local to its cores.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: WorkloadKind) -> Self {
        Self { name: name.into(), kind, memory: Placement::Local }
    }
}

/// Kind of a workload.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkloadKind {
    /// Loads and stores of cores.
    Stream(StreamParams),
    /// Storage IO.
    Fio(FioParams),
    /// An application.
    App(AppParams),
    /// DMA that a device generates.
    Dma(DmaLoadParams),
    /// Migration of pages.
    Tiering(TieringParams),
    /// Packets of one class of flows, which the parameters of the cluster define.
    Network,
}

/// Kind of workload: its name, and the cores and devices that move its lines.
pub trait WorkloadParams {
    /// Returns the name of the kind in results.
    fn name(&self) -> &'static str;

    /// Returns true if devices move the lines of the workload, false if cores do.
    fn is_of_devices(&self) -> bool {
        false
    }

    /// Returns the cores that load and store for the workload, other than for IO.
    fn cores(&self) -> &[u32] {
        &[]
    }

    /// Returns true if a part of the workload runs on `core`: its loads and stores, its clients, or its IO.
    fn runs_on(&self, core: u32) -> bool {
        self.cores().contains(&core)
    }
}

/// Packets of one class of flows.
struct NetworkClass;

impl WorkloadParams for NetworkClass {
    fn name(&self) -> &'static str {
        "network"
    }

    fn is_of_devices(&self) -> bool {
        true
    }
}

impl WorkloadKind {
    /// Returns the parameters of the workload.
    fn params(&self) -> &dyn WorkloadParams {
        match self {
            Self::Stream(stream) => stream,
            Self::Fio(fio) => fio,
            Self::App(app) => app,
            Self::Dma(dma) => dma,
            Self::Tiering(tiering) => tiering,
            Self::Network => &NetworkClass,
        }
    }

    /// Returns true if devices move the lines of the workload, false if cores do.
    #[must_use]
    pub fn is_of_devices(&self) -> bool {
        self.params().is_of_devices()
    }

    /// Returns the name of the kind in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.params().name()
    }

    /// Returns the cores that load and store for the workload, other than for IO.
    #[must_use]
    pub fn cores(&self) -> &[u32] {
        self.params().cores()
    }

    /// Returns true if a part of the workload runs on `core`: its loads and stores, its clients, or its IO.
    #[must_use]
    pub fn runs_on(&self, core: u32) -> bool {
        self.params().runs_on(core)
    }

    /// Returns the stream, if the workload is one.
    #[must_use]
    pub fn stream(&self) -> Option<&StreamParams> {
        match self {
            Self::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// Returns the storage IO, if the workload is storage IO.
    #[must_use]
    pub fn fio(&self) -> Option<&FioParams> {
        match self {
            Self::Fio(fio) => Some(fio),
            _ => None,
        }
    }

    /// Returns the application, if the workload is one.
    #[must_use]
    pub fn app(&self) -> Option<&AppParams> {
        match self {
            Self::App(app) => Some(app),
            _ => None,
        }
    }

    /// Returns the DMA of a device, if the workload is that.
    #[must_use]
    pub fn dma(&self) -> Option<&DmaLoadParams> {
        match self {
            Self::Dma(dma) => Some(dma),
            _ => None,
        }
    }

    /// Returns the migration of pages, if the workload is that.
    #[must_use]
    pub fn tiering(&self) -> Option<&TieringParams> {
        match self {
            Self::Tiering(tiering) => Some(tiering),
            _ => None,
        }
    }

    /// Returns true if the workload consists of commands of devices that a run counts: storage IO, or DMA.
    #[must_use]
    pub fn has_commands(&self) -> bool {
        matches!(self, Self::Fio(_) | Self::Dma(_))
    }
}
