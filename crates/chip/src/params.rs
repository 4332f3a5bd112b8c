//! Parameters of a chip. Times are in cycles of its clock.

use hostnet_noc::{Class, NocError, Order, Router};
use serde::{Deserialize, Serialize};

/// Number of lines for the queues of a core: a page, so that their homes are spread over all slices.
pub(crate) const QUEUE_LINES: u64 = 64;

/// Parameters of a chip, of its workload, and of the rack around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChipParams {
    /// Topology of the chip.
    pub shape: Shape,
    /// Columns of tiles, from the edge with the NIs to the edge with the memory controllers, or number of LLC tiles;
    /// 2 to 16.
    pub columns: u16,
    /// Rows of tiles in a mesh; in NOC-Out, cores per LLC tile. 2 to 16; at most 128 tiles and edge units in total.
    pub rows: u16,
    /// Parameters of every router of the mesh.
    pub router: Router,
    /// Virtual channels of each message class.
    pub vcs: u8,
    /// Bytes of a flit, which a link carries per cycle, 4 to 128.
    pub flit_bytes: u32,
    /// Routing of the messages.
    pub routing: Routing,
    /// Parameters of caches and directories.
    pub cache: CacheParams,
    /// Latency of the memory behind a controller, in cycles; its bandwidth is not limited.
    pub memory_cycles: u32,
    /// Column and row of each router with a memory controller. If the list is empty, every router of the last column
    /// has one. In [`Shape::NocOut`] every LLC tile has one, and the list is empty.
    pub memories: Vec<(u16, u16)>,
    /// Distribution of lines over the memory controllers.
    pub interleave: Interleave,
    /// Distribution of lines over the home slices.
    pub home: Home,
    /// Parameters of the network interfaces.
    pub ni: NiParams,
    /// Costs of software.
    pub software: SoftwareCosts,
    /// Parameters of the network between chips.
    pub rack: RackParams,
    /// Workload of the cores.
    pub workload: Workload,
    /// Seed of the addresses, and of the random routes of packets.
    pub seed: u64,
}

/// Topology of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A mesh of tiles with a core and a slice each.
    Mesh,
    /// A row of LLC tiles with a slice each, and chains of cores above and below each of them.
    NocOut,
}

/// Routing of messages on the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Routing {
    /// All messages along the row first (XY).
    Xy,
    /// All messages along the column first (YX).
    Yx,
    /// Each packet draws one of the two orders.
    O1Turn,
    /// By class (Abts and others, ISCA 2009): requests to a directory or to memory along the column first, all others
    /// along the row.
    Cdr,
    /// Messages of a directory along the column first, all others along the row: no message of a directory turns at
    /// an edge.
    CdrDirectory,
}

/// Distribution of lines over the memory controllers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleave {
    /// By a hash of the line.
    Line,
    /// By a hash of the page of 4 KiB.
    Page,
    /// The controller in the row of the line's home.
    Row,
}

/// Distribution of lines over the home slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Home {
    /// By the address bits within a page of 4 KiB, for at most 64 slices whose number is a power of two.
    PageOffset,
    /// By a hash of the line.
    Hash,
}

/// Parameters of caches and directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheParams {
    /// Latency of an access to an L1 or an NI cache, and of a fill, in cycles.
    pub l1_cycles: u32,
    /// Latency of a bank of the LLC and its directory, in cycles.
    pub bank_cycles: u32,
    /// Cycles for which an access occupies the bank.
    pub bank_busy_cycles: u32,
    /// Capacity of an LLC slice, in lines.
    pub slice_lines: u32,
    /// Associativity of the LLC.
    pub ways: u32,
    /// Largest number of lines of a slice with pending transactions.
    pub entries: u32,
    /// Share of the LLC lines that are dirty at the start, in percent; the LLC starts full.
    pub dirty_percent: u32,
}

/// Placement of the network interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// At the edge, one for every row.
    Edge,
    /// In every tile.
    PerTile,
    /// Queue pairs in every tile, data at the edge.
    Split,
    /// No NI: cores load and store remote memory.
    Numa,
}

/// Time at which the completion queue entry is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Completion {
    /// When the data has been sent to its home.
    Posted,
    /// When the home has acknowledged the data.
    Acked,
}

/// Parameters of the network interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NiParams {
    /// Placement of the NIs.
    pub placement: Placement,
    /// Entries of a work queue and of its completion queue, a multiple of those in a line.
    pub entries: u32,
    /// Work queue entries per line of 64 B.
    pub wq_entries_per_line: u32,
    /// Completion queue entries per line of 64 B.
    pub cq_entries_per_line: u32,
    /// Frontend of request generation, which takes a queue entry, in cycles.
    pub rgp_frontend_cycles: u32,
    /// Backend of request generation, which makes a request of the entry, in cycles.
    pub rgp_backend_cycles: u32,
    /// Backend of request completion, which takes a response, in cycles.
    pub rcp_backend_cycles: u32,
    /// Frontend of request completion, which writes a queue entry, in cycles.
    pub rcp_frontend_cycles: u32,
    /// Cycles saved if frontend and backend are adjacent and a latch, not the NoC, connects them.
    pub latch_saves_cycles: u32,
    /// Service of a remote request from its arrival to its response, without memory, in cycles.
    pub rrpp_cycles: u32,
    /// Transfer of a line between the L1 and the NI cache of a tile, in cycles.
    pub handover_cycles: u32,
    /// Maximum number of lines that a request generation pipeline may have in flight.
    pub in_flight: u32,
    /// Maximum number of remote requests that an RRPP may have in flight.
    pub rrpp_in_flight: u32,
    /// Time at which completions are written.
    pub completion: Completion,
}

/// Costs of software, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SoftwareCosts {
    /// Writing a work queue entry.
    pub wq_write: u32,
    /// Reading a completion queue entry.
    pub cq_read: u32,
    /// Issuing a load or store of remote memory.
    pub load: u32,
    /// Number of requests that are enqueued between two polls of the completion queue.
    pub poll_every: u32,
    /// Maximum number of loads that a core may have in flight.
    pub mshrs: u32,
}

/// Parameters of the network between chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RackParams {
    /// Number of hops to the other chip, at least 1.
    pub hops: u32,
    /// Latency of a hop, in cycles.
    pub hop_cycles: u32,
}

/// Kind of an operation on remote memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpKind {
    /// Reads remote memory into local buffers.
    #[default]
    Read,
    /// Writes remote memory from local buffers.
    Write,
}

/// Condition under which a core begins its next operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// After the previous operation is complete; cores take turns, one at a time.
    Turns,
    /// After the previous operation is complete; all cores run at once.
    Sync,
    /// While there is room in the work queue.
    Async,
}

/// Workload of the cores.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Share of the operations that write, in percent; the others read.
    pub writes_percent: u32,
    /// Condition under which a core begins its next operation.
    pub mode: Mode,
    /// Lines per operation, 1 to 256.
    pub lines: u32,
    /// Cores that take part, in ascending order.
    pub cores: Vec<u16>,
}

/// Largest latency of a single part, in cycles.
const CYCLES: u32 = 1 << 20;

/// Number of agents that a directory has bits for.
const AGENTS: u32 = 128;

/// Message classes, in the order of their virtual channels.
pub(crate) mod class {
    pub(crate) const REQUEST: u8 = 0;
    pub(crate) const FORWARD: u8 = 1;
    pub(crate) const MEMORY: u8 = 2;
    pub(crate) const RESPONSE: u8 = 3;
    pub(crate) const NETWORK: u8 = 4;
    pub(crate) const NAMES: [&str; 5] = ["requests", "directory", "memory requests", "responses", "network"];
}

impl ChipParams {
    pub(crate) fn classes(&self) -> Vec<Class> {
        let order = |number: usize| match self.routing {
            // There is only one path.
            _ if self.shape == Shape::NocOut => Order::Xy,
            Routing::Xy => Order::Xy,
            Routing::Yx => Order::Yx,
            Routing::O1Turn => Order::O1Turn,
            Routing::Cdr if [class::REQUEST, class::MEMORY].contains(&(number as u8)) => Order::Yx,
            Routing::CdrDirectory if [class::FORWARD, class::MEMORY].contains(&(number as u8)) => Order::Yx,
            Routing::Cdr | Routing::CdrDirectory => Order::Xy,
        };
        let named = class::NAMES.iter().enumerate();
        named.map(|(number, name)| Class { name: (*name).into(), order: order(number), vcs: self.vcs }).collect()
    }

    /// Checks that a chip with these parameters can be built.
    ///
    /// # Errors
    /// Returns the field, its value and the rule.
    pub fn check(&self) -> Result<(), NocError> {
        let ni = &self.ni;
        self.router.check()?;
        range("columns", self.columns.into(), 2, 16)?;
        range("rows", self.rows.into(), 2, 16)?;
        let edges = if self.shape == Shape::Mesh { self.rows } else { self.columns };
        // Every tile and every edge part is an agent of the directory.
        range("columns", u32::from(self.tiles() + edges), 6, AGENTS)
            .map_err(|_| NocError::new("columns", format!("tiles and rows together are {AGENTS} at most")))?;
        range("flit_bytes", self.flit_bytes, 4, 128)?;
        range("lines", self.workload.lines, 1, 256)?;
        range("writes_percent", self.workload.writes_percent, 0, 100)?;
        range("hops", self.rack.hops, 1, 64)?;
        range("hop_cycles", self.rack.hop_cycles, 1, 1 << 20)?;
        self.check_times()?;
        range("in_flight", ni.in_flight, 1, 1 << 16)?;
        range("rrpp_in_flight", ni.rrpp_in_flight, 1, 1 << 16)?;
        range("entries", self.cache.entries, 1, 1024)?;
        // Work queue and completion queue share the page of a core.
        let half = QUEUE_LINES as u32 / 2;
        for (field, per_line) in [("wq", ni.wq_entries_per_line), ("cq", ni.cq_entries_per_line)] {
            range(field, per_line, 1, 64)?;
            if ni.entries % per_line != 0 || !(1..=half).contains(&(ni.entries / per_line)) {
                let rule = format!("{} entries, {per_line} in a line: must be 1 to {half} whole lines", ni.entries);
                return Err(NocError::new(field, rule));
            }
        }
        if self.cache.ways == 0 || self.cache.slice_lines == 0 || self.cache.slice_lines % self.cache.ways != 0 {
            let rule = format!("{} lines of a slice are no whole sets of {}", self.cache.slice_lines, self.cache.ways);
            return Err(NocError::new("ways", rule));
        }
        let cores = &self.workload.cores;
        // `>=` also refuses a core that is named twice.
        if cores.is_empty() || cores.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(NocError::new("cores", "must be named in ascending order, at least one"));
        }
        match cores.last() {
            Some(last) if *last >= self.tiles() => {
                let rule = format!("{last} does not exist; there are {}", self.tiles());
                Err(NocError::new("cores", rule))
            }
            _ => Ok(()),
        }
    }

    fn check_times(&self) -> Result<(), NocError> {
        let ni = &self.ni;
        let times = [
            ("memory_cycles", self.memory_cycles),
            ("l1_cycles", self.cache.l1_cycles),
            ("bank_cycles", self.cache.bank_cycles),
            ("rgp_frontend_cycles", ni.rgp_frontend_cycles),
            ("rgp_backend_cycles", ni.rgp_backend_cycles),
            ("rcp_backend_cycles", ni.rcp_backend_cycles),
            ("rcp_frontend_cycles", ni.rcp_frontend_cycles),
            ("wq_write", self.software.wq_write),
            ("cq_read", self.software.cq_read),
            ("load", self.software.load),
        ];
        for (field, cycles) in times {
            range(field, cycles, 1, CYCLES)?;
        }
        // 2: the pipeline has a half before and a half after the access.
        range("rrpp_cycles", ni.rrpp_cycles, 2, CYCLES)?;
        range("bank_busy_cycles", self.cache.bank_busy_cycles, 0, CYCLES)?;
        range("handover_cycles", ni.handover_cycles, 0, CYCLES)?;
        range("latch_saves_cycles", ni.latch_saves_cycles, 0, CYCLES)?;
        range("mshrs", self.software.mshrs, 1, 1 << 16)?;
        range("slice_lines", self.cache.slice_lines, 1, 1 << 22)?;
        Ok(())
    }

    /// Returns the number of tiles, each with a core.
    #[must_use]
    pub fn tiles(&self) -> u16 {
        self.columns * self.rows
    }
}

fn range(field: &'static str, value: u32, least: u32, most: u32) -> Result<(), NocError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(NocError::new(field, format!("{value} is out of range; {least} to {most} are allowed")))
}
