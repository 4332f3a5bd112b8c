//! Keys of a run of the memory alone: its traffic or trace, and its measurement.

use super::controller::ControllerSpec;
use super::dram::DramSpec;
use super::memory::MapSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Run of the memory alone, with generated traffic or a trace. Values with units are strings such as "400 ns".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRunSpec {
    /// Memory controllers and their DRAM.
    pub memory: MemoryPartSpec,
    /// Generated requests. Not together with `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficSpec>,
    /// Requests from a file. Not together with `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// Limit of the reads in flight, and warm-up.
    #[serde(default)]
    pub run: IssueSpec,
}

/// Memory controllers, their DRAM, and the address map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPartSpec {
    /// Number of memory channels, not only powers of two; the two subchannels of a DDR5 DIMM count as one channel.
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
    /// DRAM device on every channel: its name, or the path of a file such as "./my.toml", relative to the
    /// configuration. It sets the values of `memory.dram`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Profile of the controller: its name, or the path of a file. It sets the values of `memory.controller`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// DRAM of one channel; values set here override the device.
    pub dram: DramSpec,
    /// Address map from physical lines to DRAM.
    pub map: MapSpec,
    /// Controller of every channel, or of every subchannel; values set here override the profile.
    pub controller: ControllerSpec,
}

/// Generated requests, each for one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrafficSpec {
    /// Order of the lines: "sequential" or "seq" (one ascending stream), "strN" (N streams in different banks, round
    /// robin), "cstrN" (N streams whose rows collide in one bank), or "random" or "rand" (uniform over the memory); N
    /// is 1 to 64.
    #[serde(default = "random")]
    pub pattern: String,
    /// Share of reads; the rest are writes, drawn independently (0 to 1).
    #[serde(default = "all")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reads: f64,
    /// Offered load as a share of the peak bandwidth, with random gaps; back to back when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0001, max = 10.0))]
    pub load: Option<f64>,
    /// Number of requests.
    #[serde(default = "million")]
    #[schemars(range(min = 1, max = 1_000_000_000_000u64))]
    pub requests: u64,
    /// Seed of the random streams, 0 to 2^64 - 1.
    #[serde(default = "one")]
    pub seed: u64,
}

/// Requests from a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceSpec {
    /// Trace file, relative to the configuration; plain, or compressed with gzip, xz or zstd. Not together with
    /// `traffic`.
    pub path: String,
    /// Format of the lines.
    #[serde(default)]
    pub format: TraceFormatSpec,
}

/// Format of the lines of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormatSpec {
    /// Detected from the first line.
    #[default]
    Auto,
    /// "LD 0x1000" or "ST 4096".
    Ramulator,
    /// "0x1000 R" or "0x1000 W".
    Ramulator1,
    /// "0x1000 READ 17": address, operation and clock.
    Dramsim3,
}

/// Limit of the reads in flight, and warm-up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueSpec {
    /// Maximum number of reads in flight; 0 = unlimited.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub outstanding: u32,
    /// Share of the requests that precede the measurement.
    #[serde(default = "tenth")]
    #[schemars(range(min = 0.0, max = 0.9))]
    pub warmup: f64,
}

impl Default for IssueSpec {
    fn default() -> Self {
        IssueSpec { outstanding: 0, warmup: tenth() }
    }
}

impl Default for TrafficSpec {
    fn default() -> Self {
        TrafficSpec { pattern: random(), reads: all(), load: None, requests: million(), seed: one() }
    }
}

fn random() -> String {
    "random".to_string()
}

fn all() -> f64 {
    1.0
}

fn million() -> u64 {
    1_000_000
}

fn one() -> u64 {
    1
}

fn tenth() -> f64 {
    0.1
}
