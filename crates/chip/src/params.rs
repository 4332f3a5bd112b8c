//! What a chip is made of. Times are in cycles of its clock.

use hostnet_noc::{Class, NocError, Order, Router};
use serde::{Deserialize, Serialize};

/// A chip, what runs on it, and the rack around it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChipParams {
    /// How the parts are joined.
    pub shape: Shape,
    /// Columns of tiles, from the edge with the NIs to the edge with the memory controllers; or LLC tiles. 2 to 16.
    pub columns: u16,
    /// Rows of tiles, or cores at each LLC tile, 2 to 16; tiles and rows together are 128 at most.
    pub rows: u16,
    /// Every router of the mesh.
    pub router: Router,
    /// Virtual channels of each class of messages.
    pub vcs: u8,
    /// Bytes of a flit, which a link carries in a cycle, 4 to 128.
    pub flit_bytes: u32,
    /// How messages travel.
    pub routing: Routing,
    /// Caches and directories.
    pub cache: CacheParams,
    /// Cycles of the memory behind a controller, whose bandwidth is not limited.
    pub memory_cycles: u32,
    /// Columns and rows of the routers with a memory controller; none for one in every row of the last column, and in
    /// [`Shape::NocOut`], where every LLC tile has one.
    pub memories: Vec<(u16, u16)>,
    /// Which controller has a line.
    pub interleave: Interleave,
    /// Which slice a line is at home in.
    pub home: Home,
    /// Network interfaces.
    pub ni: NiParams,
    /// What software takes.
    pub software: Software,
    /// The network between chips.
    pub rack: RackParams,
    /// What the cores do.
    pub workload: Workload,
    /// Decides addresses, and what packets draw that draw their way.
    pub seed: u64,
}

/// How the parts of a chip are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Shape {
    /// A mesh of tiles with a core and a slice each.
    Mesh,
    /// A row of LLC tiles, with a slice each, and chains of cores above and below each of them.
    NocOut,
}

/// How messages travel on the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Routing {
    /// All first along the row.
    Xy,
    /// All first along the column.
    Yx,
    /// Each packet draws one of the two.
    O1Turn,
    /// By class (Abts and others, ISCA 2009): requests to memory first along the column, all else along the row.
    Cdr,
    /// All that a directory sends first along the column, all else along the row: nothing of it turns at an edge.
    CdrDirectory,
}

/// Which memory controller has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleave {
    /// Any, by a hash of the line.
    Line,
    /// Any, by a hash of its page of 4 KiB.
    Page,
    /// The one in the row of the line's home.
    Row,
}

/// What tells the slice that a line is at home in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Home {
    /// The bits of its address within a page of 4 KiB, so there are 64 slices at most, and a power of two of them.
    PageOffset,
    /// A hash of its address.
    Hash,
}

/// Caches and directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CacheParams {
    /// Cycles of a look into an L1 or an NI cache, and of putting a line there.
    pub l1_cycles: u32,
    /// Cycles of a bank of the LLC and its directory.
    pub bank_cycles: u32,
    /// Cycles for which an access occupies the bank.
    pub bank_busy_cycles: u32,
    /// Lines of the LLC in a slice.
    pub slice_lines: u32,
    /// Ways of a set.
    pub ways: u32,
    /// Lines of a slice that may wait for something at a time.
    pub entries: u32,
    /// Share of the lines that are dirty at the beginning, in percent; the LLC begins full.
    pub dirty_percent: u32,
}

/// Where the network interfaces are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Placement {
    /// At the edge, one for every row.
    Edge,
    /// In every tile.
    PerTile,
    /// Queue pairs in every tile, data at the edge.
    Split,
    /// None: cores load and store remote memory.
    Numa,
}

/// When the entry of the completion queue is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Completion {
    /// When the data has been sent to its home.
    Posted,
    /// When its home has it.
    Acked,
}

/// Network interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NiParams {
    /// Where they are.
    pub placement: Placement,
    /// Entries of a work queue, a multiple of those in a line, and of its completion queue.
    pub entries: u32,
    /// Entries of a work queue in a line of 64 B.
    pub wq_entries_per_line: u32,
    /// Entries of a completion queue in a line of 64 B.
    pub cq_entries_per_line: u32,
    /// Request generation: from a queue entry to a request.
    pub rgp_frontend_cycles: u32,
    /// See above.
    pub rgp_backend_cycles: u32,
    /// Request completion: from a response to a queue entry.
    pub rcp_backend_cycles: u32,
    /// See above.
    pub rcp_frontend_cycles: u32,
    /// Cycles that are saved where a frontend and its backend are joined by a latch.
    pub latch_saves_cycles: u32,
    /// Remote requests: from the request to its response, without memory.
    pub rrpp_cycles: u32,
    /// Between the L1 and the NI cache of a tile.
    pub handover_cycles: u32,
    /// Lines that a request generation pipeline may have on their way.
    pub in_flight: u32,
    /// Remote requests that an RRPP may have on their way.
    pub rrpp_in_flight: u32,
    /// When completions are written.
    pub completion: Completion,
}

/// What software takes, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Software {
    /// To write an entry of the work queue.
    pub wq_write: u32,
    /// To read an entry of the completion queue.
    pub cq_read: u32,
    /// To issue a load or store of remote memory.
    pub load: u32,
    /// Requests that are enqueued between two looks at the completion queue.
    pub poll_every: u32,
    /// Loads that a core may have on their way.
    pub mshrs: u32,
}

/// The network between chips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RackParams {
    /// Hops to the other chip, at least 1.
    pub hops: u32,
    /// Cycles of a hop.
    pub hop_cycles: u32,
}

/// What is done to remote memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum OpKind {
    /// It is read into local buffers.
    #[default]
    Read,
    /// It is written from local buffers.
    Write,
}

/// How a core goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// When the request is complete; cores take turns, one at a time.
    Turns,
    /// When the request is complete; all cores at once.
    Sync,
    /// As long as there is room in the work queue.
    Async,
}

/// What the cores do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workload {
    /// Share of the operations that write, in percent; the others read.
    pub writes_percent: u32,
    /// How a core goes on.
    pub mode: Mode,
    /// Lines of a request, 1 to 256.
    pub lines: u32,
    /// The cores that take part, ascending.
    pub cores: Vec<u16>,
}

/// The longest time of a part, in cycles.
const CYCLES: u32 = 1 << 20;

/// What a directory has bits for.
const AGENTS: u32 = 128;

/// The classes of messages, in the order of their virtual channels.
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
            // There is one way only.
            _ if self.shape == Shape::NocOut => Order::Xy,
            Routing::Xy => Order::Xy,
            Routing::Yx => Order::Yx,
            Routing::O1Turn => Order::O1Turn,
            Routing::Cdr if number == usize::from(class::MEMORY) => Order::Yx,
            Routing::CdrDirectory if [class::FORWARD, class::MEMORY].contains(&(number as u8)) => Order::Yx,
            Routing::Cdr | Routing::CdrDirectory => Order::Xy,
        };
        let named = class::NAMES.iter().enumerate();
        named.map(|(number, name)| Class { name: (*name).into(), order: order(number), vcs: self.vcs }).collect()
    }

    /// Refuses what no chip can be.
    ///
    /// # Errors
    /// The field, its value and the rule.
    pub fn check(&self) -> Result<(), NocError> {
        let ni = &self.ni;
        self.router.check()?;
        range("columns", self.columns.into(), 2, 16)?;
        range("rows", self.rows.into(), 2, 16)?;
        let edges = if self.shape == Shape::Mesh { self.rows } else { self.columns };
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
        let half = crate::floor::QUEUE_LINES as u32 / 2;
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
        range("rrpp_cycles", ni.rrpp_cycles, 2, CYCLES)?;
        range("bank_busy_cycles", self.cache.bank_busy_cycles, 0, CYCLES)?;
        range("handover_cycles", ni.handover_cycles, 0, CYCLES)?;
        range("latch_saves_cycles", ni.latch_saves_cycles, 0, CYCLES)?;
        range("mshrs", self.software.mshrs, 1, 1 << 16)?;
        range("slice_lines", self.cache.slice_lines, 1, 1 << 22)?;
        Ok(())
    }

    /// Cores.
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
