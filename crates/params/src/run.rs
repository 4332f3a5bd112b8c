//! Keys of a run: name, seed, length and memory.

use super::values::{Size, Time, WarmUpSpec};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Name, seed, length and memory of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// Name of the run and of its run directory, 1 to 100 characters without a slash; the file's name without its
    /// extension when absent. It does not change the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Seed of every random stream, 0 to 2^64 - 1; 1 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Simulated time that is measured, after the warm-up (time); "1 ms" when absent. Not together with `precision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub duration: Option<Time>,
    /// Relative half-width of the 95 % confidence interval of every workload's throughput at which the measurement ends
    /// (0.0001 to 0.5); off when absent. Not together with `duration`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 0.5))]
    pub precision: Option<f64>,
    /// Longest simulated time that is measured until `precision` is reached or the jobs are done (time); "100 ms" when
    /// absent, "10 s" with `until`. Only with `precision` or `until`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "1000 s"))]
    pub duration_max: Option<Time>,
    /// Event that ends the measurement, which then starts with the run. Not together with `duration`, `precision` and
    /// `warmup`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<UntilSpec>,
    /// Simulated time before the measurement (time), or "auto": until the throughput of every workload has settled;
    /// "auto" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1000 s"))]
    pub warmup: Option<WarmUpSpec>,
    /// Fast-forward: "off" (the whole measurement is simulated) or "auto" (the measurement ends once its state is
    /// certified as stationary, and repetitions of jobs that are alike are skipped); "off" when absent. Not together
    /// with `precision`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forward: Option<ForwardSpec>,
    /// Maximum memory of the simulation, as estimated before it begins (size); "8 GiB" when absent. It does not change
    /// the results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MiB", "x-max" = "64 TiB"))]
    pub memory: Option<Size>,
}

/// Fast-forward of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ForwardSpec {
    /// The whole measurement is simulated.
    Off,
    /// The measurement ends once its state is certified as stationary.
    Auto,
}

/// Event that ends a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UntilSpec {
    /// The end of all jobs of the cluster.
    Jobs,
}
