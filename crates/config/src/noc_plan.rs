//! Defines the resolved configuration of a run that simulates the network on a chip alone.

use hostnet_noc::{Measure, Params, Traffic};
use serde::Serialize;
use std::path::PathBuf;

/// Checked configuration of a network on a chip, with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct NocPlan {
    /// Parameters of the network.
    pub params: Params,
    /// Size of a flit, in bytes.
    pub flit_bytes: u64,
    /// Clock frequency of the network, in Hz.
    pub clock_hz: u64,
    /// Source of the packets.
    pub packets: Packets,
    /// Seed of the random routing choices of packets.
    pub seed: u64,
    /// Lengths of the phases of the run. Without an end (`u64::MAX`), the run measures until the last packet of a
    /// trace has arrived.
    pub measure: Measure,
    /// Hexadecimal SHA-256 of the canonical JSON of all of the above.
    pub hash: String,
    /// Complete configuration in the terms of the user. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// Dotted paths of the keys that the user set.
    pub given: Vec<String>,
}

/// Source of the packets of a network run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Packets {
    /// Packets generated from a description.
    Traffic(Traffic),
    /// Packets of a trace file.
    Trace {
        /// Path of the file, including the folder of the configuration.
        path: PathBuf,
    },
}
