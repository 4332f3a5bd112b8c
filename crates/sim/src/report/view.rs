//! What a report is made of: a run as it stands, read only.

use crate::build::BURST;
use crate::read::flows::AllFlowTotals;
use crate::read::ports::PortTotals;
use crate::read::sample::Sample;
use crate::read::ReadingHistory;
use crate::report::idle::Around;
use crate::report::network::limit::ClassLimit;
use hostnet_config::{GivenKey, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::params::{Fidelity, LineSize, ServerParams};
use hostnet_model::{Machine, World};

/// Groups of batches that a confidence interval is made of.
pub(crate) const CONFIDENCE_GROUPS: usize = 32;

/// A world.
pub(crate) struct WorldView<'a> {
    pub(crate) plan: &'a Plan,
    /// The hosts that are servers.
    pub(crate) servers: &'a [Option<ServerParams>],
    pub(crate) simulation: &'a Simulation<World>,
    /// What flows have done until now.
    pub(crate) flows: &'a AllFlowTotals,
    /// What servers have done since the start of the window, in the order of the partitions.
    pub(crate) samples: &'a [Sample],
    /// What flows and ports had done when the window began.
    pub(crate) before: &'a AllFlowTotals,
    pub(crate) ports_before: &'a [PortTotals],
    pub(crate) batches: &'a ReadingHistory,
    pub(crate) series: &'a ReadingHistory,
    pub(crate) window_start: Time,
    pub(crate) now: Time,
    pub(crate) complete: bool,
}

/// One server of a world.
pub(crate) struct ServerView<'a> {
    /// Its name as a host; empty if nothing is around it.
    pub(crate) name: &'a str,
    /// What limits the classes of traffic of its network.
    pub(crate) limits: &'a [ClassLimit<'a>],
    /// The server with its workloads, those of the network among them.
    pub(crate) server: &'a ServerParams,
    /// The keys of the server that the user wrote himself.
    pub(crate) given: Vec<GivenKey>,
    /// Work of a cluster that runs on it beside its workloads.
    pub(crate) around: Around,
    pub(crate) machine: &'a Machine,
    pub(crate) total: &'a Sample,
    pub(crate) batches: &'a [Sample],
    pub(crate) series: &'a [Sample],
    pub(crate) window_start: Time,
    pub(crate) now: Time,
    /// Bytes that a line stands for: 64, or those of a burst.
    pub(crate) line_bytes: u64,
}

/// Bytes that a line of a server stands for.
pub(crate) fn line_bytes(fidelity: Fidelity) -> u64 {
    match fidelity {
        Fidelity::Line | Fidelity::Fluid => LineSize::LINE.bytes(),
        Fidelity::Burst => BURST.bytes(),
    }
}
