//! Allocates the memory of a server, and maps its lines to their homes.

use super::{Builder, SocketBuilder};
use hostnet_model::line::{memory_of_cluster, Decoder, Slicing, SocketHomes};
use hostnet_model::params::{DieParams, PageParams, Placement, PoolParams, SocketParams, Stop, BUFFER_ALIGNMENT};
use hostnet_model::Pages;
use std::cell::Cell;

/// A NUMA node: the memory of a socket, or of one sub-NUMA cluster of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumaNode {
    pub(crate) socket: u8,
    pub(crate) cluster: u8,
}

/// Node of the DIMM that a NIC sits in. Servers with such a DIMM have one socket.
const DIMM: NumaNode = NumaNode { socket: 1, cluster: 0 };

/// Allocator of the virtual memory of each node.
pub(super) struct NodeAllocator {
    clusters: u8,
    next: Vec<Cell<u64>>,
}

impl NodeAllocator {
    pub(super) fn new(sockets: usize, clusters: u8) -> Self {
        Self { clusters, next: vec![Cell::new(0); sockets * usize::from(clusters)] }
    }

    /// Allocates memory on one node.
    pub(super) fn of(&self, NumaNode { socket, cluster }: NumaNode, bytes: u64) -> u64 {
        let next = &self.next[usize::from(socket) * usize::from(self.clusters) + usize::from(cluster)];
        memory_of_cluster(socket, cluster) + next.replace(next.get() + bytes.next_multiple_of(BUFFER_ALIGNMENT))
    }

    /// Allocates memory that is interleaved over all nodes.
    pub(super) fn shared(&self, bytes: u64, run_bytes: u64) -> u64 {
        let nodes = self.next.len() as u64;
        let unit = BUFFER_ALIGNMENT.max(run_bytes);
        // Interleaved memory has the same offset on all nodes, so it starts above the fullest one.
        let first = self.next.iter().map(Cell::get).max().unwrap_or(0).next_multiple_of(unit);
        let each = bytes.div_ceil(nodes).next_multiple_of(unit);
        self.next.iter().for_each(|next| next.set(first + each));
        Pages::shared() + first * nodes
    }
}

impl SocketBuilder<'_> {
    /// Allocates memory near a core of this socket.
    pub(crate) fn take(&self, core: u32, bytes: u64) -> u64 {
        self.server.spaces.of(self.node(core), bytes)
    }

    /// Returns the node nearest to a core of this socket.
    pub(crate) fn node(&self, core: u32) -> NumaNode {
        self.near(self.params.die.as_ref().map(|die| die.cores[core as usize]))
    }

    /// Allocates memory near the NIC function of this socket.
    pub(crate) fn allocate_near_nic(&self, bytes: u64) -> u64 {
        self.server.spaces.of(self.node_of_nic(), bytes)
    }

    /// Allocates memory near the first IO stop of this socket.
    pub(crate) fn allocate_near_io(&self, bytes: u64) -> u64 {
        self.server.spaces.of(self.node_of_io(), bytes)
    }

    /// Returns the node nearest to the first IO stop of this socket.
    pub(crate) fn node_of_io(&self) -> NumaNode {
        self.near(self.params.die.as_ref().and_then(|die| die.links.first().copied()))
    }

    /// Returns the node nearest to the NIC function of this socket.
    pub(crate) fn node_of_nic(&self) -> NumaNode {
        if self.params.dimm.is_some() {
            return DIMM;
        }
        let stop = |die: &DieParams| Some(die.links[usize::from(self.server.nic_link(self.layout.number)?)]);
        self.near(self.params.die.as_ref().and_then(stop))
    }

    fn near(&self, stop: Option<Stop>) -> NumaNode {
        let cluster = self.params.die.as_ref().zip(stop).map_or(0, |(die, stop)| die.cluster_of(stop));
        NumaNode { socket: self.layout.number, cluster }
    }

    /// Allocates memory that all cores of a workload share, once per workload. By default the memory is local to the
    /// first core.
    pub(crate) fn allocate_shared(&self, class: u8, cores: &[u32], bytes: u64) -> u64 {
        let place = &self.server.shared[usize::from(class)];
        let first =
            cores.first().map_or(NumaNode { socket: self.layout.number, cluster: 0 }, |&core| self.server.node(core));
        let base = place.get().unwrap_or_else(|| self.allocate_for(class, first, bytes));
        // Stored by class, so that the threads of all sockets find the same memory.
        place.set(Some(base));
        base
    }

    /// Allocates memory for a workload according to its placement; local memory is allocated on `node`.
    pub(crate) fn allocate_for(&self, class: u8, node: NumaNode, bytes: u64) -> u64 {
        self.server.place(self.server.params.workloads[usize::from(class)].memory, node, bytes)
    }
}

impl Builder<'_> {
    /// Returns the node nearest to a core of the server.
    pub(crate) fn node(&self, core: u32) -> NumaNode {
        let socket = self.sockets().find(|socket| socket.layout.own_core(core).is_some());
        let socket = socket.expect("workloads name cores that there are");
        socket.node(socket.layout.expect_core(core))
    }

    /// Allocates memory according to `place`; local memory is allocated on `node`.
    pub(crate) fn place(&self, place: Placement, node: NumaNode, bytes: u64) -> u64 {
        match place {
            Placement::Local => self.spaces.of(node, bytes),
            Placement::Socket(socket) => self.spaces.of(NumaNode { socket, ..node }, bytes),
            Placement::Cluster { socket, cluster } => self.spaces.of(NumaNode { socket, cluster }, bytes),
            Placement::Interleaved => self.spaces.shared(bytes, self.params.socket().memory.pages.run_bytes),
        }
    }

    /// Returns the mapping from virtual to physical memory of all nodes.
    pub(super) fn pages(&self) -> Pages {
        let of_cluster = |socket: &SocketParams| {
            let pages = &socket.memory.pages;
            let clusters = clusters(socket);
            let own = PageParams { memory_bytes: pages.memory_bytes / u64::from(clusters), ..pages.clone() };
            std::iter::repeat_n(own, clusters.into())
        };
        // Far memory follows the nodes of the sockets, and memory of DIMMs follows last, as in `Homes`.
        let far = |socket: &SocketParams| match (&socket.expander, &socket.pool) {
            (Some(expander), _) => Some((expander.memory.pages.clone(), false)),
            (None, Some(pool)) => borrowed_pages(socket, pool).map(|pages| (pages, pool.shared.is_some())),
            (None, None) => None,
        };
        let mut each = self.params.sockets.iter().flat_map(of_cluster);
        let first = each.next().expect("a server has a socket");
        let pages = each.fold(Pages::new(&first, self.params.seed), |pages, next| pages.and(&next));
        let pages = self.params.sockets.iter().filter_map(far).fold(pages, |pages, (next, in_order)| match in_order {
            true => pages.and_in_order(&next),
            false => pages.and(&next),
        });
        let dimms = self.params.sockets.iter().filter_map(|socket| socket.dimm.as_ref());
        let pages = dimms.fold(pages, |pages, dimm| pages.and_in_order(&dimm.memory.pages));
        pages.with_clusters(clusters(self.params.socket()))
    }
}

pub(super) fn homes_of(socket: &SocketParams) -> SocketHomes {
    let clusters = u32::from(clusters(socket));
    let decoder = Decoder::new(&socket.memory.map, &socket.memory.dram).with_clusters(&socket.memory.map, clusters);
    let chiplets = socket.die.as_ref().is_some_and(|die| die.chiplets.is_some());
    let subchannels_at_slice = if chiplets { socket.memory.dram.subchannels as u8 } else { 0 };
    // With sub-NUMA clustering, only the slices of a cluster serve its memory.
    let slices = Slicing { slices: socket.cha.slices / clusters, hash: socket.cha.hash };
    SocketHomes { slices, subchannels_at_slice, decoder }
}

/// Returns the homes of lines in memory behind a link or in a pool, if there is any. The CHA slices of the socket
/// serve as their home agents.
pub(super) fn homes_of_expander(socket: &SocketParams) -> Option<SocketHomes> {
    if socket.pool.as_ref().is_some_and(|pool| pool.borrowed_bytes > 0) {
        return Some(homes_of(socket));
    }
    let memory = socket.far_memory()?;
    let decoder = Decoder::new(&memory.map, &memory.dram);
    let slices = Slicing { slices: socket.cha.slices, hash: socket.cha.hash };
    Some(SocketHomes { slices, subchannels_at_slice: 0, decoder })
}

/// Returns the number of sub-NUMA clusters of a socket.
pub(super) fn clusters(socket: &SocketParams) -> u8 {
    socket.die.as_ref().map_or(1, |die| die.clusters)
}

/// Returns the pages of memory that a server borrows, if it borrows any. Private pages are permuted like those of its
/// own memory. Shared pages are kept in order, so that all servers see the same ones.
fn borrowed_pages(socket: &SocketParams, pool: &PoolParams) -> Option<PageParams> {
    let run_bytes = socket.memory.pages.run_bytes;
    (pool.borrowed_bytes > 0).then_some(PageParams { run_bytes, memory_bytes: pool.borrowed_bytes })
}
