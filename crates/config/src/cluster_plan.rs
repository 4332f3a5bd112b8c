//! The resolved configuration of a cluster.

use crate::plan::RunPlan;
use hostnet_model::params::ClusterParams;

/// A checked configuration of a cluster with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct ClusterPlan {
    /// Name of the run.
    pub name: String,
    /// Hosts, switches, cables and flows.
    pub cluster: ClusterParams,
    /// How long to simulate.
    pub run: RunPlan,
    /// Hexadecimal SHA-256 of the canonical JSON of `cluster` and `run`. The run's name is no part of it.
    pub hash: String,
    /// The complete configuration in the user's terms. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// What the user wrote that has no effect, and why.
    pub ignored: Vec<String>,
    /// Why results of a host's preset are not checked against measurements: "HOST: reason" for each of which they are
    /// not.
    pub unvalidated: Option<String>,
    /// Dotted paths of the keys that the user wrote himself.
    pub given: Vec<String>,
}
