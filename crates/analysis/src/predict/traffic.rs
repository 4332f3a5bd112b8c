//! Describes the workloads of a server as flows of lines.

use super::storage::Drives;
use crate::explain::unloaded;
use hostnet_model::memory::Decoder;
use hostnet_model::params::{
    AccessPattern, FioParams, ServerParams, SocketParams, StreamParams, Workload, WorkloadKind,
};
use std::cell::RefCell;

const SHARE: f64 = (1_u64 << 32) as f64;
/// Maximum number of lines of a contiguous run that are decoded to find the locality of a walk.
const WALK_LINES: u64 = 4096;

/// Locality of consecutive accesses in banks and rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Locality {
    /// Lines of one row that the walk accesses before it leaves the row for good.
    pub(super) lines_per_visit: f64,
    /// Banks of a controller that the walk uses at a time.
    pub(super) banks: f64,
    /// Consecutive lines in one bank before the walk moves to the next bank.
    pub(super) burst: f64,
}

impl Locality {
    /// Locality of random lines.
    pub(super) fn random(banks: f64) -> Self {
        Self { lines_per_visit: 1.0, banks, burst: 1.0 }
    }
}

/// A workload of cores.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stream {
    pub(super) cores: f64,
    /// Share of loads in the accesses, 0 to 1.
    pub(super) loads: f64,
    /// Least time between two accesses of one core, in ns.
    pub(super) gap_ns: f64,
    /// True if the prefetchers of the cores run ahead of the stream.
    pub(super) prefetched: bool,
    pub(super) locality: Locality,
}

/// A workload of drives.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Storage {
    pub(super) drives: Vec<Drives>,
    /// Kernel work, in lines accessed per line of data.
    pub(super) kernel: f64,
    /// Share of the kernel work that only reads, 0 to 1.
    pub(super) kernel_loads: f64,
    /// Number of cores that do the kernel work; a core shared with other workloads counts in part.
    pub(super) cores: f64,
    /// Additional DMA, in lines per line of data that drives write to memory.
    pub(super) extra: f64,
}

/// Traffic of one workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flow {
    Stream(Stream),
    Storage(Storage),
}

impl Flow {
    pub(super) fn drives(&self) -> &[Drives] {
        match self {
            Flow::Storage(storage) => &storage.drives,
            Flow::Stream(_) => &[],
        }
    }

    /// Additional DMA, in lines per line of data that drives write to memory.
    pub(super) fn extra(&self) -> f64 {
        match self {
            Flow::Storage(storage) => storage.extra,
            Flow::Stream(_) => 0.0,
        }
    }
}

/// Returns the traffic of each workload of a server, in their order.
pub(super) fn flows(server: &ServerParams, walks: &Walks) -> Vec<Flow> {
    let flow = |(class, workload): (usize, &Workload)| match &workload.kind {
        WorkloadKind::Stream(stream) => Flow::Stream(of_stream(server, stream, walks)),
        WorkloadKind::Fio(fio) => Flow::Storage(of_storage(server, class, fio)),
        WorkloadKind::Network => unreachable!("a server with network traffic is not predicted"),
        other => Flow::Stream(of_stream(server, &missing_at_random(other.cores()), walks)),
    };
    server.workloads.iter().enumerate().map(flow).collect()
}

/// Returns true if two servers are seen to have the same flows, by comparing only the parameters that flows depend
/// on.
pub(super) fn are_alike(one: &ServerParams, other: &ServerParams) -> bool {
    let of_drives = |server: &ServerParams| unloaded::p2m_read_ns(server.socket());
    let (a, b) = (one.socket(), other.socket());
    a.core.issue_ps == b.core.issue_ps
        && a.ssd == b.ssd
        && a.pcie == b.pcie
        && of_drives(one) == of_drives(other)
        && one.workloads == other.workloads
}

/// Stands in for any other workload on cores: reads at random without a gap.
fn missing_at_random(cores: &[u32]) -> StreamParams {
    StreamParams {
        cores: cores.to_vec(),
        pattern: AccessPattern::Random,
        reads: 1 << 32,
        working_set_bytes: 1 << 30,
        gap_ps: 0,
    }
}

fn of_stream(server: &ServerParams, stream: &StreamParams, walks: &Walks) -> Stream {
    let issue_ps = server.socket().core.issue_ps;
    Stream {
        cores: shares(server, &stream.cores),
        loads: stream.reads as f64 / SHARE,
        // A gap shorter than the issue time is hidden behind it.
        gap_ns: stream.gap_ps.max(issue_ps) as f64 / 1000.0,
        prefetched: stream.pattern == AccessPattern::Sequential,
        locality: walks.of(stream.pattern, stream.working_set_bytes),
    }
}

fn of_storage(server: &ServerParams, class: usize, fio: &FioParams) -> Storage {
    let mut cores: Vec<u32> = fio.jobs.iter().map(|job| job.core).collect();
    cores.sort_unstable();
    cores.dedup();
    // Stored in units of 1/65536; a page of 4 KiB has 64 lines.
    let per_line = |lines_per_page: u64| lines_per_page as f64 / 65536.0 / 64.0;
    Storage {
        drives: super::storage::drives(server, class),
        kernel: per_line(fio.kernel_lines_per_page),
        kernel_loads: fio.kernel_loads as f64 / SHARE,
        cores: shares(server, &cores),
        extra: per_line(fio.dma_lines_per_page),
    }
}

/// Number of cores of a workload: a core that `n` workloads share counts 1/n.
fn shares(server: &ServerParams, cores: &[u32]) -> f64 {
    let users = |core: u32| server.workloads.iter().filter(|workload| workload.kind.runs_on(core)).count();
    cores.iter().map(|&core| 1.0 / users(core).max(1) as f64).sum()
}

/// Finds the locality of walks over memory by following the address map.
pub(super) struct Walks<'a> {
    socket: &'a SocketParams,
    decoder: Decoder,
    /// Localities found so far, by stride and length of the walk in lines.
    known: RefCell<Vec<((u64, u64), Locality)>>,
}

impl<'a> Walks<'a> {
    pub(super) fn new(socket: &'a SocketParams) -> Self {
        let decoder = Decoder::new(&socket.memory.map, &socket.memory.dram);
        Self { socket, decoder, known: RefCell::default() }
    }

    /// Returns the locality of a walk with `pattern` over a buffer of `bytes` bytes.
    pub(super) fn of(&self, pattern: AccessPattern, bytes: u64) -> Locality {
        let stride = match pattern {
            AccessPattern::Sequential => 1,
            AccessPattern::Strided { bytes } => (bytes / 64).max(1),
            AccessPattern::Random => return Locality::random(banks(self.socket)),
        };
        let walk = (stride, bytes / 64);
        if let Some((_, locality)) = self.known.borrow().iter().find(|(known, _)| *known == walk) {
            return *locality;
        }
        let locality = self.follow(stride, bytes / 64);
        self.known.borrow_mut().push((walk, locality));
        locality
    }

    /// Follows a walk of `stride` lines through one physically contiguous run.
    fn follow(&self, stride: u64, lines: u64) -> Locality {
        let run = (self.socket.memory.pages.run_bytes / 64).min(lines).min(WALK_LINES);
        let count = (run / stride).max(1);
        // Each access is in another run of pages, which lies anywhere.
        if count == 1 {
            return Locality::random(banks(self.socket));
        }
        let mut places: Vec<_> = (0..count).map(|step| self.decoder.place(step * stride)).collect();
        let changes = |key: &dyn Fn(usize) -> u64| (1..places.len()).filter(|&at| key(at) != key(at - 1)).count();
        // Counted before the places are sorted: bursts depend on the order of accesses.
        let bursts = changes(&|at| u64::from(places[at].channel) << 8 | u64::from(places[at].bank)) + 1;
        places.sort_unstable_by_key(|place| (place.channel, place.bank, place.row));
        places.dedup_by_key(|place| (place.channel, place.bank, place.row));
        let visits = places.len() as f64;
        // The places are sorted by channel first, so this leaves one of each controller that the run uses.
        places.dedup_by_key(|place| place.channel);
        let controllers = places.len() as f64;
        Locality {
            lines_per_visit: count as f64 / visits,
            banks: visits / controllers,
            burst: count as f64 / bursts as f64,
        }
    }
}

/// Number of banks of one controller.
pub(super) fn banks(socket: &SocketParams) -> f64 {
    let dram = &socket.memory.dram;
    f64::from(dram.ranks * dram.bank_groups * dram.banks_per_group)
}
