//! Keys and parameters of cores on other sockets that access the memory of this one over UPI.

use super::values::{Bandwidth, Size, Time};
use super::workload::StreamParams;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Other sockets, whose cores access the memory of this one over UPI. They are simulated only with a workload of kind
/// "remote".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RemoteSpec {
    /// Number of other sockets.
    #[schemars(range(min = 1, max = 63))]
    pub sockets: u32,
    /// Lines that a core of another socket keeps in flight, in its line fill buffer and by its prefetchers together.
    #[schemars(range(min = 1, max = 1024))]
    pub lines_in_flight: u32,
    /// True if a line that becomes dirty at another socket causes a directory write to memory.
    pub directory: bool,
    /// UPI link between two sockets: one pair of directions.
    pub upi: UpiSpec,
}

/// UPI link between two sockets: one pair of directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpiSpec {
    /// Bandwidth of one direction (bandwidth).
    #[schemars(extend("x-min" = "100 MB/s", "x-max" = "10 TB/s"))]
    pub bandwidth: Bandwidth,
    /// Latency of one direction, from CHA to CHA (time).
    #[schemars(extend("x-min" = "1 ps", "x-max" = "100 us"))]
    pub latency: Time,
    /// Credits for messages with data in one direction: lines in flight.
    #[schemars(range(min = 1, max = 65536))]
    pub data_credits: u32,
    /// Credits for messages without data in one direction.
    #[schemars(range(min = 1, max = 65536))]
    pub request_credits: u32,
    /// Message with a line of data, overheads included (size).
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 KiB"))]
    pub data: Size,
    /// Request or response without data (size).
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 KiB"))]
    pub request: Size,
}

/// Cores of other sockets that use memory of this socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteParams {
    /// Number of other sockets, each with at least one of the cores and a private UPI link.
    pub sockets: u32,
    /// UPI link to each of those sockets.
    pub upi: UpiParams,
    /// Maximum number of lines that a core has in flight, in its line fill buffer and by its prefetchers together.
    pub lines_in_flight: u32,
    /// True if a line that becomes dirty at a remote socket causes a directory write to memory.
    pub directory: bool,
    /// Cores of other sockets, with the stream that each runs.
    pub cores: Vec<RemoteCore>,
}

/// Core of another socket.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteCore {
    /// Socket of the core, counted from 0 among the other sockets.
    pub socket: u32,
    /// Workload that the core belongs to.
    pub class: u8,
    /// Loads and stores of the core; the list of cores there is ignored.
    pub stream: StreamParams,
}

/// UPI link between two sockets, one direction each way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpiParams {
    /// Bandwidth per direction, in bytes per second.
    pub bytes_per_s: u64,
    /// Latency per direction, in ps.
    pub latency_ps: u64,
    /// Credits per direction for messages with data: lines in flight.
    pub data_credits: u32,
    /// Credits per direction for messages without data.
    pub request_credits: u32,
    /// Bytes of a message with a line of data.
    pub data_bytes: u32,
    /// Bytes of a request or a response without data.
    pub request_bytes: u32,
}
