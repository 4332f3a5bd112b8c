//! Builds a world from a plan.

pub(crate) mod attach;
mod cha;
mod channels;
pub mod coarse;
mod cores;
mod die;
mod dimm;
mod drives;
pub(crate) mod feeds;
pub(crate) mod fluid;
mod iio;
mod layout;
pub(crate) mod mcn;
mod nic_functions;
mod parts;
mod pool;
mod power;
mod queues;
mod ranks;
mod rdma;
mod services;
mod shares;
mod sockets;
pub(crate) mod warm_up;
#[cfg(test)]
mod warm_up_tests;
mod world;

pub use shares::PartitionShares;
pub(crate) use world::{prepared, recut, servers, BURST};
pub use world::{with_network, world, Preparation};

pub(crate) use layout::{Layout, SocketLayout};

use crate::build::attach::NetworkAttachment;
use crate::build::feeds::TraceFeeds;
use crate::build::fluid::{FilledCaches, ServerLoad};
use hostnet_kernel::{ComponentId, Rng, Scheduler, Simulation};
use hostnet_model::cache::Caches;
use hostnet_model::fluid::FluidMemory;
use hostnet_model::line::{memory_of_cluster, Decoder, Homes, SocketHomes};
use hostnet_model::nic::QueueMemory;
use hostnet_model::params::{DieParams, PageParams, Placement, ServerParams, SocketParams, Stop, BUFFER_ALIGNMENT};
use hostnet_model::{Component, Machine, Pages, Payload};
use std::cell::{Cell, OnceCell};
use warm_up::FillProgress;

/// Initial capacity of the event queue, in events.
const EVENTS_CAPACITY: usize = 4096;

/// A NUMA node: the memory of a socket, or of one sub-NUMA cluster of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumaNode {
    pub(crate) socket: u8,
    pub(crate) cluster: u8,
}

/// Node of the DIMM that a NIC sits in. Servers with such a DIMM have one socket.
const DIMM: NumaNode = NumaNode { socket: 1, cluster: 0 };

/// Allocator of the virtual memory of each node.
struct NodeAllocator {
    clusters: u8,
    next: Vec<Cell<u64>>,
}

impl NodeAllocator {
    fn new(sockets: usize, clusters: u8) -> Self {
        Self { clusters, next: vec![Cell::new(0); sockets * usize::from(clusters)] }
    }

    /// Allocates memory on one node.
    fn of(&self, NumaNode { socket, cluster }: NumaNode, bytes: u64) -> u64 {
        let next = &self.next[usize::from(socket) * usize::from(self.clusters) + usize::from(cluster)];
        memory_of_cluster(socket, cluster) + next.replace(next.get() + bytes.next_multiple_of(BUFFER_ALIGNMENT))
    }

    /// Allocates memory that is interleaved over all nodes.
    fn shared(&self, bytes: u64, run_bytes: u64) -> u64 {
        let nodes = self.next.len() as u64;
        let unit = BUFFER_ALIGNMENT.max(run_bytes);
        // Interleaved memory has the same offset on all nodes, so it starts above the fullest one.
        let first = self.next.iter().map(Cell::get).max().unwrap_or(0).next_multiple_of(unit);
        let each = bytes.div_ceil(nodes).next_multiple_of(unit);
        self.next.iter().for_each(|next| next.set(first + each));
        Pages::shared() + first * nodes
    }
}

/// A server under construction.
pub(crate) struct Builder<'a> {
    pub(crate) params: &'a ServerParams,
    pub(crate) layout: Layout,
    pub(crate) classes: usize,
    spaces: NodeAllocator,
    /// Memory that the threads of an application share, by workload, once it is allocated.
    shared: Vec<Cell<Option<u64>>>,
    /// Memory of the queues of the NIC, once it is allocated.
    queues: OnceCell<Vec<QueueMemory>>,
    /// Place of the server on a network, if it is attached to one.
    pub(crate) attachment: Option<NetworkAttachment<'a>>,
    /// Load of a server that is built to measure its rates.
    pub(crate) load: Option<ServerLoad>,
}

/// A socket under construction.
pub(crate) struct SocketBuilder<'a> {
    pub(crate) server: &'a Builder<'a>,
    pub(crate) params: &'a SocketParams,
    pub(crate) layout: SocketLayout,
    pub(crate) pages: Pages,
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

    /// Returns the node nearest to the NIC function of this socket.
    pub(crate) fn node_of_nic(&self) -> NumaNode {
        if self.params.dimm.is_some() {
            return DIMM;
        }
        let stop = |die: &DieParams| Some(die.links[usize::from(self.nic_link()?)]);
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
        place.set(Some(base));
        base
    }

    /// Allocates memory for a workload according to its placement; local memory is allocated on `node`.
    pub(crate) fn allocate_for(&self, class: u8, node: NumaNode, bytes: u64) -> u64 {
        self.server.place(self.server.params.workloads[usize::from(class)].memory, node, bytes)
    }
}

impl<'a> Builder<'a> {
    fn new(params: &'a ServerParams, layout: Layout) -> Self {
        let classes = params.workloads.len().max(1);
        let expanders = params.sockets.iter().filter(|socket| homes_of_expander(socket).is_some()).count();
        let spaces = NodeAllocator::new(params.sockets.len() + expanders, clusters(params.socket()));
        let shared = vec![Cell::new(None); params.workloads.len()];
        Self { params, layout, classes, spaces, shared, queues: OnceCell::new(), attachment: None, load: None }
    }

    /// Returns the layout and the parameters of a socket.
    pub(crate) fn at(&self, socket: u8) -> (&SocketLayout, &SocketParams) {
        let number = usize::from(socket);
        (&self.layout.sockets[number], &self.params.sockets[number])
    }

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
            Placement::Interleaved => self.spaces.shared(bytes, self.params.socket().memory.pages.run_bytes),
        }
    }

    fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.params.seed, stream)
    }

    pub(crate) fn component_rng(&self, component: ComponentId) -> Rng {
        self.rng(component.0.into())
    }

    /// Returns the sockets, with none of their parts built yet.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = SocketBuilder<'_>> {
        let pages = self.pages();
        let sockets = self.layout.sockets.iter().zip(&self.params.sockets);
        sockets.map(move |(&layout, params)| SocketBuilder { server: self, params, layout, pages: pages.clone() })
    }

    /// Returns the mapping from virtual to physical memory of all nodes.
    fn pages(&self) -> Pages {
        let of_cluster = |socket: &SocketParams| {
            let pages = &socket.memory.pages;
            let clusters = clusters(socket);
            let own = PageParams { memory_bytes: pages.memory_bytes / u64::from(clusters), ..pages.clone() };
            std::iter::repeat_n(own, clusters.into())
        };
        let far = |socket: &SocketParams| match (&socket.expander, &socket.pool) {
            (Some(expander), _) => Some((expander.memory.pages.clone(), false)),
            (None, Some(pool)) => pool::borrowed_pages(socket, pool).map(|pages| (pages, pool.shared.is_some())),
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

    /// Builds the partition of `components` with its first events. Returns `None` if `on_filling`, which is called
    /// with the progress of filling the caches, returns false. `memory` is the fluid memory of the first socket, if
    /// any.
    fn partition(
        &self,
        components: Vec<Component>,
        memory: Option<FluidMemory>,
        feeds: &mut TraceFeeds,
        on_filling: &mut dyn FnMut(FillProgress) -> bool,
    ) -> Option<(Machine, Scheduler<Payload>)> {
        let params = self.params;
        let first = self.layout.first();
        assert_eq!(components.len() as u32, self.layout.end - first, "every part of the layout is there");
        let expanders = params.sockets.iter().filter_map(homes_of_expander);
        let srams = params.sockets.iter().filter(|socket| socket.mcn.as_ref().is_some_and(|mcn| mcn.on_dimm));
        let beside = expanders.chain(srams.map(homes_of));
        let homes = Homes::new(params.sockets.iter().map(homes_of).chain(beside).collect());
        let mut scheduler = Scheduler::new(ComponentId(first), components.len(), EVENTS_CAPACITY);
        let caches = params.sockets.iter().map(|socket| self.caches_of(socket)).collect();
        let placed = (first..).map(|id| self.layout.socket_of(ComponentId(id))).zip(components).collect();
        let capacity = params.sockets.iter().map(requests_capacity).sum();
        let mut machine = Machine::new(ComponentId(first), homes, caches, placed, capacity);
        if let Some(memory) = memory {
            machine = machine.with_rates(0, memory);
        }
        for (number, mesh) in self.sockets().enumerate().filter_map(|(at, socket)| Some((at, socket.mesh()?))) {
            machine = machine.with_mesh(number, mesh);
        }
        if !warm_up::fill(&mut machine, params, &self.layout, feeds, on_filling) {
            return None;
        }
        // Filling the caches has consumed steps of the traces.
        feeds.fill(&mut machine);
        machine.start(&mut scheduler);
        Some((machine, scheduler))
    }

    fn caches_of(&self, socket: &SocketParams) -> Option<Caches> {
        let caches = |cache| Caches::new(cache, socket.core.count, socket.cha.slices, self.classes, self.params.seed);
        Some(caches(socket.cache.as_ref()?).with_clusters(clusters(socket).into()))
    }
}

fn homes_of(socket: &SocketParams) -> SocketHomes {
    let clusters = u32::from(clusters(socket));
    let decoder = Decoder::new(&socket.memory.map, &socket.memory.dram).with_clusters(&socket.memory.map, clusters);
    SocketHomes { slices: socket.cha.slices / clusters, decoder }
}

/// Returns the homes of lines in memory behind a link or in a pool, if there is any. The CHA slices of the socket
/// serve as their home agents.
fn homes_of_expander(socket: &SocketParams) -> Option<SocketHomes> {
    if socket.pool.as_ref().is_some_and(|pool| pool.borrowed_bytes > 0) {
        return Some(homes_of(socket));
    }
    let memory = socket.far_memory()?;
    Some(SocketHomes { slices: socket.cha.slices, decoder: Decoder::new(&memory.map, &memory.dram) })
}

/// Returns the number of sub-NUMA clusters of a socket.
fn clusters(socket: &SocketParams) -> u8 {
    socket.die.as_ref().map_or(1, |die| die.clusters)
}

/// Creates a simulation of one server. A core that replays a trace has the steps of the first interval. A thread
/// whose trace is invalid has ended.
///
/// # Panics
/// Never, as the filling of the caches is not stopped.
#[must_use]
pub fn one_server(params: &ServerParams) -> Simulation<Machine> {
    let (machine, scheduler) =
        attached_server(params, 0, None, &mut TraceFeeds::new(params), &mut |_| true).expect("nobody stops it");
    Simulation::new(vec![(machine, scheduler)], u64::MAX)
}

/// Builds the partition of a server, with components from `first` on, and attaches it to a network if `attachment` is
/// given. The last workloads of the server are the classes of the network. `on_filling` is called several times a
/// second with the progress of filling the caches; if it returns false, the result is `None`.
pub(crate) fn attached_server(
    params: &ServerParams,
    first: u32,
    attachment: Option<NetworkAttachment>,
    feeds: &mut TraceFeeds,
    on_filling: &mut dyn FnMut(FillProgress) -> bool,
) -> Option<(Machine, Scheduler<Payload>)> {
    let builder = Builder { attachment, ..Builder::new(params, Layout::of(params, first)) };
    let components = builder.components();
    builder.partition(components, None, feeds, on_filling)
}

/// Creates a simulation of a server under a load, to measure its rates. The last class is the network. The content of
/// the caches that the NIC leaves behind is kept in `filled`.
pub(crate) fn loaded_server(params: &ServerParams, load: ServerLoad, filled: &mut FilledCaches) -> Simulation<Machine> {
    let alone = Layout::of(params, 0);
    let layout = Layout { end: alone.feeder + 1, ..alone };
    let builder = Builder { load: Some(load), ..Builder::new(params, layout) };
    let mut components = builder.components();
    components.push(builder.feeder().into());
    let partition = builder.partition(components, None, &mut TraceFeeds::new(params), &mut |_| true);
    let (mut machine, mut scheduler) = partition.expect("nobody stops it");
    if let Some(load) = &builder.load {
        filled.fill(&mut machine, params, load);
    }
    builder.start_load(&mut scheduler);
    Simulation::new(vec![(machine, scheduler)], u64::MAX)
}

/// Builds the partition of a host on a network with a fluid memory. `held` is the number of other sockets that
/// control throttles.
pub(crate) fn fluid_partition(
    params: &ServerParams,
    layout: Layout,
    attachment: NetworkAttachment,
    (memory, held): (FluidMemory, usize),
) -> (Machine, Scheduler<Payload>) {
    let builder = Builder { attachment: Some(attachment), ..Builder::new(params, layout) };
    let components = builder.fluid_components(held);
    let filled = builder.partition(components, Some(memory), &mut TraceFeeds::new(params), &mut |_| true);
    filled.expect("nobody stops it")
}

/// Returns the room for requests that a socket needs. Every request holds an LFB, an IIO or a TOR entry. A remote
/// request may have a second request id at the CHA.
fn requests_capacity(params: &SocketParams) -> usize {
    let cores = params.core.count * params.core.lfb_entries;
    let remote = params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32 * remote.lines_in_flight);
    (cores * 2
        + remote * 3
        + params.iio.write_credits
        + params.iio.read_credits
        + params.cha.slices * params.cha.tor_entries) as usize
}
