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
    /// Hash that assigns a line to a slice.
    #[serde(default)]
    pub hash: SliceHash,
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
            hash: self.hash,
            tor_entries: self.tor.entries,
            tor_write_entries: self.tor.write_entries.map_or(self.tor.entries, |most| most.min(self.tor.entries)),
            tor_expander_entries: self.tor.expander_entries,
            read_to_mc_ps: self.read_to_mc.0,
            from_mc_ps: self.from_mc.0,
            core_write_to_mc_ps: self.core_write_to_mc.0,
            io_write_to_mc_ps: self.io_write_to_mc.0,
            write_ack_ps: self.write_ack.0,
            evict_ps: 0,
        }
    }
}

/// Hash that assigns lines to slices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SliceHash {
    /// Multiples of the golden ratio: lines at equal distances are spread as evenly as possible.
    #[default]
    Even,
    /// All bits of the address are mixed, so that lines are spread as if at random.
    Mixed,
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
    /// Maximum number of these entries that lines behind a CXL link may hold, whose requests then wait in queues of
    /// their own; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4096))]
    pub expander_entries: Option<u32>,
}

/// Caching and home agents of a socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChaParams {
    /// Slices of the CHA; a hash of its address assigns a line to a slice.
    pub slices: u32,
    /// That hash.
    pub hash: SliceHash,
    /// Request buffer (TOR) entries per slice, shared by reads and writes.
    pub tor_entries: u32,
    /// Maximum number of TOR entries that writes of cores may hold; the rest is reserved for reads and the IIO.
    pub tor_write_entries: u32,
    /// Maximum number of TOR entries that lines behind a CXL link may hold; `None` if they may hold all.
    pub tor_expander_entries: Option<u32>,
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
    /// Time in which the LLC reads out the line that makes room for a core's write-back, in ps; 0 where the write-back
    /// does not wait for it.
    pub evict_ps: u64,
}
