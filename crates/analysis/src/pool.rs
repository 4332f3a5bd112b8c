//! A pool of credits, as explanations and predictions see it.

use serde::{Deserialize, Serialize};

/// A pool of credits on the path of a workload, summed over all the parts (cores, drives) that the workload uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// Name of the domain that the pool stands for.
    pub domain: String,
    /// Number of credits.
    pub credits: f64,
    /// Mean number of credits in use, by all workloads together.
    pub in_use: f64,
    /// Share of time with all credits in use, mean over the parts; 0 to 1.
    pub full_share: f64,
    /// Mean time that the workload holds a credit, in ns; `None` without a line.
    pub latency_ns: Option<f64>,
    /// Throughput of the workload's lines through the pool, in GB/s.
    pub gb_per_s: f64,
    /// Place of the pool, such as `socket 0`, if it is the fullest of several places that the workload uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}
