//! Parameters of a memory expander.

use super::MemoryParams;
use serde::{Deserialize, Serialize};

/// Memory expander: memory behind a CXL link, a node without cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpanderParams {
    /// Bandwidth of the link in each direction that is left for message slots, in bytes per second.
    pub bytes_per_s: u64,
    /// Latency of the link with both of its ends in one direction, in ps.
    pub latency_ps: u64,
    /// Bytes of a message without data.
    pub request_bytes: u32,
    /// Bytes of a message with a line of data.
    pub data_bytes: u32,
    /// Reads that the host may have outstanding at the expander.
    pub read_credits: u32,
    /// Writes that the host may have outstanding at the expander.
    pub write_credits: u32,
    /// Latency from the end of the link to the memory controllers, and of the way back, in ps; at least 1.
    pub device_ps: u64,
    /// Memory of the expander.
    pub memory: MemoryParams,
}
