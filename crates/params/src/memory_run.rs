//! A run of the memory alone: its traffic or trace, and how it is measured.

use super::controller::ControllerSpec;
use super::dram::DramSpec;
use super::memory::MapSpec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The memory alone, with traffic from a description or from a trace. Values with units are strings such as "400 ns".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryRunSpec {
    /// The memory controllers and their DRAM.
    pub memory: MemoryPartSpec,
    /// The requests, by a description. Not together with `trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traffic: Option<TrafficSpec>,
    /// The requests, from a file. Not together with `traffic`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceSpec>,
    /// How the requests are issued and measured.
    #[serde(default)]
    pub run: IssueSpec,
}

/// The memory controllers, their DRAM, and the address map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPartSpec {
    /// Channels of DIMMs, not the two subchannels of DDR5; any number, not only powers of two.
    #[schemars(range(min = 1, max = 64))]
    pub channels: u32,
    /// The DRAM device on every channel: its name, or the path of a file such as "./my.toml", relative to the
    /// configuration. It gives the values of `memory.dram`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Profile of the controller: its name, or the path of a file. It gives the values of `memory.controller`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// The DRAM of one channel; what is set here overrides the device.
    pub dram: DramSpec,
    /// Where a line lies.
    pub map: MapSpec,
    /// The controller of every channel, or of every subchannel; what is set here overrides the profile.
    pub controller: ControllerSpec,
}

/// Requests of one line by a description.
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
    /// Requests.
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
    /// The file, relative to the configuration; plain, or compressed with gzip, xz or zstd. Not together with
    /// `traffic`.
    pub path: String,
    /// How its lines are written.
    #[serde(default)]
    pub format: TraceFormatSpec,
}

/// How the lines of a trace are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TraceFormatSpec {
    /// As the first line looks.
    #[default]
    Auto,
    /// "LD 0x1000" or "ST 4096".
    Ramulator,
    /// "0x1000 R" or "0x1000 W".
    Ramulator1,
    /// "0x1000 READ 17": address, operation and clock.
    Dramsim3,
}

/// How the requests are issued and measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IssueSpec {
    /// Reads in flight at most; 0 means any number.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1_000_000))]
    pub outstanding: u32,
    /// Share of the requests that come before the measurement.
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
