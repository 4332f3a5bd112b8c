//! Read-only views of a run that reports are built from.

use crate::build::BURST;
use crate::read::flows::AllFlowTotals;
use crate::read::ports::PortTotals;
use crate::read::sample::Sample;
use crate::read::ReadingHistory;
use crate::report::idle::ClusterUse;
use crate::report::network::limit::ClassLimit;
use hostnet_config::{GivenKey, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::params::{Fidelity, LineSize, ServerParams};
use hostnet_model::{Machine, World};

/// Largest number of groups that the batches are merged into for a confidence interval.
pub(crate) const CONFIDENCE_GROUPS: usize = 32;

/// View of a whole simulated world: hosts, network and flows.
pub(crate) struct WorldView<'a> {
    pub(crate) plan: &'a Plan,
    /// Parameters by host; `None` for endpoints.
    pub(crate) servers: &'a [Option<ServerParams>],
    pub(crate) simulation: &'a Simulation<World>,
    /// Totals of the flows since the start of the run.
    pub(crate) flows: &'a AllFlowTotals,
    /// Totals of the servers since the start of the window, in the order of the partitions.
    pub(crate) samples: &'a [Sample],
    /// Totals of the flows at the start of the window.
    pub(crate) before: &'a AllFlowTotals,
    /// Counters of the ports at the start of the window.
    pub(crate) ports_before: &'a [PortTotals],
    /// Samples at the end of every batch.
    pub(crate) batches: &'a ReadingHistory,
    /// Samples at the end of every step of the time series.
    pub(crate) series: &'a ReadingHistory,
    pub(crate) window_start: Time,
    pub(crate) now: Time,
    /// False if the run was stopped before its end.
    pub(crate) complete: bool,
}

/// View of one server.
pub(crate) struct ServerView<'a> {
    /// Name of the host; empty for a server without a network.
    pub(crate) name: &'a str,
    /// Limits of the traffic classes of its network.
    pub(crate) limits: &'a [ClassLimit<'a>],
    /// Parameters of the server. Its workloads include the traffic classes of the network.
    pub(crate) server: &'a ServerParams,
    /// Keys of the server that the user set.
    pub(crate) given: Vec<GivenKey>,
    /// Use that the cluster makes of the server, beside its workloads.
    pub(crate) cluster_use: ClusterUse,
    pub(crate) machine: &'a Machine,
    /// Totals over the window.
    pub(crate) total: &'a Sample,
    pub(crate) batches: &'a [Sample],
    pub(crate) series: &'a [Sample],
    pub(crate) window_start: Time,
    pub(crate) now: Time,
    /// Bytes that a simulated line stands for: 64, or the size of a burst.
    pub(crate) line_bytes: u64,
}

/// Returns the bytes that a simulated line of a server stands for.
pub(crate) fn line_bytes(fidelity: Fidelity) -> u64 {
    match fidelity {
        Fidelity::Line | Fidelity::Fluid => LineSize::LINE.bytes(),
        Fidelity::Burst => BURST.bytes(),
    }
}
