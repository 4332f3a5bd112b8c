//! Parameters of a memory pool, made of memory that servers lend each other.

use serde::{Deserialize, Serialize};

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
    /// Packets waiting at the port from which on prefetches are dropped there.
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
    /// Servers that share the pages, as ascending indices among the hosts; 256 at most.
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
    /// Lines that have been prefetched or are in flight.
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
    /// Lines beside demand in flight to the cache at most, and lines being written back at most; at least 1.
    pub transfers: u32,
}
