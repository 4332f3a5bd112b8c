//! The resolved configuration of a run of the network on a chip alone.

use hostnet_noc::{Measure, Params, Traffic};
use serde::Serialize;
use std::path::PathBuf;

/// A checked configuration of the network alone with every name, unit and default resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct NocPlan {
    /// The network.
    pub params: Params,
    /// Bytes of a flit.
    pub flit_bytes: u64,
    /// Cycles per second.
    pub clock_hz: u64,
    /// The packets.
    pub packets: Packets,
    /// Decides what packets draw that draw their way.
    pub seed: u64,
    /// How long is measured. Without an end (`u64::MAX`) until the last packet of a trace has arrived.
    pub measure: Measure,
    /// Hexadecimal SHA-256 of the canonical JSON of all of the above.
    pub hash: String,
    /// The complete configuration in the user's terms. Resolving it gives this plan again.
    pub effective: serde_json::Value,
    /// Dotted paths of the keys that the user wrote himself.
    pub given: Vec<String>,
}

/// Where the packets come from.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Packets {
    /// A description.
    Traffic(Traffic),
    /// A file.
    Trace {
        /// The file, with the folder of the configuration.
        path: PathBuf,
    },
}
