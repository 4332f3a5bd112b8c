//! Who sends to whom among many hosts, how much, and how often.

use super::values::Size;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Who sends to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PairsSpec {
    /// Every host of `from` to every other one of `to`.
    AllToAll,
    /// Every host of `from` to one of `to`, each of which receives from one, at random.
    Permutation,
    /// To every host of `to` hosts of `from`, at random when `senders` says how many.
    Incast,
    /// Every flow from and to hosts at random.
    Random,
}

/// How large flows are: a distribution by name, or its points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum FlowSizesSpec {
    /// One that comes with the program, or a file of points.
    Named(String),
    /// Points, in order.
    Points(Vec<SizePoint>),
}

/// How many flows have at most so much data. Between two points sizes are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizePoint {
    /// Data of a flow (size); 0 B only with a share of 0, as the lower end of the first range.
    #[schemars(extend("x-min" = "0 B", "x-max" = "1000 TB"))]
    pub bytes: Size,
    /// Share of flows that have at most so much (0 to 1).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
}

/// A file of a distribution.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SizesFile {
    /// Its points.
    pub sizes: Vec<SizePoint>,
}
