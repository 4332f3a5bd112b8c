//! The delay of a workload's lines on the mesh of a die.

use serde::{Deserialize, Serialize};

/// Share of time busy at or above which a link of the mesh is full: arriving messages queue behind earlier ones.
const FULL: f64 = 0.9;
/// Share of the latency of a line at or above which its delay on the mesh is too much for predictions, which do not
/// model it.
const NOTICED: f64 = 0.02;
/// Name of the mesh in answers.
const MESH: &str = "mesh";
/// Name of the links between CCDs and their IO die in answers.
const CCD_LINK: &str = "CCD link";
/// Name of the links between the quadrants of an IO die in answers.
const FABRIC_LINK: &str = "fabric link";

/// Delay of a workload's lines on the mesh, and the link where it is largest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnMesh {
    /// Mean contention delay of a line, summed over all its mesh traversals, in ns.
    pub waited_ns: f64,
    /// Description of the link where the lines are delayed most.
    pub link: String,
    /// Share of time that the link is busy, 0 to 1.
    pub busy_share: f64,
    /// Kind of the link.
    #[serde(default)]
    pub kind: MeshLinkKind,
}

/// Kind of a link on which lines are delayed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeshLinkKind {
    /// Link of the mesh of a die.
    #[default]
    Mesh,
    /// Link between a CCD and its IO die.
    Ccd,
    /// Link between two quadrants of an IO die.
    Fabric,
}

impl OnMesh {
    /// Returns true if the link with the largest delay is full and the delay is significant.
    pub(super) fn limits(&self, latency_ns: Option<f64>) -> bool {
        self.busy_share >= FULL && self.counts(latency_ns)
    }

    /// Returns true if the delay is significant for a line of this latency.
    pub(super) fn counts(&self, latency_ns: Option<f64>) -> bool {
        // Without a latency to compare with, the delay counts: predictions without it are then not trusted.
        latency_ns.is_none_or(|ns| self.waited_ns >= NOTICED * ns)
    }

    /// Returns the name of the limit that the link is.
    pub(super) fn limit(&self) -> &'static str {
        match self.kind {
            MeshLinkKind::Mesh => MESH,
            MeshLinkKind::Ccd => CCD_LINK,
            MeshLinkKind::Fabric => FABRIC_LINK,
        }
    }

    /// Returns true if lines of the workload may not pass such a link: a link between quadrants is on the way of those
    /// lines alone that lie in another quadrant.
    pub(super) fn is_of_some_lines(&self) -> bool {
        self.kind == MeshLinkKind::Fabric
    }

    /// Names the link as a limit, with the time for which it is busy.
    pub(super) fn in_words(&self) -> String {
        let Self { waited_ns, link, busy_share, .. } = self;
        let (busy, limit) = (100.0 * busy_share, self.limit());
        format!("the {limit} ({link}, is busy {busy:.0} % of the time; its lines lose {waited_ns:.0} ns)")
    }
}
