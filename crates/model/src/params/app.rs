//! Parameters of the applications.

use serde::{Deserialize, Serialize};

/// An application: what its threads do, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppParams {
    /// The cores of its threads, one each.
    pub cores: Vec<u32>,
    /// What it is.
    pub app: App,
    /// Time per instruction of its threads when all data is at hand, in fs.
    pub instruction_fs: u64,
    /// Operations that the clients of one thread keep in flight; 0 = the thread needs no clients.
    pub in_flight: u32,
    /// From the end of an operation to the next one of the same client, in ps.
    pub think_ps: u64,
}

/// What an application is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum App {
    /// A key-value server per core in the manner of Redis.
    Redis(RedisParams),
    /// PageRank in the manner of GAPBS, one graph shared by all cores.
    PageRank(GraphParams),
    /// Betweenness centrality in the manner of GAPBS, one graph shared by all cores.
    Betweenness(GraphParams),
}

/// A key-value server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisParams {
    /// Keys of one server.
    pub keys: u64,
    /// Bytes of a value.
    pub value_bytes: u64,
    /// Share of SET in units of 2^-32; the rest is GET.
    pub sets: u64,
}

/// A uniform random graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphParams {
    /// Nodes, as a power of two.
    pub scale: u32,
    /// Edges per node, each of which joins two nodes.
    pub degree: u32,
}
