//! What the mesh of a die does to a workload.

use serde::{Deserialize, Serialize};

/// Share of time from which on a link of the mesh is full: what comes waits for what is there.
const FULL: f64 = 0.9;
/// Share of the time of a line from which on waiting on the mesh is too much for predictions, which know of none.
const NOTICED: f64 = 0.02;
/// What answers call the limit.
pub(super) const MESH: &str = "mesh";

/// What lines of a workload lose on the mesh, and where most of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnMesh {
    /// What a line loses to others on all its ways, mean, in ns.
    pub waited_ns: f64,
    /// The link where lines of the workload lose most, in words.
    pub link: String,
    /// Share of time that it is busy.
    pub busy_share: f64,
}

impl OnMesh {
    /// Whether the link where most is lost is full, and what is lost counts.
    pub(super) fn limits(&self, latency_ns: Option<f64>) -> bool {
        self.busy_share >= FULL && self.counts(latency_ns)
    }

    /// Whether what is lost counts in the latency of a line.
    pub(super) fn counts(&self, latency_ns: Option<f64>) -> bool {
        latency_ns.is_none_or(|ns| self.waited_ns >= NOTICED * ns)
    }

    /// What limits a workload that the mesh limits, in words that follow its name.
    pub(super) fn clause(&self) -> String {
        let Self { waited_ns, link, busy_share } = self;
        let busy = 100.0 * busy_share;
        format!("is limited by the mesh ({link}, is busy {busy:.0} % of the time; its lines lose {waited_ns:.0} ns)")
    }
}
