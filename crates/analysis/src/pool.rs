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
    /// True if the credits are those of LFBs and of the prefetchers of streams.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub prefetched: bool,
}

impl Pool {
    /// Returns the LFB entries of cores together with the credits of the prefetchers that run ahead of them.
    #[must_use]
    pub fn with_prefetches(self, ahead: &Self) -> Self {
        let gb_per_s = self.gb_per_s + ahead.gb_per_s;
        let time = |pool: &Self| pool.latency_ns.unwrap_or(0.0) * pool.gb_per_s;
        Self {
            credits: self.credits + ahead.credits,
            in_use: self.in_use + ahead.in_use,
            // Both are full for at most as long as the one that is full less often.
            full_share: self.full_share.min(ahead.full_share),
            latency_ns: (gb_per_s > 0.0).then(|| (time(&self) + time(ahead)) / gb_per_s),
            gb_per_s,
            prefetched: true,
            ..self
        }
    }
}
