//! Parameters of the threads of an application.

use super::app::StreamKernel;
use super::WorkloadParams;
use serde::{Deserialize, Serialize};

/// Application: behaviour of its threads, and the cores that they run on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AppParams {
    /// Cores of the threads, one each.
    pub cores: Vec<u32>,
    /// Cores of the clients: none, or one per core of [`AppParams::cores`] in the same order. Redis only.
    pub clients: Vec<u32>,
    /// Kind of the application.
    pub app: App,
    /// Time per instruction of the threads when no access misses the L1, in fs.
    pub instruction_fs: u64,
    /// Operations that the clients of one thread keep outstanding; 0 = the thread needs no clients.
    pub in_flight: u32,
    /// Time from the end of an operation to the next one of the same client, in ps.
    pub think_ps: u64,
    /// Page walks of random accesses; `None` = all translations hit the TLB.
    pub walks: Option<WalkParams>,
}

impl WorkloadParams for AppParams {
    fn name(&self) -> &'static str {
        "app"
    }

    fn cores(&self) -> &[u32] {
        &self.cores
    }

    fn runs_on(&self, core: u32) -> bool {
        self.cores.contains(&core) || self.clients.contains(&core)
    }
}

/// Page walks. Page tables of memory far larger than the reach of the second-level TLB (STLB) do not fit the L2
/// either.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WalkParams {
    /// Pages that a core's STLB covers.
    pub tlb_pages: u64,
    /// Bytes of a page, a power of two, at least 4096.
    pub page_bytes: u64,
}

/// Kind of an application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum App {
    /// Key-value servers modelled on Redis, one per core.
    Redis(RedisParams),
    /// PageRank modelled on GAPBS, over one graph shared by all cores.
    PageRank(GraphParams),
    /// Betweenness centrality modelled on GAPBS, over one graph shared by all cores.
    Betweenness(GraphParams),
    /// One kernel of STREAM over arrays shared by all cores, each of which processes a part.
    Stream(StreamKernelParams),
    /// Loads and stores separated by delays, modelled on the Memory Latency Checker (MLC), with a buffer per core.
    Mlc(MlcParams),
    /// A pointer chase: a random cycle over the lines of a buffer per core.
    Chase(ChaseParams),
    /// Trace of a program, which every core replays in private memory.
    Trace(TraceParams),
}

/// Parameters of a key-value server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisParams {
    /// Keys of one server, at least 1.
    pub keys: u64,
    /// Bytes of a value, at least 1.
    pub value_bytes: u64,
    /// Share of SET commands in units of 2^-32; the rest are GET.
    pub sets: u64,
    /// Connections of one server, at least 1.
    pub connections: u32,
    /// Requests that a connection sends at a time (pipelining), at least 1.
    pub pipeline: u32,
    /// Bytes of kernel memory that replies cycle through; requests cycle through as much.
    pub socket_bytes: u64,
    /// Sizes of the server's data structures.
    pub layout: RedisLayout,
    /// Instruction counts.
    pub work: RedisWork,
}

/// Sizes of the data structures of a key-value server, in bytes as rounded by the allocator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisLayout {
    /// Bytes of an entry of the hash table.
    pub entry_bytes: u64,
    /// Bytes of a key with its header.
    pub key_bytes: u64,
    /// Bytes of the object that points to a value.
    pub object_bytes: u64,
    /// Bytes of the header and terminator of a value, beside its data.
    pub header_bytes: u64,
    /// Bytes of a request without a value.
    pub request_bytes: u64,
    /// Bytes of protocol overhead around the data of a reply.
    pub reply_bytes: u64,
}

/// Instruction counts of a key-value server and of its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RedisWork {
    /// Instructions from the start of a request to the hash table lookup: event loop, parsing, dispatch, hash.
    pub request: u32,
    /// Instructions per visited entry of a bucket: key comparison.
    pub entry: u32,
    /// Instructions of a GET from the object to the first byte of its value.
    pub reply: u32,
    /// Instructions of a SET from the object to the first byte of the new value: allocation, exchange of the values,
    /// release.
    pub set: u32,
    /// Instructions after the reply is in the server's buffer: release of the request, statistics.
    pub finish: u32,
    /// Instructions per line of a copy, loads and stores.
    pub line: u32,
    /// Instructions in the kernel per operation, without the copy: system calls divided by the pipeline.
    pub kernel: u32,
    /// Instructions of the client per operation: parsing the reply and forming the request, kernel included.
    pub client: u32,
}

/// Uniform random graph, and the work of a program that traverses the graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GraphParams {
    /// Binary logarithm of the number of nodes; 4 to 32.
    pub scale: u32,
    /// Edges per node; each edge joins two nodes; at least 1.
    pub degree: u32,
    /// Visits of every node in a run: iterations of PageRank, sources of betweenness centrality.
    pub rounds: u32,
    /// Instructions per visit of a node.
    pub node: u32,
    /// Instructions per neighbour of a visited node.
    pub edge: u32,
    /// Instructions of the forward search per neighbour that is one level further from the source, beside
    /// [`GraphParams::edge`]; betweenness centrality only.
    pub successor: u32,
    /// Instructions of the backward pass per such neighbour, beside [`GraphParams::edge`]; betweenness centrality
    /// only.
    pub dependency: u32,
}

/// Kernel of STREAM and its arrays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StreamKernelParams {
    /// Kernel of STREAM.
    #[serde(with = "crate::variant")]
    pub kernel: StreamKernel,
    /// Bytes of one array; there are three.
    pub array_bytes: u64,
    /// Instructions per line of the result.
    pub line: u32,
}

/// Loads and stores separated by delays.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MlcParams {
    /// Bytes of the buffer of a core, at least one line.
    pub working_set_bytes: u64,
    /// Share of loads in units of 2^-32; the rest are stores.
    pub reads: u64,
    /// True if lines are accessed at random, false if in order.
    pub random: bool,
    /// Delay injected before every access, in ps.
    pub delay_ps: u64,
    /// Instructions per access, beside the delay.
    pub line: u32,
}

/// Parameters of a pointer chase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChaseParams {
    /// Bytes of the buffer of a core, at least one line.
    pub working_set_bytes: u64,
    /// Instructions per access.
    pub line: u32,
}

/// Trace of the memory accesses of a program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceParams {
    /// Path of the file. It is not serialised, because only the content of the file matters.
    #[serde(skip)]
    pub file: String,
    /// Fingerprint of the content of the file.
    pub content: String,
    /// Name of the format; `None` = detected from the first record.
    pub format: Option<String>,
    /// True if the trace restarts at its end, false if the thread ends.
    pub repeat: bool,
    /// Bytes of memory that the pages of one thread may occupy.
    pub memory_bytes: u64,
}
