//! The resolved configuration of a run of the memory alone.

use hostnet_model::params::{DramParams, MapParams, MemoryControllerParams};
use serde::Serialize;
use std::path::PathBuf;

/// A checked configuration of the memory alone with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct MemoryPlan {
    /// The device on every channel.
    pub dram: DramParams,
    /// The controller of every subchannel.
    pub controller: MemoryControllerParams,
    /// Where a line lies; it has the number of channels.
    pub map: MapParams,
    /// Bytes of all channels; addresses are below.
    pub capacity_bytes: u64,
    /// The requests.
    pub requests: Requests,
    /// Reads in flight at most; 0 means any number.
    pub outstanding: u32,
    /// Share of the requests that come before the measurement, 0 to 0.9.
    pub warm_up: f64,
    /// Hexadecimal SHA-256 of the canonical JSON of all of the above.
    pub hash: String,
    /// The complete configuration in the user's terms. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// What a change of the device or the profile took away: texts for the user.
    pub ignored: Vec<String>,
    /// Dotted paths of the keys that the user wrote himself.
    pub given: Vec<String>,
}

/// Where the requests come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Requests {
    /// A description.
    Traffic(Traffic),
    /// A file.
    Trace {
        /// The file, with the folder of the configuration.
        path: PathBuf,
        /// How its lines are written.
        format: TraceFormat,
    },
}

/// Requests of one line by a description.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// Order of the lines.
    pub pattern: TrafficPattern,
    /// Share of reads, 0 to 1.
    pub reads: f64,
    /// Offered load as a share of the peak bandwidth; back to back when absent.
    pub load: Option<f64>,
    /// Number of requests, at least 1.
    pub requests: u64,
    /// Seed of the random streams.
    pub seed: u64,
}

/// The order in which described traffic visits lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TrafficPattern {
    /// One ascending stream.
    Sequential,
    /// Ascending streams, round robin.
    Streams {
        /// How many, 1 to 64.
        count: u32,
        /// Whether they meet in one bank in different rows, or lie in different banks.
        colliding: bool,
    },
    /// Uniform over the memory.
    Random,
}

/// How the lines of a trace are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum TraceFormat {
    /// As the first line looks.
    Auto,
    /// Ramulator 2: `LD` or `ST`, then the address.
    Ramulator,
    /// Ramulator 1: the address, then `R` or `W`.
    Ramulator1,
    /// DRAMsim3: address, operation and clock.
    Dramsim3,
}
