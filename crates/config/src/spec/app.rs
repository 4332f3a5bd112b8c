//! Applications.

use super::lists::{CoreList, WayMask};
use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An application. What it does not set comes from the profile of the application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AppSpec {
    /// Which application.
    pub(crate) app: AppName,
    /// The cores of its threads, one each: "0-3", "0,2,4-5" or a list of numbers.
    pub(crate) cores: CoreList,
    /// Ways of the LLC that its cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    /// contiguous; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) llc_ways: Option<WayMask>,
    /// Instructions per clock of a thread when all data is at hand (0.01 to 16); the profile's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 16.0))]
    pub(crate) ipc: Option<f64>,
    /// Operations that the clients of one thread keep in flight; 0 when it needs none; the profile's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65536))]
    pub(crate) in_flight: Option<u32>,
    /// From the end of an operation to the next one of the same client (time); the profile's when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) think: Option<Time>,
    /// redis: keys of the server of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4294967296u64))]
    pub(crate) keys: Option<u64>,
    /// redis: bytes of a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub(crate) value: Option<Size>,
    /// redis: share of SET (0 to 1); the rest is GET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub(crate) sets: Option<f64>,
    /// pagerank, bc: nodes of the graph as a power of two: 25 is 2^25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32))]
    pub(crate) scale: Option<u32>,
    /// pagerank, bc: edges per node, each of which joins two nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) degree: Option<u32>,
}

/// An application by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum AppName {
    /// A key-value server per core in the manner of Redis.
    Redis,
    /// PageRank in the manner of GAPBS, one graph shared by all cores.
    PageRank,
    /// Betweenness centrality in the manner of GAPBS, one graph shared by all cores.
    Bc,
}

impl AppName {
    /// Every application.
    pub(crate) const ALL: [AppName; 3] = [AppName::Redis, AppName::PageRank, AppName::Bc];

    /// Its name as users write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            AppName::Redis => "redis",
            AppName::PageRank => "pagerank",
            AppName::Bc => "bc",
        }
    }

    /// The keys that it takes beside those of every application.
    pub(crate) fn keys(self) -> &'static [&'static str] {
        match self {
            AppName::Redis => &["keys", "value", "sets"],
            AppName::PageRank | AppName::Bc => &["scale", "degree"],
        }
    }
}

/// The keys of every application.
pub(crate) const COMMON_KEYS: [&str; 6] = ["app", "cores", "llc_ways", "ipc", "in_flight", "think"];
