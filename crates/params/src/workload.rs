//! Workloads of a server.

use super::AppParams;
use serde::{Deserialize, Serialize};

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

/// Socket or node whose memory holds a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// The socket of the core that uses the buffer.
    #[default]
    Local,
    /// The given socket or node.
    Socket(u8),
    /// All sockets round robin, by runs of pages.
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
    /// Packets of one class of flows, which the parameters of the cluster define.
    Network,
}

impl WorkloadKind {
    /// Returns true if devices move the lines of the workload, false if cores do.
    #[must_use]
    pub fn is_of_devices(&self) -> bool {
        matches!(self, Self::Fio(_) | Self::Network)
    }

    /// Returns the name of the kind in results.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Stream(_) => "stream",
            Self::Fio(_) => "fio",
            Self::App(_) => "app",
            Self::Network => "network",
        }
    }

    /// Returns the cores that load and store for the workload, other than for IO.
    #[must_use]
    pub fn cores(&self) -> &[u32] {
        match self {
            Self::Stream(stream) => &stream.cores,
            Self::App(app) => &app.cores,
            Self::Fio(_) | Self::Network => &[],
        }
    }

    /// Returns true if a part of the workload runs on `core`: its loads and stores, its clients, or its IO.
    #[must_use]
    pub fn runs_on(&self, core: u32) -> bool {
        let clients = self.app().is_some_and(|app| app.clients.contains(&core));
        let jobs = self.fio().is_some_and(|fio| fio.jobs.iter().any(|job| job.core == core));
        self.cores().contains(&core) || clients || jobs
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
}

/// Loads and stores over a buffer per core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamParams {
    /// Cores that run the stream.
    pub cores: Vec<u32>,
    /// Order of the accesses.
    pub pattern: AccessPattern,
    /// Share of loads in units of 2^-32; the rest are stores.
    pub reads: u64,
    /// Bytes of the buffer of each core.
    pub working_set_bytes: u64,
    /// Least time between two accesses of one core, in ps.
    pub gap_ps: u64,
}

/// Order of the accesses of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessPattern {
    /// Consecutive lines.
    Sequential,
    /// Accesses at a constant stride.
    Strided {
        /// Distance of two accesses in bytes, a multiple of 64.
        bytes: u64,
    },
    /// Accesses uniform over the buffer.
    Random,
}

/// Storage IO as fio issues it: jobs that each keep a number of commands outstanding at a drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioParams {
    /// The jobs.
    pub jobs: Vec<FioJob>,
    /// Limit on the rate of all jobs together, in bytes per second; 0 = no limit.
    pub rate_bytes_per_s: u64,
    /// Lines that the device moves by DMA beyond the data, per 4 KiB of data, in units of 2^-16.
    pub dma_lines_per_page: u64,
    /// Lines of kernel data structures that the kernel accesses per 4 KiB of data, in units of 2^-16.
    pub kernel_lines_per_page: u64,
    /// Share of those lines that the kernel only reads, in units of 2^-32; the others are read and written.
    pub kernel_loads: u64,
    /// True if the cores read the data of completed storage reads; needs caches.
    pub consume: bool,
}

/// Job on one drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FioJob {
    /// Drive that the job uses.
    pub ssd: u32,
    /// Core that submits and completes the commands.
    pub core: u32,
    /// Bytes per command.
    pub block_bytes: u64,
    /// Commands that the job keeps outstanding.
    pub io_depth: u32,
    /// Size of the file, in bytes.
    pub size_bytes: u64,
    /// True if blocks are accessed at random, false if sequentially.
    pub random: bool,
    /// Share of storage reads (P2M-Write) in units of 2^-32.
    pub reads: u64,
}
