//! Keys of the length of a run.

use super::values::{Size, Time, WarmUpSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How long to simulate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Name of the run and of its run directory, 1 to 100 characters without a slash; the file's name without its
    /// ending when absent. It does not change the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Seed of every random stream, 0 to 2^64 - 1; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Simulated time that is measured, after the warm-up (time); "1 ms" when absent. Not together with `precision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub duration: Option<Time>,
    /// Measure until the 95 % confidence interval of every workload's throughput is narrower than this share of it, on
    /// each side (0.0001 to 0.5); off when absent. Not together with `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 0.5))]
    pub precision: Option<f64>,
    /// Longest time that is measured to reach `precision`, or until jobs are done (time); "100 ms" when absent, "10 s"
    /// with `until`. Only with `precision` or `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub duration_max: Option<Time>,
    /// Measure from the start of the run until all jobs of a cluster are done. Not together with `duration`,
    /// `precision` and `warmup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilSpec>,
    /// Simulated time before the measurement begins (time), or "auto": until the throughput of every workload has
    /// settled; "auto" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub warmup: Option<WarmUpSpec>,
    /// Most memory that the simulation may take, as estimated before it begins (size); "8 GiB" when absent. It does not
    /// change the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "64 TiB"))]
    pub memory: Option<Size>,
}

/// When a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UntilSpec {
    /// When all jobs are done.
    Jobs,
}
