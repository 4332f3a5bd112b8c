//! Requests in an open loop, and who serves them.

use super::patterns::FlowSizesSpec;
use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When requests come, and who serves them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceSpec {
    /// Requests per second of each flow, whether or not those before them are answered.
    #[schemars(range(min = 0.001, max = 1_000_000.0))]
    pub(crate) rate: f64,
    /// How they come; "poisson" when absent.
    #[serde(default)]
    pub(crate) arrivals: ArrivalsSpec,
    /// Time that a worker takes for a request, on average (time); none when absent. At a server it is work of a core at
    /// `core.frequency`.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub(crate) time: Time,
    /// The same in cycles of the core that does it, in the place of `time`; only where the workers are on a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000_000_000_u64))]
    pub(crate) cycles: Option<u64>,
    /// How that time is distributed; "constant" when absent.
    #[serde(default)]
    pub(crate) distribution: DistributionSpec,
    /// Of "lognormal": standard deviation of that time divided by its mean; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 10.0))]
    pub(crate) deviation: Option<f64>,
    /// Requests that a host serves at a time, of all flows of the table; the others wait in the order in which they
    /// came; 1 when absent. At a server they are shared out among the cores that have connections, at least one each.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) workers: u32,
    /// Reads of storage that each request waits for; none when absent. Only where the workers are on a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) io: Option<ServiceIoSpec>,
    /// Requests of each flow that come as a burst, with as much time from one burst to the next as `rate` says; 1 when
    /// absent.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) burst: u32,
    /// From one request of a burst to the next (time); they come at a time when absent.
    #[serde(default = "no_time")]
    #[schemars(extend("x-max" = "1 s"))]
    pub(crate) spacing: Time,
    /// When the first come of each host that asks, with arrivals = "constant"; the time between two after the flow
    /// begins when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phase: Option<PhaseSpec>,
    /// First word of a request, 2 to 16 letters, of which a NIC may look at the first two; "GET" when absent.
    #[serde(default = "get")]
    #[schemars(length(min = 2, max = 16))]
    pub(crate) verb: String,
    /// Requests of different sizes, in the place of `request`: a distribution, as of `sizes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) requests: Option<FlowSizesSpec>,
    /// Answers of different sizes, in the place of `response`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) responses: Option<FlowSizesSpec>,
}

/// Reads of storage that a request waits for, one after the other, with even pieces of work before, between and after.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServiceIoSpec {
    /// How many, with even pieces of work before, between and after.
    #[schemars(range(min = 1, max = 255))]
    pub(crate) reads: u8,
    /// What each takes (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 s"))]
    pub(crate) latency: Time,
}

/// When the first requests of a host come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PhaseSpec {
    /// Those of all hosts when the flow begins.
    Aligned,
    /// Of each host at a time of its own, drawn from the time between two.
    Random,
}

/// How requests come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ArrivalsSpec {
    /// Independently of each other.
    #[default]
    Poisson,
    /// By a clock.
    Constant,
}

/// How a time is distributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DistributionSpec {
    /// Always the same.
    #[default]
    Constant,
    /// Exponential.
    Exponential,
    /// Its logarithm is normal.
    Lognormal,
}

fn no_time() -> Time {
    Time(0)
}

fn get() -> String {
    "GET".to_owned()
}

fn one() -> u32 {
    1
}
