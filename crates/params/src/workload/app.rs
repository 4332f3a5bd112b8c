//! Keys of applications.

use super::WorkloadKeys;
use crate::lists::{CoreList, WayMask};
use crate::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Application; its profile gives every key that is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppSpec {
    /// Name of the application.
    pub app: AppName,
    /// Cores of the threads, one each: "0-3", "0,2,4-5" or a list of numbers.
    pub cores: CoreList,
    /// Ways of the LLC that the cores of the application may allocate in (CAT): "0-8", a list of numbers or a mask such
    /// as "0x1ff"; contiguous; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_ways: Option<WayMask>,
    /// Instructions per clock of a thread when no access misses the L1 (0.01 to 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 16.0))]
    pub ipc: Option<f64>,
    /// Operations that the clients of one thread keep in flight; 0 if the application needs no clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65536))]
    pub in_flight: Option<u32>,
    /// Think time: time between the end of an operation and the next one of the same client (time); unused without
    /// clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub think: Option<Time>,
    /// True if random accesses walk the page table when their page is not in the second-level TLB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_walks: Option<bool>,
    /// Reach of a core's second-level TLB, in pages of `memory.page`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1048576))]
    pub tlb_pages: Option<u64>,
    /// redis: keys that the server of one core stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4294967296u64))]
    pub keys: Option<u64>,
    /// redis: size of a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub value: Option<Size>,
    /// redis: share of SET commands (0 to 1); the rest are GET commands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sets: Option<f64>,
    /// redis: cores of the clients, as many as `cores`; each client uses the server at its position in that list; none
    /// when absent. Without them a client is only a think time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<CoreList>,
    /// redis: connections of the server of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub connections: Option<u32>,
    /// redis: requests that a connection sends at a time (pipelining).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub pipeline: Option<u32>,
    /// redis: kernel socket memory that replies cycle through before it is reused, and as much for requests (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 GiB"))]
    pub socket: Option<Size>,
    /// redis: sizes of the server's data structures, as rounded up by the allocator.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutSpec>,
    /// pagerank, bc: binary logarithm of the number of nodes of the graph: 25 means 2^25 nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4, max = 32))]
    pub scale: Option<u32>,
    /// pagerank, bc: edges per node; each edge joins two nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub degree: Option<u32>,
    /// pagerank, bc: visits of every node in a complete run: iterations of PageRank, sources of betweenness centrality.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000000))]
    pub rounds: Option<u32>,
    /// stream: kernel to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<StreamKernel>,
    /// stream: size of each of the three arrays (size); a multiple of 64 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "16 TiB", "x-multiple-of" = "64 B"))]
    pub array: Option<Size>,
    /// mlc, chase: buffer of each core (size); a multiple of 64 B.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "64 TiB", "x-multiple-of" = "64 B"))]
    pub working_set: Option<Size>,
    /// mlc: share of loads (0 to 1); the rest are stores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub reads: Option<f64>,
    /// mlc: order of the accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<OrderSpec>,
    /// mlc: delay before every access (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub delay: Option<Time>,
    /// trace: path of the trace, relative to the configuration; plain, or compressed with gzip, xz or zstd. Every core
    /// replays the whole trace in private memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// trace: format of the file; detected from its first line when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<AccessFormatSpec>,
    /// trace: true if the trace restarts at its end. Otherwise it starts with the run, in caches that hold none of its
    /// lines, and the thread ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<bool>,
    /// Instruction counts, accesses that hit the L1 included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<InstructionsSpec>,
    /// Placement of the buffers: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// NUMA node (a socket, or with `chiplets.nps` a part of one), "interleave" over all nodes, round robin; "local"
    /// when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

impl WorkloadKeys for AppSpec {
    fn memory(&self) -> Option<&str> {
        self.memory.as_deref()
    }

    fn llc_ways(&self) -> Option<WayMask> {
        self.llc_ways
    }
}

/// Sizes of the data structures of a key-value server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutSpec {
    /// redis: entry of the hash table, as rounded up by the allocator (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub entry: Option<Size>,
    /// redis: key with its header (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub key: Option<Size>,
    /// redis: object that points to a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub object: Option<Size>,
    /// redis: header and terminator of a value, beside its data (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 MiB"))]
    pub header: Option<Size>,
    /// redis: request without a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub request: Option<Size>,
    /// redis: protocol overhead around the data of a reply (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 MiB"))]
    pub reply: Option<Size>,
}

/// Instruction counts of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructionsSpec {
    /// redis: from the start of a request to the hash table lookup. All these counts include accesses that hit the L1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub request: Option<u32>,
    /// redis: per visited entry of a bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub entry: Option<u32>,
    /// redis: in a GET, from the object to the first byte of its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub reply: Option<u32>,
    /// redis: in a SET, from the object to the first byte of the new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub set: Option<u32>,
    /// redis: remainder of an operation after its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub finish: Option<u32>,
    /// redis: in the kernel per operation, without the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub kernel: Option<u32>,
    /// redis: in the client per operation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub client: Option<u32>,
    /// redis: per line of a copy; stream: per line of the result; mlc, chase: per access.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub line: Option<u32>,
    /// pagerank, bc: per visit of a node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub node: Option<u32>,
    /// pagerank, bc: per neighbour of a visited node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub edge: Option<u32>,
    /// bc: in the forward search, per neighbour that is one level further from the source, beside `edge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub successor: Option<u32>,
    /// bc: in the backward pass, per such neighbour, beside `edge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub dependency: Option<u32>,
}

/// Kernel of STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamKernel {
    /// `c = a`
    Copy,
    /// `b = s * c`
    Scale,
    /// `c = a + b`
    Add,
    /// `a = b + s * c`
    Triad,
}

/// Order of the accesses to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OrderSpec {
    /// Consecutive lines.
    Sequential,
    /// Uniform over the buffer.
    Random,
}

/// Format of the trace of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccessFormatSpec {
    /// Valgrind: `--tool=lackey --trace-mem=yes`.
    Lackey,
    /// DynamoRIO: output of the tool `view` of drmemtrace.
    Drmemtrace,
    /// Ramulator, CPU traces: "3 20734016".
    RamulatorCpu,
    /// Ramulator 2: "LD 0x1000" or "ST 4096".
    Ramulator,
    /// Ramulator 1: "0x1000 R" or "0x1000 W".
    Ramulator1,
    /// "0x1000 READ 17": address, operation and clock.
    Dramsim3,
}

impl AccessFormatSpec {
    /// Returns the name of the format in configurations.
    pub fn name(self) -> &'static str {
        match self {
            AccessFormatSpec::Lackey => "lackey",
            AccessFormatSpec::Drmemtrace => "drmemtrace",
            AccessFormatSpec::RamulatorCpu => "ramulator-cpu",
            AccessFormatSpec::Ramulator => "ramulator",
            AccessFormatSpec::Ramulator1 => "ramulator1",
            AccessFormatSpec::Dramsim3 => "dramsim3",
        }
    }
}

/// Name of an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AppName {
    /// Key-value servers modelled on Redis, one per core.
    Redis,
    /// PageRank modelled on GAPBS, over one graph shared by all cores.
    PageRank,
    /// Betweenness centrality modelled on GAPBS, over one graph shared by all cores.
    Bc,
    /// One kernel of STREAM over three arrays shared by all cores, each of which processes a part.
    Stream,
    /// Loads and stores separated by delays, modelled on the Memory Latency Checker (MLC), with a buffer per core.
    Mlc,
    /// Pointer chase: a random cycle over the lines of a buffer per core.
    Chase,
    /// Trace of a program, which every core replays in private memory.
    Trace,
}

impl AppName {
    /// All applications.
    pub const ALL: [AppName; 7] =
        [AppName::Redis, AppName::PageRank, AppName::Bc, AppName::Stream, AppName::Mlc, AppName::Chase, AppName::Trace];

    /// Returns the name of the application in configurations.
    pub fn name(self) -> &'static str {
        match self {
            AppName::Redis => "redis",
            AppName::PageRank => "pagerank",
            AppName::Bc => "bc",
            AppName::Stream => "stream",
            AppName::Mlc => "mlc",
            AppName::Chase => "chase",
            AppName::Trace => "trace",
        }
    }

    /// Returns the keys that the profile of the application gives beside [`COMMON_KEYS`].
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            AppName::Redis => REDIS_KEYS,
            AppName::PageRank | AppName::Bc => GRAPH_KEYS,
            AppName::Stream => &["kernel", "array", "instructions.line"],
            AppName::Mlc => &["working_set", "reads", "pattern", "delay", "instructions.line"],
            AppName::Chase => &["working_set", "instructions.line"],
            AppName::Trace => &["repeat"],
        }
    }

    /// Returns the keys of this application alone that no profile gives.
    pub fn optional_keys(self) -> &'static [&'static str] {
        match self {
            AppName::Redis => &["clients"],
            AppName::Trace => &["file", "format"],
            _ => &[],
        }
    }
}

const GRAPH_KEYS: &[&str] = &[
    "scale",
    "degree",
    "rounds",
    "instructions.node",
    "instructions.edge",
    "instructions.successor",
    "instructions.dependency",
];

const REDIS_KEYS: &[&str] = &[
    "keys",
    "value",
    "sets",
    "connections",
    "pipeline",
    "socket",
    "layout.entry",
    "layout.key",
    "layout.object",
    "layout.header",
    "layout.request",
    "layout.reply",
    "instructions.request",
    "instructions.entry",
    "instructions.reply",
    "instructions.set",
    "instructions.finish",
    "instructions.line",
    "instructions.kernel",
    "instructions.client",
];

/// Keys of every application that its profile gives.
pub const COMMON_KEYS: [&str; 5] = ["ipc", "in_flight", "think", "page_walks", "tlb_pages"];

/// Keys of every application that no profile gives.
pub const OWN_KEYS: [&str; 4] = ["app", "cores", "llc_ways", "memory"];
