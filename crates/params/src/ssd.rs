//! Keys and parameters of NVMe drives.

use super::values::{Bandwidth, Size, Time};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Socket that all drives are attached to, or the socket of each drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum DriveSockets {
    /// Socket of all drives.
    All(u8),
    /// Socket of each drive.
    Each(Vec<u8>),
}

impl JsonSchema for DriveSockets {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DriveSockets".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let socket = json_schema!({ "type": "integer", "minimum": 0, "maximum": 7 });
        json_schema!({
            "anyOf": [socket, { "type": "array", "items": socket, "minItems": 1, "maxItems": 64 }]
        })
    }
}

/// Paths of drives to memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SsdModeSpec {
    /// Through the socket that they are attached to.
    #[default]
    Standard,
    /// A path to every socket.
    Octo,
}

impl SsdModeSpec {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// NVMe drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SsdSpec {
    /// Number of drives: on each socket, or in total if `ssd.sockets` is given.
    #[schemars(range(min = 1, max = 64))]
    pub count: u32,
    /// Socket that the drives are attached to: one number for all, or a list with the socket of each, ascending, such
    /// as [0, 0, 1, 1]; every socket has `count` drives when absent. Drives are numbered in this order; each has as
    /// many lanes as if all of them were on one socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sockets: Option<DriveSockets>,
    /// Paths of the drives to memory: "standard", through the socket that they are attached to; "octo", a path to every
    /// socket, each as wide as that of a standard drive, with data on the path to the memory that holds it; "standard"
    /// when absent.
    #[serde(default, skip_serializing_if = "SsdModeSpec::is_default")]
    pub mode: SsdModeSpec,
    /// Bandwidth of one drive in both directions (bandwidth): shorthand for `read_bandwidth` and `write_bandwidth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub bandwidth: Option<Bandwidth>,
    /// Bandwidth of one drive for reading from it: P2M-Write (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub read_bandwidth: Option<Bandwidth>,
    /// Bandwidth of one drive for writing to it: P2M-Read (bandwidth).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 MB/s", "x-max" = "1 TB/s"))]
    pub write_bandwidth: Option<Bandwidth>,
    /// Time from submission of a command to its first data (time).
    #[schemars(extend("x-max" = "1 s"))]
    pub latency: Time,
    /// Maximum number of commands that a drive holds.
    #[schemars(range(min = 1, max = 65536))]
    pub queue_depth: u32,
    /// Largest transfer of one NVMe request (size), a power of two; the kernel does its work per request.
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub max_transfer: Size,
    /// Commands that a drive serves at a time, TLP by TLP, round robin.
    #[schemars(range(min = 1, max = 1024))]
    pub streams: u32,
}

/// NVMe drives of a socket, all alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SsdParams {
    /// Number of drives.
    pub count: u32,
    /// Bandwidth of reads from one drive (P2M-Write), in bytes per second.
    pub read_bytes_per_s: u64,
    /// Bandwidth of writes to one drive (P2M-Read), in bytes per second.
    pub write_bytes_per_s: u64,
    /// Time from submission of a command to its first data, in ps.
    pub latency_ps: u64,
    /// Maximum number of commands that a drive holds.
    pub queue_depth: u32,
    /// Commands that a drive serves at a time, TLP by TLP, round robin.
    pub streams: u32,
    /// Largest transfer of one NVMe request, in bytes; the kernel does its work per request.
    pub max_transfer_bytes: u64,
}
