//! Keys of a chip with network interfaces.

use super::chip_run::{ChipRunSpec, ChipWorkloadSpec};
use super::values::{Frequency, Size, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chip of tiles with network interfaces and memory controllers. Cycles are those of its clock; values with units are
/// strings such as "50 ns".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipSpec {
    /// Layout and clock of the chip.
    pub chip: TilesSpec,
    /// Network between the tiles.
    pub noc: ChipNocSpec,
    /// Caches and directories.
    pub coherence: CoherenceSpec,
    /// Memory behind the controllers, of unlimited bandwidth.
    pub memory: ChipMemorySpec,
    /// Network interfaces.
    pub ni: NiSpec,
    /// Costs of software.
    pub software: SoftwareSpec,
    /// Other chips, and the network to them.
    pub rack: RackSpec,
    /// Operations of the cores.
    #[serde(default)]
    pub workload: ChipWorkloadSpec,
    /// Length of the run.
    #[serde(default)]
    pub run: ChipRunSpec,
}

/// Tiles of a chip, each with a core, its L1, and a slice of the LLC with its directory. A NOC-Out has a row of LLC
/// tiles with the slices and everything else but the cores, which form chains above and below the row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TilesSpec {
    /// Chip that the values start from: "scale-out-64" or "scale-out-64-nocout".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Clock of everything on the chip (frequency).
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub clock: Frequency,
    /// Columns of tiles, from the edge with the NIs to the edge with the memory controllers; in a NOC-Out its LLC
    /// tiles, 2, 4 or 8, each with an NI and a memory controller.
    #[schemars(range(min = 2, max = 16))]
    pub columns: u16,
    /// Rows of tiles, each with an NI. With `coherence.home = "page-offset"` there must be 4, 8, 16, 32 or 64 tiles in
    /// all. In a NOC-Out the cores per column, an even number.
    #[schemars(range(min = 2, max = 16))]
    pub rows: u16,
}

/// Network between the tiles; each link carries one flit per cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipNocSpec {
    /// Topology of the routers: a mesh of tiles ("mesh"), or fully connected LLC tiles and chains of cores that lead to
    /// them ("noc-out").
    pub topology: ChipTopologySpec,
    /// Routing of messages: first along the row ("xy"), first along the column ("yx"), either at random ("o1turn"),
    /// requests, to a directory or to memory, along the column first and all others along the row first ("cdr"), or all
    /// messages of a directory along the column first and all others along the row first ("cdr-directory"). A NOC-Out
    /// has only one path between two parts, and no routing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routing: Option<RoutingSpec>,
    /// Virtual channels of each of the five message classes; "o1turn" needs 2.
    #[schemars(range(min = 1, max = 8))]
    pub vcs: u8,
    /// Size of a flit, which a link carries in one cycle (size). A message without a line has 16 B, one with a line 80
    /// B.
    #[schemars(extend("x-min" = "4 B", "x-max" = "128 B"))]
    pub link: Size,
    /// Buffer of a virtual channel, in flits.
    #[schemars(range(min = 1, max = 255))]
    pub vc_flits: u8,
    /// Cycles in the crossbar of a router, after one cycle of allocation.
    #[schemars(range(min = 0, max = 16))]
    pub switch_cycles: u8,
    /// Cycles on the link between two routers. Between LLC tiles of a NOC-Out a link takes half a cycle per column
    /// instead, rounded up.
    #[schemars(range(min = 0, max = 16))]
    pub link_cycles: u8,
    /// Cycles from the departure of a flit from a buffer until its credit can be used again.
    #[schemars(range(min = 1, max = 32))]
    pub credit_cycles: u8,
    /// Memory controllers of a mesh: at every tile of a side ("north", "east", "south", "west"), or at the tiles of a
    /// list of columns and rows, such as "0,0 7,0 0,7 7,7", counted from the north-west.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mc: Option<String>,
    /// Memory controller of a line: selected by the hash of the line's address ("line") or of its page ("page"), or the
    /// controller in the row of the line's home ("row"), in a NOC-Out that at its LLC tile.
    pub mc_interleave: McInterleaveSpec,
}

/// Topology of the routers of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChipTopologySpec {
    /// Each router is linked to its neighbours in its row and column.
    Mesh,
    /// LLC tiles are fully connected, with chains of cores above and below them.
    NocOut,
}

/// Routing of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoutingSpec {
    /// First along the row.
    Xy,
    /// First along the column.
    Yx,
    /// Either, at random.
    #[serde(rename = "o1turn")]
    O1Turn,
    /// By message class.
    Cdr,
    /// By message class, with a separate class for the messages of directories.
    CdrDirectory,
}

/// Memory controller of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum McInterleaveSpec {
    /// By the hash of the line.
    Line,
    /// By the hash of the page.
    Page,
    /// The controller in the row of the line's home.
    Row,
}

/// Selection of the home slice of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HomeSpec {
    /// By address bits within a page.
    PageOffset,
    /// By a hash of the address.
    Hash,
}

/// Caches and directories.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CoherenceSpec {
    /// Selection of the home slice of a line: by the 6 bits of its address within a page ("page-offset"), or by a hash
    /// of its address ("hash"), with any number of slices.
    pub home: HomeSpec,
    /// Cycles of an access to an L1 or an NI cache.
    #[schemars(range(min = 1, max = 1000))]
    pub l1_cycles: u32,
    /// Cycles of an access to a bank of the LLC and its directory.
    #[schemars(range(min = 1, max = 1000))]
    pub bank_cycles: u32,
    /// Cycles that an access occupies the bank.
    #[schemars(range(min = 0, max = 1000))]
    pub bank_busy_cycles: u32,
    /// Size of the LLC; every tile has whole sets (size).
    #[schemars(extend("x-min" = "16 kB", "x-max" = "1 GiB"))]
    pub llc: Size,
    /// Ways of the LLC.
    #[schemars(range(min = 1, max = 64))]
    pub ways: u32,
    /// Maximum number of lines of a slice with pending transactions.
    #[schemars(range(min = 1, max = 1024))]
    pub entries: u32,
    /// Share of the lines of the LLC that are dirty at the start of the run, in percent; the LLC starts full.
    #[schemars(range(min = 0, max = 100))]
    pub dirty: u32,
}

/// Memory behind the controllers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipMemorySpec {
    /// Time from the arrival of a request at a controller to its data (time); rounded to whole cycles.
    #[schemars(extend("x-min" = "0 ns", "x-max" = "10 us"))]
    pub latency: Time,
}

/// Network interfaces (NI); a frontend handles queue pairs, a backend handles data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NiSpec {
    /// Placement of the NIs: at the edge, one per row or LLC tile ("edge"); in every tile ("per-tile"); frontends in
    /// the tiles and backends at the edge ("split"); or no NIs, and cores load and store remote memory ("numa").
    pub placement: PlacementSpec,
    /// Time at which a completion is written: when its data has been sent to its home ("posted"), or when the home has
    /// acknowledged it ("acked").
    pub completion: CompletionSpec,
    /// Work queues, one per core.
    pub wq: WorkQueueSpec,
    /// Completion queues, one per core, with as many entries as the work queues.
    pub cq: CompletionQueueSpec,
    /// Cycles of the request generation frontend.
    #[schemars(range(min = 1, max = 1000))]
    pub rgp_frontend_cycles: u32,
    /// Cycles of the request generation backend.
    #[schemars(range(min = 1, max = 1000))]
    pub rgp_backend_cycles: u32,
    /// Cycles of the request completion backend.
    #[schemars(range(min = 1, max = 1000))]
    pub rcp_backend_cycles: u32,
    /// Cycles of the request completion frontend.
    #[schemars(range(min = 1, max = 1000))]
    pub rcp_frontend_cycles: u32,
    /// Cycles saved if a latch connects a frontend and its backend, in the placements "edge" and "per-tile".
    #[schemars(range(min = 0, max = 1000))]
    pub latch_saves_cycles: u32,
    /// Cycles of the pipeline that serves remote requests, without memory.
    #[schemars(range(min = 2, max = 1000))]
    pub rrpp_cycles: u32,
    /// Cycles of a hand-over between the L1 and the NI cache of a tile.
    #[schemars(range(min = 0, max = 1000))]
    pub handover_cycles: u32,
    /// Lines that a request generation pipeline may have in flight.
    #[schemars(range(min = 1, max = 65536))]
    pub in_flight: u32,
    /// Requests of other chips that a pipeline may have in flight.
    #[schemars(range(min = 1, max = 65536))]
    pub rrpp_in_flight: u32,
}

/// Placement of the network interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementSpec {
    /// At the edge.
    Edge,
    /// In every tile.
    PerTile,
    /// Frontends in the tiles, backends at the edge.
    Split,
    /// No network interfaces.
    Numa,
}

/// Time at which a completion is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CompletionSpec {
    /// When the data has been sent.
    Posted,
    /// When the home has acknowledged the data.
    Acked,
}

/// Work queue of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkQueueSpec {
    /// Entries of the queue; a multiple of `per_line`.
    #[schemars(range(min = 1, max = 2048))]
    pub entries: u32,
    /// Entries in a line of 64 B.
    #[schemars(range(min = 1, max = 64))]
    pub per_line: u32,
}

/// Completion queue of a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompletionQueueSpec {
    /// Entries in a line of 64 B.
    #[schemars(range(min = 1, max = 64))]
    pub per_line: u32,
}

/// Costs of software.
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
    /// Requests that a core enqueues between two polls of its completion queue; mode "async".
    #[schemars(range(min = 1, max = 1024))]
    pub poll_every: u32,
    /// Loads that a core may have outstanding; placement "numa".
    #[schemars(range(min = 1, max = 1024))]
    pub mshrs: u32,
}

/// Other chips, and the network to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RackSpec {
    /// Kind of the rack. "mirror": each outgoing request causes an identical incoming one, and its response takes as
    /// long as those of the chip itself; "torus": `size` gives the chips to simulate, which access each other's memory.
    pub kind: RackKindSpec,
    /// Chips of a torus along each of its one to three dimensions, such as [2, 2, 2]; 2 to 512 chips in all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 3), inner(range(min = 1, max = 512)))]
    pub size: Option<Vec<u16>>,
    /// Chips whose memory the cores of a chip of a torus access: all other chips ("uniform") or those at `hops` hops
    /// ("distance"), drawn for each operation; or always the same chip at `hops` hops, along the first dimension as far
    /// as possible, so that only one chip reads from each ("shift"); "uniform" when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<RackPatternSpec>,
    /// Hops to the other chip; in a torus only for the patterns "distance" and "shift".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub hops: Option<u32>,
    /// Latency of a hop (time); rounded to whole cycles.
    #[schemars(extend("x-min" = "1 ns", "x-max" = "10 us"))]
    pub hop: Time,
    /// Diameter of the network: maximum number of hops between two chips, which limits `hops` of a mirror. The diameter
    /// of a torus follows from its size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub diameter: Option<u32>,
}

/// Kind of the rack around a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RackKindSpec {
    /// A mirror of the chip itself.
    Mirror,
    /// Simulated chips like this one.
    Torus,
}

/// Chips whose memory the cores of a chip access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RackPatternSpec {
    /// All other chips.
    Uniform,
    /// All chips at `hops` hops.
    Distance,
    /// One chip at `hops` hops.
    Shift,
}
