//! Keys and parameters of the migration of pages between local memory and memory behind a link.

use super::{WorkloadKeys, WorkloadParams};
use crate::lists::CoreList;
use crate::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Policy that decides which pages migrate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TieringPolicySpec {
    /// Pages stay where they are.
    None,
    /// A policy that is given to the run.
    #[default]
    User,
}

/// Migration of pages between the memory of the socket and memory behind a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TieringSpec {
    /// Cores that copy pages, each one page at a time: "31", "30-31" or a list of numbers.
    pub cores: CoreList,
    /// Streams whose pages migrate, by the names of their workloads.
    pub workloads: Vec<String>,
    /// Policy that decides which pages migrate: "user" for one that is given to the run, "none" for pages that stay.
    #[serde(default)]
    pub policy: TieringPolicySpec,
    /// Memory of the socket that their pages may take (size); a page is a run of `memory.run`.
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "64 TiB"))]
    pub local: Size,
    /// Time between two decisions of the policy (time).
    #[serde(default = "twenty_us")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1 s"))]
    pub period: Time,
    /// Loads of a core for each one that is sampled, with its page and its latency.
    #[serde(default = "sixteen")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub sample: u32,
    /// Time for which each core of the workloads does nothing but invalidate its translation of a page that migrates
    /// (time).
    #[serde(default = "two_us")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub shootdown: Time,
}

/// The buffers are those of other workloads.
impl WorkloadKeys for TieringSpec {}

fn twenty_us() -> Time {
    Time(20_000_000)
}

fn sixteen() -> u32 {
    16
}

fn two_us() -> Time {
    Time(2_000_000)
}

/// Migration of pages between the memory of the socket and memory behind a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TieringParams {
    /// Cores that copy pages.
    pub cores: Vec<u32>,
    /// Workloads whose pages migrate, by class, in ascending order.
    pub classes: Vec<u8>,
    /// Pages of these workloads that may be in the memory of the socket.
    pub local_pages: u32,
    /// Pages of these workloads.
    pub pages: u32,
    /// Bytes of a page, a run of contiguous memory.
    pub page_bytes: u64,
    /// True if a policy must be given to the run.
    pub needs_policy: bool,
    /// Time between two decisions of the policy, in ps.
    pub period_ps: u64,
    /// Loads of a core for each one that is sampled.
    pub sample: u32,
    /// Time that a core takes to invalidate its translation of a page, in ps.
    pub shootdown_ps: u64,
}

impl WorkloadParams for TieringParams {
    fn name(&self) -> &'static str {
        "tiering"
    }

    fn cores(&self) -> &[u32] {
        &self.cores
    }
}
