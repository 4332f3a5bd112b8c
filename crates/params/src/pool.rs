//! Keys and parameters of a pool of memory over the network.

use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Memory that a server of a cluster lends to a pool and borrows from it. The borrowed memory is a node without cores,
/// `memory = "pool"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolSpec {
    /// Memory that the server lends (size).
    #[serde(default = "nothing")]
    #[schemars(extend("x-max" = "64 TiB"))]
    pub lent: Size,
    /// Memory of the pool that the server borrows (size), which holds buffers with `memory = "pool"`.
    #[serde(default = "nothing")]
    #[schemars(extend("x-max" = "64 TiB"))]
    pub borrow: Size,
    /// Hosts that the server borrows from, page by page round robin; all other lenders when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 256))]
    pub from: Option<Vec<String>>,
    /// Name of a shared region: all servers with this name share the pages that they borrow. They borrow the same
    /// amount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 64))]
    pub region: Option<String>,
    /// True if the server decides which servers may read and write shared pages.
    #[serde(default)]
    pub controller: bool,
    /// Processing time of a message about a shared page at the controller (time).
    #[serde(default = "controller_1_us")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "10 ms"))]
    pub controller_time: Time,
    /// Page (size), a power of two: the unit of allocation, and the range of a prefetcher.
    #[serde(default = "page_4_kib")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 GiB", "x-power-of-two" = true))]
    pub page: Size,
    /// Reads that may be outstanding at other servers.
    #[serde(default = "credits_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub read_credits: u32,
    /// Writes that may be outstanding at other servers.
    #[serde(default = "credits_256")]
    #[schemars(range(min = 1, max = 65536))]
    pub write_credits: u32,
    /// Latency between the CHA and the port in one direction (time).
    #[serde(default = "latency_40_ns")]
    #[schemars(extend("x-min" = "1 ps", "x-max" = "10 us"))]
    pub latency: Time,
    /// Time from a NACK to the next attempt (time).
    #[serde(default = "retry_1_us")]
    #[schemars(extend("x-min" = "1 ns", "x-max" = "1 ms"))]
    pub retry: Time,
    /// Time from an attempt without an answer to the next attempt (time).
    #[serde(default = "timeout_20_us")]
    #[schemars(extend("x-min" = "1 us", "x-max" = "100 us"))]
    pub timeout: Time,
    /// Header of a message, in place of the Ethernet header (size).
    #[serde(default = "header_16_b")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub header: Size,
    /// Minimum frame on the wire, with its preamble, checksum and gap (size).
    #[serde(default = "frame_84_b")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "256 B"))]
    pub frame_min: Size,
    /// Priority class of demand requests, above that of prefetches.
    #[serde(default = "priority_6")]
    #[schemars(range(min = 1, max = 7))]
    pub demand_priority: u8,
    /// Priority class of prefetches.
    #[serde(default = "priority_1")]
    #[schemars(range(min = 0, max = 6))]
    pub prefetch_priority: u8,
    /// Number of packets waiting at the port at or above which the port drops prefetches.
    #[serde(default = "packets_16")]
    #[schemars(range(min = 1, max = 65536))]
    pub port_queue: u32,
    /// Prefetcher of lines of the pool.
    #[serde(default)]
    pub prefetch: PoolPrefetchSpec,
    /// Local memory set aside as a cache of the borrowed pages (size): a multiple of `page`; none when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "4 KiB", "x-max" = "1 TiB"))]
    pub cache: Option<Size>,
    /// Lines that a cache miss fetches: "line", the missing one; "page", the missing one and then the others of its
    /// page.
    #[serde(default)]
    pub fetch: PoolFetch,
    /// Write-back of dirty lines of the cache: "eviction", when their page is evicted; "early", when nothing else
    /// waits.
    #[serde(default)]
    pub write_back: PoolWriteBack,
    /// Maximum number of lines in flight to the cache beside demand, and of lines being written back.
    #[serde(default = "queue_64")]
    #[schemars(range(min = 1, max = 1024))]
    pub transfers: u32,
}

/// Prefetcher of lines of a memory pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolPrefetchSpec {
    /// Prefetched lines: "none"; "next-line", the following lines; "stride", lines at the distance of the last two
    /// reads.
    #[serde(default)]
    pub kind: PoolPrefetchKind,
    /// Lines, or strides, that the prefetcher runs ahead.
    #[serde(default = "depth_16")]
    #[schemars(range(min = 1, max = 64))]
    pub depth: u32,
    /// Maximum number of lines that have been prefetched or are in flight.
    #[serde(default = "queue_64")]
    #[schemars(range(min = 1, max = 1024))]
    pub queue: u32,
}

impl Default for PoolPrefetchSpec {
    fn default() -> Self {
        Self { kind: PoolPrefetchKind::None, depth: depth_16(), queue: queue_64() }
    }
}

/// Rule of a prefetcher.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolPrefetchKind {
    /// No prefetching.
    #[default]
    None,
    /// The following lines.
    NextLine,
    /// Lines at the distance of the last two reads.
    Stride,
}

/// Lines that a miss of the cache fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolFetch {
    /// The missing line.
    #[default]
    Line,
    /// The missing line, and then the others of its page.
    Page,
}

/// Write-back of dirty lines of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PoolWriteBack {
    /// When the page of the dirty lines is evicted.
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

/// Memory that a server lends to a pool and borrows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolParams {
    /// Bytes of its memory that the server lends.
    pub lent_bytes: u64,
    /// Bytes of the pool that the server borrows as a node of memory without cores.
    pub borrowed_bytes: u64,
    /// Bytes of a page, a power of two: the unit of allocation, and the range of a prefetcher.
    pub page_bytes: u64,
    /// Servers that this server borrows from, page by page round robin.
    pub lenders: Vec<LenderParams>,
    /// Reads that may be outstanding at other servers.
    pub read_credits: u32,
    /// Writes that may be outstanding at other servers.
    pub write_credits: u32,
    /// Latency between the CHA and the port in one direction, in ps; at least 1.
    pub latency_ps: u64,
    /// Time from a NACK to the next attempt, in ps; at least 1.
    pub retry_ps: u64,
    /// Time from an attempt without an answer to the next attempt, in ps; at least 1.
    pub timeout_ps: u64,
    /// Bytes on the wire of a message without data.
    pub small_bytes: u32,
    /// Bytes on the wire of a message with a line.
    pub data_bytes: u32,
    /// Priority class of demand requests.
    pub demand_priority: u8,
    /// Priority class of prefetches.
    pub prefetch_priority: u8,
    /// Number of packets waiting at the port at or above which the port drops prefetches.
    pub port_packets: u32,
    /// Prefetcher of lines of the pool, if any.
    pub prefetch: Option<PoolPrefetchParams>,
    /// Local memory used as a cache of the pool; `None` if borrowed memory is not cached.
    pub cache: Option<PoolCacheParams>,
    /// Sharing of the borrowed memory, if other servers see it, too.
    pub shared: Option<SharedPagesParams>,
    /// At the controller: the pages that it manages.
    pub controller: Option<PageControllerParams>,
}

/// Memory that several servers share: all that each of them borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedPagesParams {
    /// Number of the server's first page among the shared pages of the pool.
    pub first_page: u64,
    /// Index of the controller among the hosts.
    pub controller: u16,
}

/// Region of pages that the same servers share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedRegionParams {
    /// Number of the region's first page among the shared pages of the pool.
    pub first_page: u64,
    /// Servers that share the pages, as ascending indices among the hosts; at most 256.
    pub members: Vec<u16>,
}

/// Controller that decides which server may read and write a shared page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageControllerParams {
    /// Regions, by their first pages.
    pub regions: Vec<SharedRegionParams>,
    /// Processing time of a message, in ps; at least 1.
    pub message_ps: u64,
}

/// Directory of shared pages in a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharerDirectoryParams {
    /// Regions, by their first pages.
    pub regions: Vec<SharedRegionParams>,
    /// Number of shared pages, from the first on, that the switch manages.
    pub pages: u64,
}

/// Server that another server borrows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LenderParams {
    /// Index of the lender among the hosts.
    pub host: u16,
    /// First of the lender's lent pages that belong to this borrower.
    pub first_page: u64,
}

/// Prefetcher of a memory pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolPrefetchParams {
    /// True if the prefetcher detects strides, false if it fetches the next lines.
    pub stride: bool,
    /// Lines, or strides, that the prefetcher runs ahead.
    pub depth: u32,
    /// Maximum number of lines that have been prefetched or are in flight.
    pub queue: u32,
}

/// Local memory that caches the borrowed memory of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolCacheParams {
    /// Bytes of local memory set aside, a multiple of the page size.
    pub bytes: u64,
    /// True if a miss fetches all lines of its page, false if only the missing line.
    pub whole_pages: bool,
    /// True if dirty lines are written back as soon as there is time, false if on eviction of their page.
    pub early: bool,
    /// Maximum number of lines beside demand in flight to the cache, and of lines being written back; at least 1.
    pub transfers: u32,
}
