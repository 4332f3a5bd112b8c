//! Keys and parameters of the caching and home agents.

use super::values::Time;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Caching and home agents (CHA).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChaSpec {
    /// Slices of the CHA; a hash of its address assigns a line to a slice.
    #[schemars(range(min = 1, max = 256))]
    pub slices: u32,
    /// Request buffer (TOR) of each slice.
    pub tor: TorSpec,
    /// Time from admission of a read to its arrival at the memory controller (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub read_to_mc: Time,
    /// Time from the last data beat on the channel to the CHA (time).
    #[schemars(extend("x-max" = "100 us"))]
    pub from_mc: Time,
    /// Time from admission of a core's write-back to its arrival at the memory controller (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub core_write_to_mc: Time,
    /// Time from admission of an IIO write to its arrival at the memory controller (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub io_write_to_mc: Time,
    /// Time from the memory controller's acceptance of a write to the CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub write_ack: Time,
}

impl ChaSpec {
    /// Returns the parameters of the CHA.
    pub fn params(&self) -> ChaParams {
        ChaParams {
            slices: self.slices,
            tor_entries: self.tor.entries,
            tor_write_entries: self.tor.write_entries.map_or(self.tor.entries, |most| most.min(self.tor.entries)),
            read_to_mc_ps: self.read_to_mc.0,
            from_mc_ps: self.from_mc.0,
            core_write_to_mc_ps: self.core_write_to_mc.0,
            io_write_to_mc_ps: self.io_write_to_mc.0,
            write_ack_ps: self.write_ack.0,
        }
    }
}

/// Request buffer of a CHA slice (table of requests, TOR).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TorSpec {
    /// Request buffer (TOR) entries per slice, shared by reads and writes of cores and devices.
    #[schemars(range(min = 1, max = 4096))]
    pub entries: u32,
    /// Maximum number of these entries that write-backs of cores may hold; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub write_entries: Option<u32>,
}

/// Caching and home agents of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChaParams {
    /// Slices of the CHA; a hash of its address assigns a line to a slice.
    pub slices: u32,
    /// Request buffer (TOR) entries per slice, shared by reads and writes.
    pub tor_entries: u32,
    /// Maximum number of TOR entries that writes of cores may hold; the rest is reserved for reads and the IIO.
    pub tor_write_entries: u32,
    /// Time from admission of a read to its arrival at the memory controller, in ps.
    pub read_to_mc_ps: u64,
    /// Time from the last data beat on the channel to the CHA, in ps.
    pub from_mc_ps: u64,
    /// Time from admission of a core's write-back to its arrival at the memory controller, in ps.
    pub core_write_to_mc_ps: u64,
    /// Time from admission of an IIO write to its arrival at the memory controller, in ps.
    pub io_write_to_mc_ps: u64,
    /// Time from the memory controller's acceptance of a write to the CHA, in ps.
    pub write_ack_ps: u64,
}
