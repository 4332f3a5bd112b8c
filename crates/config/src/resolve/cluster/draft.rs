//! Tables of flows before their flows have cores.

use hostnet_params::{FlowParams, ForwardParams, Traffic};

/// Maximum number of flows of all tables.
pub(super) const FLOWS_MAX: usize = 1 << 20;

/// Flows of a table.
pub(super) struct DrawnFlows {
    pub(super) pairs: Vec<(usize, usize)>,
    /// Number of flows of each pair.
    pub(super) count: u32,
    /// Start time in ps and size in bytes of each flow, if they differ from flow to flow.
    pub(super) starts_ps: Vec<u64>,
    pub(super) bytes: Vec<u64>,
}

impl DrawnFlows {
    pub(super) fn flows(&self) -> usize {
        self.pairs.len() * self.count as usize
    }
}

/// A table of flows before its cores are assigned.
pub(super) struct FlowDraft {
    pub(super) path: String,
    /// Senders and receivers, number of flows, start times and sizes.
    pub(super) drawn: DrawnFlows,
    pub(super) flow: FlowParams,
    pub(super) stagger_ps: u64,
    /// Cores at either side, if the document gives them.
    pub(super) cores: [Option<Vec<u32>>; 2],
    /// Numbers of the earlier tables of flows whose packets this table forwards.
    pub(super) takes: Vec<usize>,
}

impl FlowDraft {
    /// Returns the start time of flow number `at` of the table, in ps.
    pub(super) fn start_ps(&self, at: usize) -> u64 {
        self.drawn.starts_ps.get(at).copied().unwrap_or(self.flow.start_ps + self.stagger_ps * at as u64)
    }

    /// Returns the traffic of the applications of flow number `at`.
    pub(super) fn traffic(&self, at: usize, taken: Option<usize>) -> Traffic {
        if let (Traffic::Forward(forward), Some(flow)) = (&self.flow.traffic, taken) {
            return Traffic::Forward(ForwardParams { flow: flow as u32, ..*forward });
        }
        match (&self.flow.traffic, self.drawn.bytes.get(at)) {
            (Traffic::Bulk { .. }, Some(&bytes)) => Traffic::Bulk { bytes },
            (Traffic::Read { .. }, Some(&bytes)) => Traffic::Read { bytes },
            (traffic, _) => traffic.clone(),
        }
    }
}
