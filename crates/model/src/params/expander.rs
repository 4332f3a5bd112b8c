//! Memory behind a link.

use super::MemoryParams;
use serde::{Deserialize, Serialize};

/// A memory expander: memory behind a CXL link, a node without cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExpanderParams {
    /// Bytes per second of its link in each direction that slots of messages get.
    pub bytes_per_s: u64,
    /// Latency of the link and its two ends in one direction, in ps.
    pub latency_ps: u64,
    /// Bytes of a message without data, and of one with a line.
    pub request_bytes: u32,
    /// See `request_bytes`.
    pub data_bytes: u32,
    /// Reads that the host may have at it or on their way, and writes.
    pub read_credits: u32,
    /// See `read_credits`.
    pub write_credits: u32,
    /// From the end of the link to its memory controllers, in ps; as long back, at least 1.
    pub device_ps: u64,
    /// Its memory.
    pub memory: MemoryParams,
}
