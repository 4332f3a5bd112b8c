//! A chip with network interfaces, and what its cores do.

use super::chip_run::{ChipRunSpec, ChipWorkloadSpec};
use super::values::{Frequency, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A chip of tiles with network interfaces and memory controllers. Cycles are those of its clock; values with units are
/// strings such as "50 ns".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipSpec {
    /// The chip.
    pub chip: TilesSpec,
    /// The network between the tiles.
    pub noc: ChipNocSpec,
    /// The caches and the directories.
    pub coherence: CoherenceSpec,
    /// The memory behind the controllers; its bandwidth is not limited.
    pub memory: ChipMemorySpec,
    /// The network interfaces.
    pub ni: NiSpec,
    /// What software takes.
    pub software: SoftwareSpec,
    /// What is beyond the chip.
    pub rack: RackSpec,
    /// What the cores do.
    #[serde(default)]
    pub workload: ChipWorkloadSpec,
    /// How long to simulate.
    #[serde(default)]
    pub run: ChipRunSpec,
}

/// The tiles of a chip, each with a core, its L1, and a slice of the LLC with its directory; or, in a NOC-Out, a row of
/// LLC tiles with the slices and all else but the cores, which are chained above and below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TilesSpec {
    /// Which chip the values start from: "scale-out-64" or "scale-out-64-nocout".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// The clock of everything on the chip.
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub clock: Frequency,
    /// Columns of tiles, from the edge with the NIs to the edge with the memory controllers; of a NOC-Out its LLC
    /// tiles, 2, 4 or 8, each with an NI and a memory controller.
    #[schemars(range(min = 2, max = 16))]
    pub columns: u16,
    /// Rows of tiles, each with an NI. There are 4, 8, 16, 32 or 64 tiles where bits of an address within a page tell
    /// the home of a line. Of a NOC-Out the cores of a column, an even number.
    #[schemars(range(min = 2, max = 16))]
    pub rows: u16,
}

/// The network between the tiles. Its links carry a flit per cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipNocSpec {
    /// How routers are joined: in a mesh of tiles ("mesh"), or LLC tiles each to each and cores in chains that lead to
    /// them ("noc-out").
    pub topology: ChipTopologySpec,
    /// How messages travel: first along the row ("xy"), first along the column ("yx"), either by lot ("o1turn"),
    /// requests to memory along the column and all else along the row ("cdr"), or all that a directory sends along the
    /// column and all else along the row ("cdr-directory"). A NOC-Out has one way only, and no routing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// Virtual channels of each of the five classes of messages; "o1turn" needs 2.
    #[schemars(range(min = 1, max = 8))]
    pub vcs: u8,
    /// Bytes of a flit, which a link carries in a cycle. A message without a line is 16 B, one with it 80 B.
    #[schemars(extend("x-min" = "4 B", "x-max" = "128 B"))]
    pub link: Size,
    /// Flits in the buffer of a virtual channel.
    #[schemars(range(min = 1, max = 255))]
    pub vc_flits: u8,
    /// Cycles in the crossbar of a router, after one of allocation.
    #[schemars(range(min = 0, max = 16))]
    pub switch_cycles: u8,
    /// Cycles on the link between two routers. Between LLC tiles of a NOC-Out it is half a cycle per column instead,
    /// rounded up.
    #[schemars(range(min = 0, max = 16))]
    pub link_cycles: u8,
    /// Cycles from a flit's leaving a buffer until another may be sent for it.
    #[schemars(range(min = 1, max = 32))]
    pub credit_cycles: u8,
    /// Where the memory controllers of a mesh are: at every tile of a side ("north", "east", "south", "west"), or at
    /// the tiles of a list of columns and rows, such as "0,0 7,0 0,7 7,7", counted from the north-west.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mc: Option<String>,
    /// Which memory controller has a line: one by the hash of its address ("line") or of its page ("page"), or the one
    /// in the row of its home ("row"), in a NOC-Out that at its LLC tile.
    pub mc_interleave: McInterleaveSpec,
}

/// How routers of a chip are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipTopologySpec {
    /// Each to its neighbours in its row and column.
    Mesh,
    /// LLC tiles each to each, and cores in chains above and below them.
    NocOut,
}

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingSpec {
    /// First along the row.
    Xy,
    /// First along the column.
    Yx,
    /// Either, by lot.
    #[serde(rename = "o1turn")]
    O1Turn,
    /// By class of messages.
    Cdr,
    /// By class of messages, with one of what directories send.
    CdrDirectory,
}

/// Which memory controller has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum McInterleaveSpec {
    /// By the hash of the line.
    Line,
    /// By the hash of the page.
    Page,
    /// The one in the row of its home.
    Row,
}

/// What tells the slice that a line is at home in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HomeSpec {
    /// Bits of its address within a page.
    PageOffset,
    /// A hash of its address.
    Hash,
}

/// The caches and the directories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoherenceSpec {
    /// What tells the slice that a line is at home in: bits of its address within a page ("page-offset"), of which
    /// there are 6, or a hash of its address ("hash"), with any number of slices.
    pub home: HomeSpec,
    /// Cycles of an access to an L1 or an NI cache.
    #[schemars(range(min = 1, max = 1000))]
    pub l1_cycles: u32,
    /// Cycles of an access to a bank of the LLC and its directory.
    #[schemars(range(min = 1, max = 1000))]
    pub bank_cycles: u32,
    /// Cycles for which an access occupies the bank.
    #[schemars(range(min = 0, max = 1000))]
    pub bank_busy_cycles: u32,
    /// Size of the LLC, whole sets in every tile.
    #[schemars(extend("x-min" = "16 kB", "x-max" = "1 GiB"))]
    pub llc: Size,
    /// Ways of a set of the LLC.
    #[schemars(range(min = 1, max = 64))]
    pub ways: u32,
    /// Lines of a slice that may wait for something at a time.
    #[schemars(range(min = 1, max = 1024))]
    pub entries: u32,
    /// Share of the lines of the LLC that are dirty when the run begins, in percent; it begins full.
    #[schemars(range(min = 0, max = 100))]
    pub dirty: u32,
}

/// The memory behind the controllers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipMemorySpec {
    /// From a request at a controller to its data; rounded to whole cycles.
    #[schemars(extend("x-min" = "0 ns", "x-max" = "10 us"))]
    pub latency: Time,
}

/// The network interfaces (NI). A frontend handles queue pairs, a backend data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NiSpec {
    /// Where they are: at the edge, one for every row or LLC tile ("edge"); in every tile ("per-tile"); frontends in
    /// the tiles and backends at the edge ("split"); or none, and cores load and store remote memory ("numa").
    pub placement: PlacementSpec,
    /// When a completion is written: when its data was sent to its home ("posted"), or when the home has it ("acked").
    pub completion: CompletionSpec,
    /// The work queues, one for every core.
    pub wq: WorkQueueSpec,
    /// The completion queues, with as many entries.
    pub cq: CompletionQueueSpec,
    /// Cycles of the frontend of request generation.
    #[schemars(range(min = 1, max = 1000))]
    pub rgp_frontend_cycles: u32,
    /// Cycles of the backend of request generation.
    #[schemars(range(min = 1, max = 1000))]
    pub rgp_backend_cycles: u32,
    /// Cycles of the backend of request completion.
    #[schemars(range(min = 1, max = 1000))]
    pub rcp_backend_cycles: u32,
    /// Cycles of the frontend of request completion.
    #[schemars(range(min = 1, max = 1000))]
    pub rcp_frontend_cycles: u32,
    /// Cycles that are saved where a latch joins a frontend and its backend, at the edge and per tile.
    #[schemars(range(min = 0, max = 1000))]
    pub latch_saves_cycles: u32,
    /// Cycles of the pipeline that serves remote requests, without memory.
    #[schemars(range(min = 2, max = 1000))]
    pub rrpp_cycles: u32,
    /// Cycles between the L1 and the NI cache of a tile.
    #[schemars(range(min = 0, max = 1000))]
    pub handover_cycles: u32,
    /// Lines that a pipeline of request generation may have on their way.
    #[schemars(range(min = 1, max = 65536))]
    pub in_flight: u32,
    /// Requests of other chips that a pipeline may have on their way.
    #[schemars(range(min = 1, max = 65536))]
    pub rrpp_in_flight: u32,
}

/// Where network interfaces are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementSpec {
    /// At the edge.
    Edge,
    /// In every tile.
    PerTile,
    /// In both.
    Split,
    /// Nowhere.
    Numa,
}

/// When completions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionSpec {
    /// When the data was sent.
    Posted,
    /// When the data is at its home.
    Acked,
}

/// A work queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkQueueSpec {
    /// Entries, whole lines of them.
    #[schemars(range(min = 1, max = 2048))]
    pub entries: u32,
    /// Entries in a line of 64 B.
    #[schemars(range(min = 1, max = 64))]
    pub per_line: u32,
}

/// A completion queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionQueueSpec {
    /// Entries in a line of 64 B.
    #[schemars(range(min = 1, max = 64))]
    pub per_line: u32,
}

/// What software takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SoftwareSpec {
    /// Cycles to write an entry of the work queue.
    #[schemars(range(min = 1, max = 100_000))]
    pub wq_write_cycles: u32,
    /// Cycles to read an entry of the completion queue.
    #[schemars(range(min = 1, max = 100_000))]
    pub cq_read_cycles: u32,
    /// Cycles to issue a load or store of remote memory; placement "numa".
    #[schemars(range(min = 1, max = 100_000))]
    pub load_cycles: u32,
    /// Requests that a core enqueues between two looks at its completion queue; mode "async".
    #[schemars(range(min = 1, max = 1024))]
    pub poll_every: u32,
    /// Loads that a core may have on their way; placement "numa".
    #[schemars(range(min = 1, max = 1024))]
    pub mshrs: u32,
}

/// What is beyond the chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RackSpec {
    /// "mirror": for every request that leaves one comes in, and an answer takes as long as the own ones did; or
    /// "torus": as many such chips as `size` says are simulated, and read and write each other's memory.
    pub kind: RackKindSpec,
    /// Chips of a torus along each dimension, one to three of them, such as [2, 2, 2]; 2 to 512 chips in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 3), inner(range(min = 1, max = 512)))]
    pub size: Option<Vec<u16>>,
    /// Whose memory the cores of a chip of a torus read or write: that of every other chip ("uniform"), of those at
    /// `hops` hops ("distance"), both by lot for every operation; or always of the same chip at `hops` hops, along the
    /// first dimension as far as it goes, so that each is read from by one only ("shift"). "uniform" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<RackPatternSpec>,
    /// Hops to the other chip. Of a torus for the patterns "distance" and "shift" only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub hops: Option<u32>,
    /// Time of a hop; rounded to whole cycles.
    #[schemars(extend("x-min" = "1 ns", "x-max" = "10 us"))]
    pub hop: Time,
    /// Hops between the two chips that are farthest apart, the most that a mirror may have. That of a torus follows
    /// from its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub diameter: Option<u32>,
}

/// What is beyond a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RackKindSpec {
    /// The chip itself.
    Mirror,
    /// Chips like this one.
    Torus,
}

/// Whose memory the cores of a chip read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RackPatternSpec {
    /// That of all others.
    Uniform,
    /// That of those at so many hops.
    Distance,
    /// That of one at so many hops.
    Shift,
}
