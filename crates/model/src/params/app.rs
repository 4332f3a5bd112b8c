//! Parameters of the applications.
//!
//! Counts of instructions are those of a core at work, accesses that hit the L1 included; `specs/apps/` has their
//! values and sources.

use serde::{Deserialize, Serialize};

/// An application: what its threads do, and where.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppParams {
    /// The cores of its threads, one each.
    pub cores: Vec<u32>,
    /// The cores of its clients: none, or one per core of [`AppParams::cores`], in the same order. Redis only.
    pub clients: Vec<u32>,
    /// What it is.
    pub app: App,
    /// Time per instruction of its threads when all data is at hand, in fs.
    pub instruction_fs: u64,
    /// Operations that the clients of one thread keep in flight; 0 = the thread needs no clients.
    pub in_flight: u32,
    /// From the end of an operation to the next one of the same client, in ps.
    pub think_ps: u64,
    /// The page walks of its random accesses; `None` = translations are at hand.
    pub walks: Option<WalkParams>,
}

/// Page walks: the page tables of memory far larger than what the second-level TLB (STLB) covers do not fit the L2
/// either.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalkParams {
    /// Pages whose translations a core holds in its STLB.
    pub tlb_pages: u64,
    /// Bytes of a page, a power of two, at least 4096.
    pub page_bytes: u64,
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
    /// One kernel of STREAM over arrays shared by all cores, a part for each.
    Stream(KernelParams),
    /// Loads and stores with a pause between them, in the manner of the Memory Latency Checker (MLC), a buffer per
    /// core.
    Mlc(MlcParams),
    /// A pointer chase: a random cycle over the lines of a buffer per core.
    Chase(ChaseParams),
    /// A trace of a program, which every core replays in memory of its own.
    Trace(TraceParams),
}

/// A key-value server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisParams {
    /// Keys of one server, at least 1.
    pub keys: u64,
    /// Bytes of a value, at least 1.
    pub value_bytes: u64,
    /// Share of SET in units of 2^-32; the rest is GET.
    pub sets: u64,
    /// Connections of one server, at least 1.
    pub connections: u32,
    /// Requests that a connection sends at a time, at least 1.
    pub pipeline: u32,
    /// Bytes of kernel memory through which replies pass before it is used again; as much again for requests.
    pub socket_bytes: u64,
    /// Its structures in memory.
    pub layout: RedisLayout,
    /// Its work.
    pub work: RedisWork,
}

/// Sizes of the structures of a key-value server, in bytes as the allocator hands them out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisLayout {
    /// An entry of the hash table.
    pub entry_bytes: u64,
    /// A key with its header.
    pub key_bytes: u64,
    /// The object that leads to a value.
    pub object_bytes: u64,
    /// The header and end of a value, beside its data.
    pub header_bytes: u64,
    /// A request without a value.
    pub request_bytes: u64,
    /// What stands around the data of a reply.
    pub reply_bytes: u64,
}

/// Instructions of a key-value server and of its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisWork {
    /// From the beginning of a request to the look at the hash table: event loop, parsing, dispatch, hash.
    pub request: u32,
    /// Per visited entry of a bucket: comparison of keys.
    pub entry: u32,
    /// Of a GET, from the object to the first byte of its value.
    pub reply: u32,
    /// Of a SET, from the object to the first byte of the new value: allocation, exchange of the values, release.
    pub set: u32,
    /// After the reply is in the buffer of the server: release of the request, statistics.
    pub finish: u32,
    /// Per line of a copy, loads and stores.
    pub line: u32,
    /// The kernel's part of an operation, without the copy: system calls over the pipeline.
    pub kernel: u32,
    /// A client's part of an operation: parsing the reply and forming the request, its kernel included.
    pub client: u32,
}

/// A uniform random graph, and the work of a program over it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphParams {
    /// Nodes, as a power of two; 4 to 32.
    pub scale: u32,
    /// Edges per node, each of which joins two nodes; at least 1.
    pub degree: u32,
    /// Times that every node is visited in a whole run: iterations of PageRank, sources of betweenness centrality.
    pub rounds: u32,
    /// Instructions per visit of a node.
    pub node: u32,
    /// Instructions per neighbour of a visited node.
    pub edge: u32,
    /// Instructions of the search per neighbour that lies one level further from the source, beside
    /// [`GraphParams::edge`]; betweenness centrality only.
    pub successor: u32,
    /// The same on the way back.
    pub dependency: u32,
}

/// A kernel of STREAM.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KernelParams {
    /// Which.
    pub kernel: Kernel,
    /// Bytes of one array; there are three.
    pub array_bytes: u64,
    /// Instructions per line of the result.
    pub line: u32,
}

/// The kernels of STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kernel {
    /// `c = a`
    Copy,
    /// `b = s * c`
    Scale,
    /// `c = a + b`
    Add,
    /// `a = b + s * c`
    Triad,
}

/// Loads and stores with a pause between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlcParams {
    /// Bytes of the buffer of one core, at least a line.
    pub working_set_bytes: u64,
    /// Share of loads in units of 2^-32; the rest are stores.
    pub reads: u64,
    /// Whether lines are drawn at random; otherwise they are taken in order.
    pub random: bool,
    /// Injected before every access, in ps.
    pub delay_ps: u64,
    /// Instructions per access, beside the delay.
    pub line: u32,
}

/// A pointer chase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChaseParams {
    /// Bytes of the buffer of one core, at least a line.
    pub working_set_bytes: u64,
    /// Instructions per access.
    pub line: u32,
}

/// A trace of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceParams {
    /// Where the file lies: not written out, as only what it holds matters.
    #[serde(skip)]
    pub file: String,
    /// What tells its content from that of another file.
    pub content: String,
    /// The name of its format; told by its first record when `None`.
    pub format: Option<String>,
    /// Whether it begins again at its end; otherwise the thread ends.
    pub repeat: bool,
    /// Bytes of memory that the pages of one thread may take.
    pub memory_bytes: u64,
}
