//! A pool of memory over the network.

use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a server of a cluster lends to a pool of memory, and borrows from it: a node without cores, memory = "pool".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PoolSpec {
    /// Bytes of its memory that it lends (size).
    #[serde(default = "nothing")]
    #[schemars(extend("x-max" = "64 TiB"))]
    pub(crate) lent: Size,
    /// Bytes of the pool that it borrows (size): where buffers with `memory = "pool"` lie.
    #[serde(default = "nothing")]
    #[schemars(extend("x-max" = "64 TiB"))]
    pub(crate) borrow: Size,
    /// The hosts that it borrows from, page by page in turn; all others that lend when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub(crate) from: Option<Vec<String>>,
    /// What it borrows is memory that all servers with this name see: pages that they share. They borrow as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub(crate) region: Option<String>,
    /// Whether it decides who may read and write the pages that others share.
    #[serde(default)]
    pub(crate) controller: bool,
    /// What a message about such a page takes the controller (time).
    #[serde(default = "controller_1_us")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "10 ms"))]
    pub(crate) controller_time: Time,
    /// A page: what is handed out at a time, and within which lines are read ahead (size), a power of two.
    #[serde(default = "page_4_kib")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub(crate) page: Size,
    /// Reads that may wait for other servers.
    #[serde(default = "credits_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) read_credits: u32,
    /// Writes that may wait for other servers.
    #[serde(default = "credits_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) write_credits: u32,
    /// Between the CHA and the port in one direction (time).
    #[serde(default = "latency_40_ns")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub(crate) latency: Time,
    /// From a NACK to the next attempt (time).
    #[serde(default = "retry_1_us")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 ms"))]
    pub(crate) retry: Time,
    /// From an attempt without any answer to the next (time).
    #[serde(default = "timeout_20_us")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 us"))]
    pub(crate) timeout: Time,
    /// Header of a message, in the place of Ethernet's (size).
    #[serde(default = "header_16_b")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub(crate) header: Size,
    /// Least frame on the wire, with its preamble, checksum and gap (size).
    #[serde(default = "frame_84_b")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "256 B"))]
    pub(crate) frame_min: Size,
    /// Priority class of what somebody waits for; above that of what is read ahead.
    #[serde(default = "priority_6")]
    #[schemars(range(min = 1, max = 7))]
    pub(crate) demand_priority: u8,
    /// Priority class of what is read ahead.
    #[serde(default = "priority_1")]
    #[schemars(range(min = 0, max = 6))]
    pub(crate) prefetch_priority: u8,
    /// Packets that wait at the port from which on what is read ahead is dropped there.
    #[serde(default = "packets_16")]
    #[schemars(range(min = 1, max = 65536))]
    pub(crate) port_queue: u32,
    /// What is read ahead.
    #[serde(default)]
    pub(crate) prefetch: PoolPrefetchSpec,
    /// Local memory set aside as a cache of the pages that it borrows (size): a multiple of `page`; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 TiB"))]
    pub(crate) cache: Option<Size>,
    /// What a miss of the cache brings: "line", its own; "page", its own and then the others of its page.
    #[serde(default)]
    pub(crate) fetch: PoolFetch,
    /// When dirty lines of the cache go back: "eviction", when their room is wanted; "early", when nothing else waits.
    #[serde(default)]
    pub(crate) write_back: PoolWriteBack,
    /// Lines that may be on their way to the cache beside demand, and as many that may be on their way back.
    #[serde(default = "queue_64")]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) transfers: u32,
}

/// What is read ahead of demand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PoolPrefetchSpec {
    /// What is read ahead: "none"; "next-line", the lines that follow; "stride", lines at the distance of the last two.
    #[serde(default)]
    pub(crate) kind: PoolPrefetchKind,
    /// Lines, or strides, ahead.
    #[serde(default = "depth_16")]
    #[schemars(range(min = 1, max = 64))]
    pub(crate) depth: u32,
    /// Lines that were read ahead, or are on their way.
    #[serde(default = "queue_64")]
    #[schemars(range(min = 1, max = 1024))]
    pub(crate) queue: u32,
}

impl Default for PoolPrefetchSpec {
    fn default() -> Self {
        Self { kind: PoolPrefetchKind::None, depth: depth_16(), queue: queue_64() }
    }
}

/// How lines to be read ahead are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PoolPrefetchKind {
    /// None is.
    #[default]
    None,
    /// The lines that follow.
    NextLine,
    /// At the distance of the last two reads.
    Stride,
}

/// What a miss of the cache brings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PoolFetch {
    /// Its line.
    #[default]
    Line,
    /// Its line, and then the others of its page.
    Page,
}

/// When dirty lines of the cache go back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PoolWriteBack {
    /// When the room of their page is wanted.
    #[default]
    Eviction,
    /// When nothing else waits.
    Early,
}

fn nothing() -> Size {
    Size(0)
}

fn page_4_kib() -> Size {
    Size(4096)
}

fn credits_256() -> u32 {
    256
}

fn latency_40_ns() -> Time {
    Time(40_000)
}

fn controller_1_us() -> Time {
    Time(1_000_000)
}

fn retry_1_us() -> Time {
    Time(1_000_000)
}

fn timeout_20_us() -> Time {
    Time(20_000_000)
}

fn header_16_b() -> Size {
    Size(16)
}

fn frame_84_b() -> Size {
    Size(84)
}

fn priority_6() -> u8 {
    6
}

fn priority_1() -> u8 {
    1
}

fn packets_16() -> u32 {
    16
}

fn depth_16() -> u32 {
    16
}

fn queue_64() -> u32 {
    64
}
