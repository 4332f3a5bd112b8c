//! What runs on a server.

use super::AppParams;
use serde::{Deserialize, Serialize};

/// Something that runs on the server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// The user's name for it.
    pub name: String,
    /// What it does.
    pub kind: WorkloadKind,
    /// Whose memory its buffers lie in.
    #[serde(default, skip_serializing_if = "Placement::is_local")]
    pub memory: Placement,
}

/// Whose memory buffers lie in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// That of the socket whose core uses them.
    #[default]
    Local,
    /// That of one socket.
    Socket(u8),
    /// That of all sockets in turn, by runs of pages.
    Interleaved,
}

impl Placement {
    /// Whether it is that of the socket whose core uses them.
    #[must_use]
    pub fn is_local(&self) -> bool {
        *self == Self::Local
    }
}

impl Workload {
    /// A workload with buffers where its cores are.
    #[must_use]
    pub fn new(name: impl Into<String>, kind: WorkloadKind) -> Self {
        Self { name: name.into(), kind, memory: Placement::Local }
    }
}

/// What a workload does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkloadKind {
    /// Loads and stores of cores.
    Stream(StreamParams),
    /// Storage IO.
    Fio(FioParams),
    /// An application.
    App(AppParams),
    /// Packets of one class of flows; what they are is told by the flows of the cluster.
    Network,
}

impl WorkloadKind {
    /// Whether its lines are those of devices; else they are those of cores.
    #[must_use]
    pub fn is_of_devices(&self) -> bool {
        matches!(self, Self::Fio(_) | Self::Network)
    }

    /// What results call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::Fio(_) => "fio",
            Self::App(_) => "app",
            Self::Network => "network",
        }
    }

    /// The cores that load and store for it, other than for IO.
    #[must_use]
    pub fn cores(&self) -> &[u32] {
        match self {
            Self::Stream(stream) => &stream.cores,
            Self::App(app) => &app.cores,
            Self::Fio(_) | Self::Network => &[],
        }
    }

    /// Whether anything of it runs on a core: its loads and stores, its clients, or its IO.
    #[must_use]
    pub fn runs_on(&self, core: u32) -> bool {
        let clients = self.app().is_some_and(|app| app.clients.contains(&core));
        let jobs = self.fio().is_some_and(|fio| fio.jobs.iter().any(|job| job.core == core));
        self.cores().contains(&core) || clients || jobs
    }

    /// The stream, if it is one.
    #[must_use]
    pub fn stream(&self) -> Option<&StreamParams> {
        match self {
            Self::Stream(stream) => Some(stream),
            _ => None,
        }
    }

    /// The storage IO, if it is some.
    #[must_use]
    pub fn fio(&self) -> Option<&FioParams> {
        match self {
            Self::Fio(fio) => Some(fio),
            _ => None,
        }
    }

    /// The application, if it is one.
    #[must_use]
    pub fn app(&self) -> Option<&AppParams> {
        match self {
            Self::App(app) => Some(app),
            _ => None,
        }
    }
}

/// Loads and stores over a buffer per core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamParams {
    /// The cores it runs on.
    pub cores: Vec<u32>,
    /// The order of its accesses.
    pub pattern: Pattern,
    /// Share of loads in units of 2^-32; the rest are stores.
    pub reads: u64,
    /// Bytes of the buffer of each core.
    pub working_set_bytes: u64,
    /// Least time between two accesses of one core, in ps.
    pub gap_ps: u64,
}

/// The order of accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// Line after line.
    Sequential,
    /// Every so many bytes.
    Strided {
        /// Distance of two accesses in bytes, a multiple of 64.
        bytes: u64,
    },
    /// Uniform over the buffer.
    Random,
}

/// Storage IO in the manner of fio: jobs that keep a number of commands at a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioParams {
    /// The jobs.
    pub jobs: Vec<FioJob>,
    /// Cap on the rate of all jobs together in bytes per second; 0 = none.
    pub rate_bytes_per_s: u64,
    /// Lines that the device moves by DMA beyond the data, per 4 KiB of data, in units of 2^-16.
    pub dma_lines_per_page: u64,
    /// Lines of its own structures that the kernel touches per 4 KiB of data, in units of 2^-16.
    pub kernel_lines_per_page: u64,
    /// Share of those that it only reads, in units of 2^-32; the others are read and written.
    pub kernel_loads: u64,
    /// Whether the cores read the data of storage reads once it is there; needs caches.
    pub consume: bool,
}

/// One job on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioJob {
    /// The drive.
    pub ssd: u32,
    /// The core that submits and completes.
    pub core: u32,
    /// Bytes per command.
    pub block_bytes: u64,
    /// Commands in flight.
    pub io_depth: u32,
    /// Bytes of the file.
    pub size_bytes: u64,
    /// Whether blocks are drawn at random.
    pub random: bool,
    /// Share of storage reads (P2M-Write) in units of 2^-32.
    pub reads: u64,
}
