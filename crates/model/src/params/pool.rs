//! Memory of other servers.

use serde::{Deserialize, Serialize};

/// What a server lends to a pool of memory and borrows from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolParams {
    /// Bytes of its memory that it lends.
    pub lent_bytes: u64,
    /// Bytes of the pool that it borrows: a node of memory without cores.
    pub borrowed_bytes: u64,
    /// Bytes of a page: the unit that is handed out, and within which is prefetched. A power of two.
    pub page_bytes: u64,
    /// Whom it borrows from: page by page in turn.
    pub lenders: Vec<LenderParams>,
    /// Reads that may wait for other servers, and writes.
    pub read_credits: u32,
    /// See `read_credits`.
    pub write_credits: u32,
    /// Between the CHA and the port in one direction, in ps; at least 1.
    pub latency_ps: u64,
    /// From a NACK to the next attempt, in ps; at least 1.
    pub retry_ps: u64,
    /// From an attempt without any answer to the next, in ps; at least 1.
    pub timeout_ps: u64,
    /// Bytes on the wire of a message without data, and of one with a line.
    pub small_bytes: u32,
    /// See `small_bytes`.
    pub data_bytes: u32,
    /// Priority class of demand, and of prefetches.
    pub demand_priority: u8,
    /// See `demand_priority`.
    pub prefetch_priority: u8,
    /// Packets waiting at the port from which on prefetches are dropped there.
    pub port_packets: u32,
    /// What is read ahead.
    pub prefetch: Option<PoolPrefetchParams>,
    /// Local memory as a cache of the pool; nothing if what is borrowed is flat.
    pub cache: Option<PoolCacheParams>,
    /// What it borrows if other servers see it, too.
    pub shared: Option<SharedParams>,
    /// Of the controller: whose pages it decides about.
    pub controller: Option<ControllerOfPagesParams>,
}

/// Pages that several servers see: all that each of them borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedParams {
    /// The number of its first page among the shared pages of the pool.
    pub first_page: u64,
    /// The number of the controller among the hosts.
    pub controller: u16,
}

/// A region: pages that the same servers share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegionParams {
    /// The number of its first page among the shared pages of the pool.
    pub first_page: u64,
    /// Those that share them, as numbers among the hosts in rising order: 256 at most.
    pub members: Vec<u16>,
}

/// Who decides which server may read and write a shared page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerOfPagesParams {
    /// The regions, by their first pages.
    pub regions: Vec<RegionParams>,
    /// What a message takes it, in ps; at least 1.
    pub message_ps: u64,
}

/// What a switch knows of who shares pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharersParams {
    /// The regions, by their first pages.
    pub regions: Vec<RegionParams>,
    /// The shared pages that it decides about: the first ones.
    pub pages: u64,
}

/// Whom a server borrows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LenderParams {
    /// Its number among the hosts.
    pub host: u16,
    /// The first of its lent pages that are for this server.
    pub first_page: u64,
}

/// What is read ahead of demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolPrefetchParams {
    /// Whether strides are found; otherwise lines follow each other.
    pub stride: bool,
    /// Lines, or strides, ahead.
    pub depth: u32,
    /// Lines that were read ahead, or are on their way.
    pub queue: u32,
}

/// Local memory that is a cache of what a server borrows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolCacheParams {
    /// Bytes of local memory set aside: a multiple of the pages.
    pub bytes: u64,
    /// Whether a miss has all lines of its page fetched; otherwise its own line.
    pub whole_pages: bool,
    /// Whether dirty lines are written back as soon as there is time; otherwise when the room of their page is wanted.
    pub early: bool,
    /// Lines that may be on their way here beside demand, and as many that may be written back; at least 1.
    pub transfers: u32,
}
