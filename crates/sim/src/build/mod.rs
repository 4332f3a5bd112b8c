//! Builds a world from a plan.

pub(crate) mod attach;
mod burst_converter;
pub mod coarse;
mod die;
pub(crate) mod feeds;
pub(crate) mod fluid;
mod layout;
mod memory;
mod net_stack;
mod nic_functions;
mod parts;
mod power;
mod queues;
mod ranks;
mod rdma;
mod services;
mod shares;
mod sockets;
mod tiering;
pub(crate) mod warm_up;
#[cfg(test)]
mod warm_up_tests;
mod workloads;
mod world;

pub use fluid::RateTables;
pub use shares::PartitionShares;
pub(crate) use world::{prepared, repartition, servers, undivided_servers};
pub use world::{with_network, world, Preparation};

pub(crate) use fluid::TableSource;
pub(crate) use layout::{Layout, SocketLayout};
pub(crate) use memory::NumaNode;

use crate::build::attach::NetworkAttachment;
use crate::build::feeds::TraceFeeds;
use crate::build::fluid::{FilledCaches, ServerLoad};
use hostnet_kernel::{ComponentId, Rng, Scheduler, Simulation};
use hostnet_model::cache::Caches;
use hostnet_model::core::CoreWiring;
use hostnet_model::fluid::FluidMemory;
use hostnet_model::line::Homes;
use hostnet_model::nic::QueueMemory;
use hostnet_model::params::{ServerParams, SocketParams};
use hostnet_model::{Component, Machine, Pages, PartKind, Payload};
use memory::{clusters, homes_of, homes_of_expander, NodeAllocator};
use std::cell::{Cell, OnceCell, RefCell};
use warm_up::FillProgress;

/// Initial capacity of the event queue, in events.
const EVENTS_CAPACITY: usize = 4096;

/// A server under construction.
pub(crate) struct Builder<'a> {
    pub(crate) params: &'a ServerParams,
    pub(crate) layout: Layout,
    pub(crate) classes: usize,
    spaces: NodeAllocator,
    /// Memory that the threads of an application share, by workload, once it is allocated.
    shared: Vec<Cell<Option<u64>>>,
    /// First physical lines of the pages that migrate, by number, as far as their buffers are allocated.
    migrating: RefCell<Vec<u64>>,
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
    /// Returns the number of a core of this socket among the cores of the server.
    pub(crate) fn number(&self, core: u32) -> u32 {
        self.layout.before(PartKind::Core) + core
    }

    /// Returns the random numbers for engine `number` of a core. The first engine has those of the core.
    pub(crate) fn engine_rng(&self, core: u32, number: u32) -> Rng {
        match number {
            0 => self.server.component_rng(self.layout.cores().get(core)),
            // Purposes by their high word: 1 and 3 streams, 2 storage, 4 engines, 5 rings of a memory network.
            _ => self.server.rng(4 << 32 | u64::from(number) << 16 | u64::from(self.number(core))),
        }
    }

    /// Returns the random numbers for the stream of a workload on `core` of this socket, where `before` other streams
    /// run already.
    pub(crate) fn stream_rng(&self, core: u32, before: usize) -> Rng {
        self.server.stream_rng(self.number(core), before)
    }

    /// Returns the ids of the components that the cores of this socket send to.
    pub(crate) fn core_wiring(&self) -> CoreWiring {
        let drives = |socket: &SocketLayout| socket.of(PartKind::Ssd).iter();
        CoreWiring { home: self.layout.home(), drives: self.server.layout.sockets.iter().flat_map(drives).collect() }
    }
}

impl<'a> Builder<'a> {
    fn new(params: &'a ServerParams, layout: Layout) -> Self {
        let classes = params.workloads.len().max(1);
        // Each memory behind a link is a node of its own for the allocator.
        let expanders = params.sockets.iter().filter(|socket| homes_of_expander(socket).is_some()).count();
        let spaces = NodeAllocator::new(params.sockets.len() + expanders, clusters(params.socket()));
        let shared = vec![Cell::new(None); params.workloads.len()];
        Self {
            params,
            layout,
            classes,
            spaces,
            shared,
            migrating: RefCell::default(),
            queues: OnceCell::new(),
            attachment: None,
            load: None,
        }
    }

    /// Returns the layout and the parameters of a socket.
    pub(crate) fn at(&self, socket: u8) -> (&SocketLayout, &SocketParams) {
        let number = usize::from(socket);
        (&self.layout.sockets[number], &self.params.sockets[number])
    }

    pub(crate) fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.params.seed, stream)
    }

    /// Returns the random numbers for the stream of a workload on `core` of the server, where `before` other streams
    /// run already.
    pub(crate) fn stream_rng(&self, core: u32, before: usize) -> Rng {
        match before {
            // The high word keeps the random streams of different purposes apart.
            0 => self.rng(1 << 32 | u64::from(core)),
            _ => self.rng(3 << 32 | (before as u64) << 16 | u64::from(core)),
        }
    }

    pub(crate) fn component_rng(&self, component: ComponentId) -> Rng {
        self.rng(component.0.into())
    }

    /// Returns the number of the link of the NIC function on a socket, if there is one.
    pub(crate) fn nic_link(&self, socket: u8) -> Option<u8> {
        parts::link_number(self.params, socket, PartKind::Nic, (self.layout.nic_socket().number, 0))
    }

    /// Returns the number of cores of all sockets.
    pub(crate) fn cores(&self) -> u32 {
        self.params.sockets.iter().map(|socket| socket.core.count).sum()
    }

    /// Returns the sockets, with none of their parts built yet.
    pub(crate) fn sockets(&self) -> impl Iterator<Item = SocketBuilder<'_>> {
        let pages = self.pages();
        let sockets = self.layout.sockets.iter().zip(&self.params.sockets);
        sockets.map(move |(&layout, params)| SocketBuilder { server: self, params, layout, pages: pages.clone() })
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
            machine = machine.with_fluid_memory(0, memory);
        }
        for (number, mesh) in self.sockets().enumerate().filter_map(|(at, socket)| Some((at, die::mesh(&socket)?))) {
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
        Some(caches(socket.cache.as_ref()?).with_clusters(clusters(socket).into()).with_hash(socket.cha.hash))
    }
}

/// Builds all parts of a server: those of one socket after the other, then the UPI links between sockets, then control,
/// the migration of pages and power management.
fn build_parts(server: &Builder) -> Vec<Component> {
    let mut parts = parts::build_sockets(server, parts::WITH_LINES);
    parts.extend(sockets::upis(server).into_iter().map(Into::into));
    if let Some(control) = &server.params.control {
        parts.push(sockets::control(server, control).into());
    }
    parts.extend(tiering::tiering(server).map(Into::into));
    parts.extend(power::power(server, &parts).map(Into::into));
    parts
}

/// Creates a simulation of one server. For a core that replays a trace, the steps of the first interval are loaded. A
/// thread whose trace is invalid counts as ended.
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
    let components = build_parts(&builder);
    builder.partition(components, None, feeds, on_filling)
}

/// Creates a simulation of a server under a load, to measure its rates. The last class is the network. The content of
/// the caches that the NIC leaves behind is kept in `filled`.
pub(crate) fn loaded_server(params: &ServerParams, load: ServerLoad, filled: &FilledCaches) -> Simulation<Machine> {
    let alone = Layout::of(params, 0);
    let layout = Layout { end: alone.feeder + 1, ..alone };
    let builder = Builder { load: Some(load), ..Builder::new(params, layout) };
    let mut components = build_parts(&builder);
    components.push(fluid::feeder(&builder).into());
    let partition = builder.partition(components, None, &mut TraceFeeds::new(params), &mut |_| true);
    let (mut machine, mut scheduler) = partition.expect("nobody stops it");
    // Filled after the machine is built, as the position of the buffers comes from its NIC.
    if let Some(load) = &builder.load {
        filled.fill(&mut machine, params, load);
    }
    fluid::start_load(&builder, &mut scheduler);
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
    let components = fluid::components(&builder, held);
    let filled = builder.partition(components, Some(memory), &mut TraceFeeds::new(params), &mut |_| true);
    filled.expect("nobody stops it")
}

/// Returns the room for requests that a socket needs. Every request holds an LFB, an IIO or a TOR entry. A remote
/// request may have a second request id at the CHA.
fn requests_capacity(params: &SocketParams) -> usize {
    let cores = params.core.count * params.core.lines_in_flight();
    let remote = params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32 * remote.lines_in_flight);
    (cores * 2
        + remote * 3
        + params.iio.write_credits
        + params.iio.read_credits
        + params.iommu.as_ref().map_or(0, |iommu| iommu.walks)
        + params.cha.slices * params.cha.tor_entries) as usize
}
