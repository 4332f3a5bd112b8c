//! Read-only views of a run that reports are built from.

use crate::forward::JobSkips;
use crate::read::flows::AllFlowTotals;
use crate::read::ports::PortTotals;
use crate::read::sample::{PoolGroup, Sample};
use crate::read::ReadingHistory;
use crate::report::idle::ClusterUse;
use crate::report::network::limit::ClassLimit;
use crate::report::table::Cell;
use hostnet_config::{GivenKey, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_measure::Domain;
use hostnet_model::memory::{Channel, Controller};
use hostnet_model::params::{AppParams, Fidelity, LineSize, MemoryParams, ServerParams};
use hostnet_model::{Machine, World};
use std::ops::Range;

/// View of a whole simulated world: hosts, network and flows.
pub(crate) struct WorldView<'a> {
    pub(crate) plan: &'a Plan,
    /// Parameters by host; `None` for endpoints.
    pub(crate) servers: &'a [Option<ServerParams>],
    /// Parameters line by line of hosts that are simulated in bursts; `None` for all others.
    pub(crate) undivided: &'a [Option<ServerParams>],
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
    /// Repetitions of jobs that were skipped.
    pub(crate) skips: &'a JobSkips,
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
    /// Like `server`, but line by line where it is simulated in bursts.
    pub(crate) line_server: &'a ServerParams,
    /// Bytes that a simulated line stands for: 64, or the size of a burst.
    pub(crate) line_bytes: u64,
}

impl ServerView<'_> {
    /// Returns the length of the measurement window, in ps.
    pub(crate) fn window_ps(&self) -> f64 {
        self.now.since(self.window_start) as f64
    }

    /// Returns the number of 64 B lines that a simulated line stands for.
    pub(crate) fn lines_each(&self) -> u64 {
        self.line_bytes / LineSize::LINE.bytes()
    }

    /// Returns the throughput of `lines` simulated lines in the window, in GB/s.
    pub(crate) fn gb_per_s(&self, lines: u64) -> f64 {
        self.gb_per_s_of(lines * self.line_bytes)
    }

    /// Returns the throughput of simulated lines that move at a rate per ps, in GB/s.
    pub(crate) fn gb_per_s_at(&self, per_ps: f64) -> f64 {
        // 1 B/ps is 1000 GB/s.
        per_ps * (self.line_bytes * 1000) as f64
    }

    /// Returns the throughput of `bytes` bytes in the window, in GB/s.
    pub(crate) fn gb_per_s_of(&self, bytes: u64) -> f64 {
        // 1 B/ps is 1000 GB/s.
        bytes as f64 * 1000.0 / self.window_ps()
    }

    /// Returns the number of workloads. Each is one traffic class of the domains.
    pub(crate) fn classes(&self) -> usize {
        self.server.workloads.len()
    }

    /// Returns the domains whose lines make up the throughput of a workload, by its kind.
    pub(crate) fn throughput_groups(&self, class: usize) -> &'static [PoolGroup] {
        if self.server.workloads[class].kind.is_of_devices() {
            &[PoolGroup::P2mWrite, PoolGroup::P2mRead]
        } else {
            &[PoolGroup::C2mRead, PoolGroup::C2mWrite, PoolGroup::Prefetch]
        }
    }

    /// Returns the parameters of the application, or `None` if the workload is not one.
    pub(crate) fn app(&self, class: usize) -> Option<&AppParams> {
        self.server.workloads[class].kind.app()
    }

    /// Returns the memory controllers of all channels.
    pub(crate) fn controllers(&self) -> Vec<&Controller> {
        self.machine.each().map(Channel::controller).collect()
    }

    /// Returns the memory of each socket, with the range of its channels among those of the server.
    pub(crate) fn memories(&self) -> impl Iterator<Item = (&MemoryParams, Range<usize>)> {
        self.server.sockets.iter().scan(0, |next, socket| {
            let memory = &socket.memory;
            let first = *next;
            *next += (memory.map.channels * memory.dram.subchannels) as usize;
            Some((memory, first..*next))
        })
    }

    /// Returns a share of time, averaged over some domains.
    pub(crate) fn share(&self, parts: &[&Domain], time_ps: impl Fn(&Domain) -> u64) -> Cell {
        let sum: u64 = parts.iter().map(|domain| time_ps(domain)).sum();
        (sum as f64 / parts.len() as f64 / self.window_ps()).into()
    }
}

/// Returns the number of 64 B lines that a simulated line of a server stands for.
pub(crate) fn lines_each(fidelity: Fidelity) -> u64 {
    line_bytes(fidelity) / LineSize::LINE.bytes()
}

/// Returns the bytes that a simulated line of a server stands for.
pub(crate) fn line_bytes(fidelity: Fidelity) -> u64 {
    match fidelity {
        Fidelity::Line | Fidelity::Fluid => LineSize::LINE.bytes(),
        Fidelity::Burst => LineSize::BURST.bytes(),
    }
}
