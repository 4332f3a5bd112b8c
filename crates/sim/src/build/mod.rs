//! From a plan to a world.

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
mod ways;
mod world;

pub use shares::Shares;
pub(crate) use world::{prepared, recut, servers, BURST};
pub use world::{with_network, world, Preparation};

pub(crate) use layout::{Layout, SocketLayout};

use crate::build::attach::Attachment;
use crate::build::feeds::Feeds;
use crate::build::fluid::{Filled, Load};
use hostnet_kernel::{ComponentId, Rng, Scheduler, Simulation};
use hostnet_model::cache::Caches;
use hostnet_model::fluid::FluidMemory;
use hostnet_model::line::{memory_of_cluster, Decoder, Homes, SocketHomes};
use hostnet_model::nic::QueueMemory;
use hostnet_model::params::{DieParams, PageParams, Placement, ServerParams, SocketParams, Stop, BUFFER_ALIGNMENT};
use hostnet_model::{Component, Machine, Pages, Payload};
use std::cell::{Cell, OnceCell};
use warm_up::Filling;

/// Events that may be pending before the queue has to grow.
const EVENTS_CAPACITY: usize = 4096;

/// Memory that is as near as any to a core or a device: that of its socket, or of a cluster of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) socket: u8,
    pub(crate) cluster: u8,
}

/// The node of the DIMM that a NIC sits in: servers with one have one socket.
const DIMM: Node = Node { socket: 1, cluster: 0 };

/// The virtual memory of each node that is handed out.
struct Spaces {
    clusters: u8,
    next: Vec<Cell<u64>>,
}

impl Spaces {
    fn new(sockets: usize, clusters: u8) -> Self {
        Self { clusters, next: vec![Cell::new(0); sockets * usize::from(clusters)] }
    }

    /// Memory of one node.
    fn of(&self, Node { socket, cluster }: Node, bytes: u64) -> u64 {
        let next = &self.next[usize::from(socket) * usize::from(self.clusters) + usize::from(cluster)];
        memory_of_cluster(socket, cluster) + next.replace(next.get() + bytes.next_multiple_of(BUFFER_ALIGNMENT))
    }

    /// Memory of all nodes in turn.
    fn shared(&self, bytes: u64, run_bytes: u64) -> u64 {
        let nodes = self.next.len() as u64;
        let unit = BUFFER_ALIGNMENT.max(run_bytes);
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
    spaces: Spaces,
    /// By workload: what the threads of an application share, once it has its place.
    shared: Vec<Cell<Option<u64>>>,
    /// By queue of the NIC: its memory, once it has its place.
    queues: OnceCell<Vec<QueueMemory>>,
    /// Its place on a network, if it has one.
    pub(crate) attachment: Option<Attachment<'a>>,
    /// What loads it to find its rates, if that is what it is for.
    pub(crate) load: Option<Load>,
}

/// The parts of a socket under construction.
pub(crate) struct SocketBuilder<'a> {
    pub(crate) server: &'a Builder<'a>,
    pub(crate) params: &'a SocketParams,
    pub(crate) layout: SocketLayout,
    pub(crate) pages: Pages,
}

impl SocketBuilder<'_> {
    /// Memory near a core of this socket.
    pub(crate) fn take(&self, core: u32, bytes: u64) -> u64 {
        self.server.spaces.of(self.node(core), bytes)
    }

    /// The memory near a core of this socket.
    pub(crate) fn node(&self, core: u32) -> Node {
        self.near(self.params.die.as_ref().map(|die| die.cores[core as usize]))
    }

    /// Memory near the NIC's function of this socket.
    pub(crate) fn near_nic(&self, bytes: u64) -> u64 {
        self.server.spaces.of(self.node_of_nic(), bytes)
    }

    /// The memory near the NIC's function of this socket.
    pub(crate) fn node_of_nic(&self) -> Node {
        if self.params.dimm.is_some() {
            return DIMM;
        }
        let stop = |die: &DieParams| Some(die.links[usize::from(self.nic_link()?)]);
        self.near(self.params.die.as_ref().and_then(stop))
    }

    fn near(&self, stop: Option<Stop>) -> Node {
        let cluster = self.params.die.as_ref().zip(stop).map_or(0, |(die, stop)| die.cluster_of(stop));
        Node { socket: self.layout.number, cluster }
    }

    /// Memory that all cores of a workload share: by itself on the socket of the first.
    pub(crate) fn take_shared(&self, class: u8, cores: &[u32], bytes: u64) -> u64 {
        let place = &self.server.shared[usize::from(class)];
        let first =
            cores.first().map_or(Node { socket: self.layout.number, cluster: 0 }, |&core| self.server.node(core));
        let base = place.get().unwrap_or_else(|| self.take_for(class, first, bytes));
        place.set(Some(base));
        base
    }

    /// Memory for a workload, where that wants it; by itself at a node.
    pub(crate) fn take_for(&self, class: u8, node: Node, bytes: u64) -> u64 {
        self.server.place(self.server.params.workloads[usize::from(class)].memory, node, bytes)
    }
}

impl<'a> Builder<'a> {
    fn new(params: &'a ServerParams, layout: Layout) -> Self {
        let classes = params.workloads.len().max(1);
        let expanders = params.sockets.iter().filter(|socket| homes_of_expander(socket).is_some()).count();
        let spaces = Spaces::new(params.sockets.len() + expanders, clusters(params.socket()));
        let shared = vec![Cell::new(None); params.workloads.len()];
        Self { params, layout, classes, spaces, shared, queues: OnceCell::new(), attachment: None, load: None }
    }

    /// A socket: the numbers of its parts, and what it is made of.
    pub(crate) fn at(&self, socket: u8) -> (&SocketLayout, &SocketParams) {
        let number = usize::from(socket);
        (&self.layout.sockets[number], &self.params.sockets[number])
    }

    /// The memory near a core of the server.
    pub(crate) fn node(&self, core: u32) -> Node {
        let socket = self.sockets().find(|socket| socket.layout.own_core(core).is_some());
        let socket = socket.expect("workloads name cores that there are");
        socket.node(socket.layout.expect_core(core))
    }

    /// Memory at a place; where it is by itself at the node of whom it is for.
    pub(crate) fn place(&self, place: Placement, node: Node, bytes: u64) -> u64 {
        match place {
            Placement::Local => self.spaces.of(node, bytes),
            Placement::Socket(socket) => self.spaces.of(Node { socket, ..node }, bytes),
            Placement::Interleaved => self.spaces.shared(bytes, self.params.socket().memory.pages.run_bytes),
        }
    }

    fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.params.seed, stream)
    }

    pub(crate) fn component_rng(&self, component: ComponentId) -> Rng {
        self.rng(component.0.into())
    }

    /// Its sockets, with none of their parts yet.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = SocketBuilder<'_>> {
        let pages = self.pages();
        let sockets = self.layout.sockets.iter().zip(&self.params.sockets);
        sockets.map(move |(&layout, params)| SocketBuilder { server: self, params, layout, pages: pages.clone() })
    }

    /// Where virtual memory lies.
    fn pages(&self) -> Pages {
        let of_cluster = |socket: &SocketParams| {
            let pages = &socket.memory.pages;
            let clusters = clusters(socket);
            let own = PageParams { memory_bytes: pages.memory_bytes / u64::from(clusters), ..pages.clone() };
            std::iter::repeat_n(own, clusters.into())
        };
        let far = |socket: &SocketParams| match (&socket.expander, &socket.pool) {
            (Some(expander), _) => Some((expander.memory.pages.clone(), false)),
            (None, Some(pool)) => pool::borrowed(socket, pool).map(|pages| (pages, pool.shared.is_some())),
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

    /// The partition of these parts, with its first events; nothing when `on_filling`, which is told how far its caches
    /// are filled, wants no more. `memory` is that of the first socket if it has rates.
    fn partition(
        &self,
        components: Vec<Component>,
        memory: Option<FluidMemory>,
        feeds: &mut Feeds,
        on_filling: &mut dyn FnMut(Filling) -> bool,
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

/// The homes of the lines of memory behind a link, or of a pool: the slices of its socket stand for them.
fn homes_of_expander(socket: &SocketParams) -> Option<SocketHomes> {
    if socket.pool.as_ref().is_some_and(|pool| pool.borrowed_bytes > 0) {
        return Some(homes_of(socket));
    }
    let memory = socket.far_memory()?;
    Some(SocketHomes { slices: socket.cha.slices, decoder: Decoder::new(&memory.map, &memory.dram) })
}

/// Clusters of a socket with memory of their own each.
fn clusters(socket: &SocketParams) -> u8 {
    socket.die.as_ref().map_or(1, |die| die.clusters)
}

/// A simulation of one server. A core that replays a trace has the steps of the first epoch; one whose trace is wrong
/// has ended.
///
/// # Panics
/// Never: nobody stops it.
#[must_use]
pub fn one_server(params: &ServerParams) -> Simulation<Machine> {
    let (machine, scheduler) =
        attached_server(params, 0, None, &mut Feeds::new(params), &mut |_| true).expect("nobody stops it");
    Simulation::new(vec![(machine, scheduler)], u64::MAX)
}

/// The partition of a server, on a network if it is attached to one, with components from `first` on. Its workloads
/// end with the classes of the network. Several times a second `on_filling` is told how far the caches are filled;
/// there is no partition if it returns false.
pub(crate) fn attached_server(
    params: &ServerParams,
    first: u32,
    attachment: Option<Attachment>,
    feeds: &mut Feeds,
    on_filling: &mut dyn FnMut(Filling) -> bool,
) -> Option<(Machine, Scheduler<Payload>)> {
    let builder = Builder { attachment, ..Builder::new(params, Layout::of(params, first)) };
    let components = builder.components();
    builder.partition(components, None, feeds, on_filling)
}

/// A simulation of a server that is loaded to find its rates. The network is its last class. What its NIC leaves in the
/// caches is kept in `filled`.
pub(crate) fn loaded_server(params: &ServerParams, load: Load, filled: &mut Filled) -> Simulation<Machine> {
    let alone = Layout::of(params, 0);
    let layout = Layout { end: alone.feeder + 1, ..alone };
    let builder = Builder { load: Some(load), ..Builder::new(params, layout) };
    let mut components = builder.components();
    components.push(builder.feeder().into());
    let partition = builder.partition(components, None, &mut Feeds::new(params), &mut |_| true);
    let (mut machine, mut scheduler) = partition.expect("nobody stops it");
    if let Some(load) = &builder.load {
        filled.fill(&mut machine, params, load);
    }
    builder.start_load(&mut scheduler);
    Simulation::new(vec![(machine, scheduler)], u64::MAX)
}

/// The partition of a host on a network over a memory of rates. Control tells that of so many other sockets.
pub(crate) fn fluid_partition(
    params: &ServerParams,
    layout: Layout,
    attachment: Attachment,
    (memory, held): (FluidMemory, usize),
) -> (Machine, Scheduler<Payload>) {
    let builder = Builder { attachment: Some(attachment), ..Builder::new(params, layout) };
    let components = builder.fluid_components(held);
    let filled = builder.partition(components, Some(memory), &mut Feeds::new(params), &mut |_| true);
    filled.expect("nobody stops it")
}

/// Every request holds an LFB entry, an IIO entry or a TOR entry; one of another socket may have another number at the
/// CHA.
fn requests_capacity(params: &SocketParams) -> usize {
    let cores = params.core.count * params.core.lfb_entries;
    let remote = params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32 * remote.lines_in_flight);
    (cores * 2
        + remote * 3
        + params.iio.write_credits
        + params.iio.read_credits
        + params.cha.slices * params.cha.tor_entries) as usize
}
