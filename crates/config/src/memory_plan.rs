//! Defines the resolved configuration of a run that simulates the memory alone.

use hostnet_params::{DramParams, MapParams, MemoryControllerParams};
use serde::Serialize;
use std::path::PathBuf;

/// Checked configuration of a memory run, with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPlan {
    /// DRAM device of every channel.
    pub dram: DramParams,
    /// Memory controller of every subchannel.
    pub controller: MemoryControllerParams,
    /// Address map from lines to DRAM. It also holds the number of channels.
    pub map: MapParams,
    /// Capacity of all channels, in bytes. Every address is below it.
    pub capacity_bytes: u64,
    /// Source of the requests.
    pub requests: Requests,
    /// Largest number of reads in flight; 0 means no limit.
    pub outstanding: u32,
    /// Share of the requests that belong to the warm-up, 0 to 0.9.
    pub warm_up: f64,
    /// Hexadecimal SHA-256 of the canonical JSON of all of the above.
    pub hash: String,
    /// Complete configuration in the terms of the user. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// Notes for the user about values that a change of the device or the profile dropped.
    pub ignored: Vec<String>,
    /// Dotted paths of the keys that the user set.
    pub given: Vec<String>,
}

/// Source of the requests of a memory run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Requests {
    /// Requests generated from a description.
    Traffic(Traffic),
    /// Requests of a trace file.
    Trace {
        /// Path of the file, including the folder of the configuration.
        path: PathBuf,
        /// Format of the lines.
        format: TraceFormat,
    },
}

/// Description of generated requests. Each request is for one line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// Order in which the requests visit lines.
    pub pattern: TrafficPattern,
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Offered load as a share of the peak bandwidth. Requests are back to back if `None`.
    pub load: Option<f64>,
    /// Number of requests, at least 1.
    pub requests: u64,
    /// Seed of the random streams.
    pub seed: u64,
}

/// Order in which generated requests visit lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TrafficPattern {
    /// One ascending stream.
    Sequential,
    /// Several ascending streams, served round robin.
    Streams {
        /// Number of streams, 1 to 64.
        count: u32,
        /// True if all streams use different rows of the same bank, false if each uses another bank.
        colliding: bool,
    },
    /// Lines drawn uniformly from the whole memory.
    Random,
}

/// Format of the lines of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TraceFormat {
    /// Detected from the first line.
    Auto,
    /// Format of Ramulator 2: `LD` or `ST`, then the address.
    Ramulator,
    /// Format of Ramulator 1: the address, then `R` or `W`.
    Ramulator1,
    /// Format of DRAMsim3: address, operation and clock.
    Dramsim3,
}
