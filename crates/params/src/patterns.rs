//! Keys of traffic patterns among many hosts, and of the sizes of flows.

use super::values::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Pattern of senders and receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairsSpec {
    /// From every host of `from` to every other host of `to`.
    AllToAll,
    /// From every host of `from` to a random host of `to`, each of which receives from one host.
    Permutation,
    /// To every host of `to` from all hosts of `from`, or from `senders` random ones.
    Incast,
    /// From a host of `from` to a random host of `to` for every flow.
    Random,
}

/// Distribution of flow sizes: its name, or its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowSizesSpec {
    /// A built-in distribution, or a file of points.
    Named(String),
    /// Points, in order.
    Points(Vec<SizePoint>),
}

/// Point of a cumulative distribution of flow sizes. Sizes between two points are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizePoint {
    /// Data of a flow (size); 0 B only with a share of 0, as the lower end of the first range.
    #[schemars(extend("x-min" = "0 B", "x-max" = "1000 TB"))]
    pub bytes: Size,
    /// Share of flows with at most this much data (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// File of a distribution.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizesFile {
    /// Points of the distribution.
    pub sizes: Vec<SizePoint>,
}
