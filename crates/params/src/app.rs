//! Applications.

use super::lists::{CoreList, WayMask};
use super::values::{Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An application. What it does not set comes from the profile of the application.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppSpec {
    /// Which application.
    pub app: AppName,
    /// The cores of its threads, one each: "0-3", "0,2,4-5" or a list of numbers.
    pub cores: CoreList,
    /// Ways of the LLC that its cores may allocate in (CAT): "0-8", a list of numbers or a mask such as "0x1ff";
    /// contiguous; all when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llc_ways: Option<WayMask>,
    /// Instructions per clock of a thread when all data is at hand (0.01 to 16).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.01, max = 16.0))]
    pub ipc: Option<f64>,
    /// Operations that the clients of one thread keep in flight; 0 when it needs no clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65536))]
    pub in_flight: Option<u32>,
    /// From the end of an operation to the next one of the same client (time); without clients it is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 s"))]
    pub think: Option<Time>,
    /// Whether its random accesses walk the page table when a page is not in the second-level TLB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_walks: Option<bool>,
    /// Pages of `memory.page` whose translations the second-level TLB of a core holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1048576))]
    pub tlb_pages: Option<u64>,
    /// redis: keys of the server of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4294967296u64))]
    pub keys: Option<u64>,
    /// redis: bytes of a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 GiB"))]
    pub value: Option<Size>,
    /// redis: share of SET (0 to 1); the rest is GET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub sets: Option<f64>,
    /// redis: the cores of its clients, as many as `cores`, each for the server at the same place; none when absent.
    /// Without them clients are think time alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<CoreList>,
    /// redis: connections of the server of one core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub connections: Option<u32>,
    /// redis: requests that a connection sends at a time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub pipeline: Option<u32>,
    /// redis: kernel memory through which replies pass before it is used again, and as much for requests (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "64 B", "x-max" = "1 GiB"))]
    pub socket: Option<Size>,
    /// redis: sizes of its structures, as the allocator hands them out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layout: Option<LayoutSpec>,
    /// pagerank, bc: nodes of the graph as a power of two: 25 is 2^25.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 4, max = 32))]
    pub scale: Option<u32>,
    /// pagerank, bc: edges per node, each of which joins two nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1024))]
    pub degree: Option<u32>,
    /// pagerank, bc: times that every node is visited in a whole run: iterations, sources.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000000))]
    pub rounds: Option<u32>,
    /// stream: which kernel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<KernelSpec>,
    /// stream: bytes of one of its three arrays (size); a multiple of 64 B.
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
    /// mlc: the order of its accesses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<OrderSpec>,
    /// mlc: pause before every access (time).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 ms"))]
    pub delay: Option<Time>,
    /// trace: the file, relative to the configuration; plain, or compressed with gzip, xz or zstd. Every core replays
    /// all of it in memory of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// trace: how it is written; told by its first line when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<AccessFormatSpec>,
    /// trace: whether it begins again at its end. Otherwise it begins with the run, caches empty of it, and the thread
    /// ends with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<bool>,
    /// Instructions of its work, accesses that hit the L1 included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<InstructionsSpec>,
    /// Where its buffers lie: "local" to the cores that use them (also "first-touch"), "node:1" in the memory of a
    /// socket, "interleave" in that of all sockets in turn; "local" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
}

/// Sizes of the structures of a key-value server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LayoutSpec {
    /// redis: an entry of the hash table, as the allocator hands it out (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub entry: Option<Size>,
    /// redis: a key with its header (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub key: Option<Size>,
    /// redis: the object that leads to a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub object: Option<Size>,
    /// redis: the header and end of a value, beside its data (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 MiB"))]
    pub header: Option<Size>,
    /// redis: a request without a value (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "1 MiB"))]
    pub request: Option<Size>,
    /// redis: what stands around the data of a reply (size).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-max" = "1 MiB"))]
    pub reply: Option<Size>,
}

/// Instructions of the work of an application.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InstructionsSpec {
    /// redis: from the beginning of a request to the look at the hash table. Accesses that hit the L1 are part of all
    /// these counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub request: Option<u32>,
    /// redis: per visited entry of a bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub entry: Option<u32>,
    /// redis: of a GET, from the object to the first byte of its value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub reply: Option<u32>,
    /// redis: of a SET, from the object to the first byte of the new value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub set: Option<u32>,
    /// redis: what is left of an operation after its reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub finish: Option<u32>,
    /// redis: the kernel's part of an operation, without the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub kernel: Option<u32>,
    /// redis: a client's part of an operation.
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
    /// bc: per neighbour that lies one level further from the source, in the search, beside `edge`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub successor: Option<u32>,
    /// bc: the same on the way back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 1000000))]
    pub dependency: Option<u32>,
}

/// A kernel of STREAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KernelSpec {
    /// `c = a`
    Copy,
    /// `b = s * c`
    Scale,
    /// `c = a + b`
    Add,
    /// `a = b + s * c`
    Triad,
}

/// The order of accesses to a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OrderSpec {
    /// Line after line.
    Sequential,
    /// Uniform over the buffer.
    Random,
}

/// How the trace of a program is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AccessFormatSpec {
    /// Valgrind: `--tool=lackey --trace-mem=yes`.
    Lackey,
    /// DynamoRIO: the listing of drmemtrace's tool `view`.
    Drmemtrace,
    /// Ramulator, traces of a processor: "3 20734016".
    RamulatorCpu,
    /// Ramulator 2: "LD 0x1000" or "ST 4096".
    Ramulator,
    /// Ramulator 1: "0x1000 R" or "0x1000 W".
    Ramulator1,
    /// "0x1000 READ 17": address, operation and clock.
    Dramsim3,
}

impl AccessFormatSpec {
    /// Its name as users write it.
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

/// An application by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AppName {
    /// A key-value server per core in the manner of Redis.
    Redis,
    /// PageRank in the manner of GAPBS, one graph shared by all cores.
    PageRank,
    /// Betweenness centrality in the manner of GAPBS, one graph shared by all cores.
    Bc,
    /// A kernel of STREAM over three arrays shared by all cores, a part for each.
    Stream,
    /// Loads and stores with a pause between them, in the manner of the Memory Latency Checker (MLC).
    Mlc,
    /// A pointer chase: a random cycle over the lines of a buffer per core.
    Chase,
    /// The trace of a program, which every core replays in memory of its own.
    Trace,
}

impl AppName {
    /// Every application.
    pub const ALL: [AppName; 7] =
        [AppName::Redis, AppName::PageRank, AppName::Bc, AppName::Stream, AppName::Mlc, AppName::Chase, AppName::Trace];

    /// Its name as users write it.
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

    /// The keys that its profile gives beside those of every application.
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

    /// The keys that it takes and that no profile gives.
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

/// The keys of every application that its profile gives.
pub const COMMON_KEYS: [&str; 5] = ["ipc", "in_flight", "think", "page_walks", "tlb_pages"];

/// The keys of every application that no profile gives.
pub const OWN_KEYS: [&str; 4] = ["app", "cores", "llc_ways", "memory"];
