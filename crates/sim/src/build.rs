//! From a plan to a world.

mod sockets;

use crate::attach::Attachment;
use crate::feeds::Feeds;
use crate::fluid::Load;
use crate::warm_up;
use hostnet_kernel::{ComponentId, Rng, Scheduler, Simulation};
use hostnet_model::app::{footprint, Bases, Generator};
use hostnet_model::cache::Caches;
use hostnet_model::core::{CachedCore, Core, Evictions, Partner, Program, Source, Storage, Stream, Thread, Walk};
use hostnet_model::fluid::FluidMemory;
use hostnet_model::nvme::{Job, Ssd};
use hostnet_model::params::{
    AppParams, CacheParams, FioParams, Pattern, PcieParams, ServerParams, StreamParams, WorkloadKind,
};
use hostnet_model::{cha::Cha, iio::Iio, memory::Channel, memory::Decoder};
use hostnet_model::{Component, Layout, Machine, Pages, Payload};
use std::collections::VecDeque;

/// Events that may be pending before the queue has to grow.
const EVENTS_CAPACITY: usize = 4096;
/// Bytes of kernel structures per IO job that the kernel walks through.
const KERNEL_BYTES: u64 = 256 << 20;
/// Bytes of the region that a job's DMA beyond the data goes to.
const EXTRA_BYTES: u64 = 16 << 20;

/// Hands out virtual memory, aligned to 1 MiB.
pub(crate) struct Space {
    next: u64,
}

impl Space {
    pub(crate) fn take(&mut self, bytes: u64) -> u64 {
        let base = self.next;
        self.next += bytes.next_multiple_of(1 << 20);
        base
    }
}

/// Parts under construction.
pub(crate) struct Builder<'a> {
    pub(crate) params: &'a ServerParams,
    pub(crate) layout: Layout,
    pub(crate) pages: Pages,
    pub(crate) space: Space,
    pub(crate) classes: usize,
    /// Its place on a network, if it has one.
    pub(crate) attachment: Option<Attachment<'a>>,
    /// What loads it to find its rates, if that is what it is for.
    pub(crate) load: Option<Load>,
}

impl Builder<'_> {
    fn rng(&self, stream: u64) -> Rng {
        Rng::new(self.params.seed, stream)
    }

    pub(crate) fn component_rng(&self, component: u32) -> Rng {
        self.rng(u64::from(component))
    }

    pub(crate) fn cores(&mut self) -> Vec<Component> {
        let programs = self.programs();
        let core = |(index, programs)| {
            let rng = self.component_rng(self.layout.core + index as u32);
            let core = Core::new(self.params.core.clone(), self.pages.clone(), rng, programs, self.classes);
            Component::Core(Box::new(core))
        };
        programs.into_iter().enumerate().map(core).collect()
    }

    fn cached_cores(&mut self, cache: &CacheParams) -> Vec<Component> {
        let threads = self.threads();
        let core = |(index, thread)| {
            let rng = self.component_rng(self.layout.core + index as u32);
            let params = self.params.core.clone();
            let pages = self.pages.clone();
            let core = CachedCore::new(index as u32, params, cache, pages, rng, thread, self.classes);
            Component::CachedCore(Box::new(core))
        };
        threads.into_iter().enumerate().map(core).collect()
    }

    /// What every core with caches executes.
    fn threads(&mut self) -> Vec<Option<Thread>> {
        let mut threads: Vec<Option<Thread>> = (0..self.params.core.count).map(|_| None).collect();
        for (class, workload) in self.params.workloads.iter().enumerate() {
            let class = class as u8;
            match &workload.kind {
                WorkloadKind::Stream(stream) => {
                    for &core in &stream.cores {
                        threads[core as usize] = Some(self.stream_thread(class, core, stream));
                    }
                }
                WorkloadKind::Fio(fio) => {
                    for core in cores_of(fio) {
                        threads[core as usize] = Some(self.storage_thread(class, core, fio));
                    }
                }
                WorkloadKind::App(app) => self.app_threads(class, app, &mut threads),
                WorkloadKind::Network => {}
            }
        }
        threads
    }

    fn stream_thread(&mut self, class: u8, core: u32, stream: &StreamParams) -> Thread {
        let base = self.space.take(stream.working_set_bytes);
        let mut rng = self.rng(1 << 32 | u64::from(core));
        let walk = Walk::new(base, stream.working_set_bytes, stream.pattern, &mut rng);
        Thread {
            class,
            source: Source::Stream(Stream { walk, reads: stream.reads }),
            instruction_fs: self.params.core.issue_ps.max(stream.gap_ps) * 1000,
            in_flight: 0,
            think_ps: 0,
            partner: None,
        }
    }

    fn app_threads(&mut self, class: u8, app: &AppParams, threads: &mut [Option<Thread>]) {
        let needed = footprint(app);
        let shared = self.space.take(needed.shared_bytes);
        let count = app.cores.len() as u32;
        for (number, &core) in (0..).zip(&app.cores) {
            let mut bases = Bases { shared, thread: self.space.take(needed.thread_bytes), client: 0 };
            let mut rng = self.rng(1 << 32 | u64::from(core));
            let client = app.clients.get(number as usize).copied();
            let thread = |generator, partner| Thread {
                class,
                source: Source::App(Box::new(generator)),
                instruction_fs: app.instruction_fs,
                in_flight: app.in_flight,
                think_ps: app.think_ps,
                partner,
            };
            let server = Generator::new(app, number, count, bases, &mut rng);
            threads[core as usize] = Some(thread(server, client.map(Partner::Client)));
            let Some(client) = client else { continue };
            bases.client = self.space.take(needed.client_bytes);
            let asking = Generator::client(app, bases);
            threads[client as usize] = asking.map(|generator| thread(generator, Some(Partner::Server(core))));
        }
    }

    fn storage_thread(&mut self, class: u8, core: u32, fio: &FioParams) -> Thread {
        let base = self.space.take(KERNEL_BYTES);
        let mut rng = self.rng(2 << 32 | u64::from(core) << 8 | u64::from(class));
        let walk = Walk::new(base, KERNEL_BYTES, Pattern::Sequential, &mut rng);
        let storage = Storage {
            walk,
            loads: fio.kernel_loads,
            lines_per_page: fio.kernel_lines_per_page,
            owed: 0,
            request: 0,
            blocks: VecDeque::new(),
        };
        Thread {
            class,
            source: Source::Storage(storage),
            instruction_fs: self.params.core.issue_ps * 1000,
            in_flight: 0,
            think_ps: 0,
            partner: None,
        }
    }

    fn programs(&mut self) -> Vec<Vec<Program>> {
        let mut programs: Vec<Vec<Program>> = (0..self.params.core.count).map(|_| Vec::new()).collect();
        for (class, workload) in self.params.workloads.iter().enumerate() {
            let class = class as u8;
            match &workload.kind {
                WorkloadKind::Stream(stream) => {
                    for &core in &stream.cores {
                        let program = self.stream(class, core, stream);
                        programs[core as usize].push(program);
                    }
                }
                WorkloadKind::App(_) | WorkloadKind::Network => {}
                WorkloadKind::Fio(fio) => {
                    for core in cores_of(fio) {
                        let program = self.kernel_work(class, core, fio);
                        programs[core as usize].push(program);
                    }
                }
            }
        }
        programs
    }

    fn stream(&mut self, class: u8, core: u32, stream: &StreamParams) -> Program {
        let base = self.space.take(stream.working_set_bytes);
        let mut rng = self.rng(1 << 32 | u64::from(core));
        let walk = Walk::new(base, stream.working_set_bytes, stream.pattern, &mut rng);
        let dirty = self.params.core.dirty_pool_lines;
        Program {
            class,
            reads: stream.reads,
            evictions: Evictions::new(walk.opposite(), dirty, &self.pages, &mut rng),
            walk,
            gap_ps: stream.gap_ps,
            owed: None,
            lines_per_page: 0,
        }
    }

    fn kernel_work(&mut self, class: u8, core: u32, fio: &FioParams) -> Program {
        let base = self.space.take(KERNEL_BYTES);
        let mut rng = self.rng(2 << 32 | u64::from(core) << 8 | u64::from(class));
        let walk = Walk::new(base, KERNEL_BYTES, Pattern::Sequential, &mut rng);
        Program {
            class,
            reads: fio.kernel_loads,
            evictions: Evictions::new(walk.clone(), self.params.core.dirty_pool_lines, &self.pages, &mut rng),
            walk,
            gap_ps: 0,
            owed: Some(0),
            lines_per_page: fio.kernel_lines_per_page,
        }
    }

    fn drives(&mut self) -> Vec<Ssd> {
        let params = self.params;
        (0..params.ssd.count).map(|index| self.drive(index)).collect()
    }

    fn drive(&mut self, index: u32) -> Ssd {
        let params = self.params;
        let mut jobs = Vec::new();
        let mut ssd = params.ssd.clone();
        let mut rng = self.component_rng(self.layout.ssd + index);
        for (class, workload) in params.workloads.iter().enumerate() {
            let WorkloadKind::Fio(fio) = &workload.kind else { continue };
            let used: Vec<u32> = fio.jobs.iter().map(|job| job.ssd).collect();
            for job in fio.jobs.iter().filter(|job| job.ssd == index) {
                if fio.rate_bytes_per_s > 0 {
                    let mut drives = used.clone();
                    drives.sort_unstable();
                    drives.dedup();
                    let share = fio.rate_bytes_per_s / drives.len() as u64;
                    ssd.read_bytes_per_s = ssd.read_bytes_per_s.min(share);
                    ssd.write_bytes_per_s = ssd.write_bytes_per_s.min(share);
                }
                let base = self.space.take(job.block_bytes * u64::from(job.io_depth));
                let extra = self.space.take(EXTRA_BYTES);
                jobs.push(Job {
                    params: job.clone(),
                    class: class as u8,
                    base,
                    core: ComponentId(self.layout.core + job.core),
                    dma_lines_per_page: fio.dma_lines_per_page,
                    extra: Walk::new(
                        extra,
                        EXTRA_BYTES,
                        Pattern::Strided { bytes: u64::from(params.pcie.mps_bytes) },
                        &mut rng,
                    ),
                    slot: 0,
                    waiting: 0,
                    consume: fio.consume,
                });
            }
        }
        Ssd::new(index, ssd, params.pcie.clone(), self.pages.clone(), rng, jobs, self.classes)
    }
}

/// The cores that serve the jobs of a storage workload.
fn cores_of(fio: &FioParams) -> Vec<u32> {
    let mut cores: Vec<u32> = fio.jobs.iter().map(|job| job.core).collect();
    cores.sort_unstable();
    cores.dedup();
    cores
}

/// The partition of one server whose components are numbered from `first` on. A core that replays a trace has the steps of the
/// first epoch; one whose trace is wrong has ended.
#[must_use]
pub fn server(params: &ServerParams, first: u32) -> (Machine, Scheduler<Payload>) {
    fed_server(params, first, &mut Feeds::new(params))
}

fn fed_server(params: &ServerParams, first: u32, feeds: &mut Feeds) -> (Machine, Scheduler<Payload>) {
    let classes = params.workloads.len().max(1);
    partition(params, layout(params, first), classes, feeds, None)
}

/// The partition of a server on a network, with components from `first` on. Its workloads end with the classes of the network.
pub(crate) fn attached_server(
    params: &ServerParams,
    first: u32,
    attachment: Attachment,
) -> (Machine, Scheduler<Payload>) {
    let classes = params.workloads.len();
    partition(params, layout(params, first), classes, &mut Feeds::new(params), Some(attachment))
}

fn partition(
    params: &ServerParams,
    layout: Layout,
    classes: usize,
    feeds: &mut Feeds,
    attachment: Option<Attachment>,
) -> (Machine, Scheduler<Payload>) {
    let pages = Pages::new(&params.memory.pages, params.seed);
    let mut builder = Builder { params, layout, pages, space: Space { next: 0 }, classes, attachment, load: None };
    let components = components(&mut builder);
    machine_of(params, layout, classes, feeds, components)
}

/// The partition of a server that is loaded to find its rates. The network is its last class.
pub(crate) fn loaded_server(params: &ServerParams, load: Load) -> Simulation<Machine> {
    let (alone, classes) = (layout(params, 0), params.workloads.len());
    let layout = Layout { end: alone.feeder + 1, ..alone };
    let pages = Pages::new(&params.memory.pages, params.seed);
    let mut builder =
        Builder { params, layout, pages, space: Space { next: 0 }, classes, attachment: None, load: Some(load) };
    let mut components = components(&mut builder);
    components.push(builder.feeder());
    let (machine, mut scheduler) = machine_of(params, layout, classes, &mut Feeds::new(params), components);
    builder.start_load(&mut scheduler);
    Simulation::new(vec![(machine, scheduler)], u64::MAX)
}

/// The partition of a host on a network over a memory of rates.
pub(crate) fn fluid_partition(
    params: &ServerParams,
    layout: Layout,
    attachment: Attachment,
    memory: FluidMemory,
) -> (Machine, Scheduler<Payload>) {
    let classes = params.workloads.len();
    let pages = Pages::new(&params.memory.pages, params.seed);
    let (space, attachment) = (Space { next: 0 }, Some(attachment));
    let mut builder = Builder { params, layout, pages, space, classes, attachment, load: None };
    let components = builder.fluid_components();
    let (machine, scheduler) = machine_of(params, layout, classes, &mut Feeds::new(params), components);
    (machine.with_fluid(memory), scheduler)
}

fn machine_of(
    params: &ServerParams,
    layout: Layout,
    classes: usize,
    feeds: &mut Feeds,
    components: Vec<Component>,
) -> (Machine, Scheduler<Payload>) {
    let decoder = Decoder::new(&params.memory.map, &params.memory.dram);
    let mut scheduler = Scheduler::new(ComponentId(layout.core), components.len(), EVENTS_CAPACITY);
    let caches = params
        .cache
        .as_ref()
        .map(|cache| Caches::new(cache, params.core.count, params.cha.slices, classes, params.seed));
    let mut machine = Machine::new(layout, decoder, caches, components, requests_capacity(params));
    warm_up::fill(&mut machine, params, feeds);
    feeds.fill(&mut machine);
    start(&mut machine, &mut scheduler);
    (machine, scheduler)
}

/// A simulation of one server.
#[must_use]
pub fn one_server(params: &ServerParams) -> Simulation<Machine> {
    fed_one_server(params, &mut Feeds::new(params))
}

/// As [`one_server`], with its traces open.
pub(crate) fn fed_one_server(params: &ServerParams, feeds: &mut Feeds) -> Simulation<Machine> {
    Simulation::new(vec![fed_server(params, 0, feeds)], u64::MAX)
}

/// The numbers of the components of a server.
pub(crate) fn layout(params: &ServerParams, first: u32) -> Layout {
    let cha = first + params.core.count;
    let channel = cha + 1;
    let iio = channel + params.memory.map.channels * params.memory.dram.subchannels;
    let ssd = iio + 1;
    let nic = ssd + params.ssd.count;
    let upi = nic + u32::from(params.nic.is_some());
    let remote = upi + params.remote.as_ref().map_or(0, |remote| remote.sockets);
    let control = remote + params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32);
    let end = control + u32::from(params.control.is_some());
    let slices = params.cha.slices;
    Layout { core: first, cha, channel, iio, ssd, nic, upi, remote, control, feeder: end, slices, end }
}

/// Every request holds an LFB entry, an IIO entry or a TOR entry; one of another socket may have another number at the CHA.
fn requests_capacity(params: &ServerParams) -> usize {
    let cores = params.core.count * params.core.lfb_entries;
    let remote = params.remote.as_ref().map_or(0, |remote| remote.cores.len() as u32 * remote.lines_in_flight);
    (cores * 2
        + remote * 3
        + params.iio.write_credits
        + params.iio.read_credits
        + params.cha.slices * params.cha.tor_entries) as usize
}

fn components(builder: &mut Builder) -> Vec<Component> {
    let params = builder.params;
    let classes = builder.classes;
    let layout = builder.layout;
    let mut all = match &params.cache {
        None => builder.cores(),
        Some(cache) => builder.cached_cores(cache),
    };
    builder.net_cores(&mut all);
    builder.copiers(&mut all);
    let cha = Cha::new(params.cha.clone(), &params.core, &params.iio, params.cache.as_ref(), classes);
    let cha = match &params.remote {
        Some(remote) => cha.with_remote(remote),
        None => cha,
    };
    all.push(Component::Cha(Box::new(cha)));
    let memory = &params.memory;
    for number in 0..memory.map.channels * memory.dram.subchannels {
        let (from_mc, write_ack) = (params.cha.from_mc_ps, params.cha.write_ack_ps);
        let channel = Channel::new(&memory.dram, &memory.controller, from_mc, write_ack, classes, number);
        all.push(Component::Channel(Box::new(channel)));
    }
    let rng = builder.component_rng(layout.iio);
    let pcie = links(params);
    let ddio = params.cache.as_ref().map_or_else(Vec::new, |cache| {
        let nic = params.nic.iter().map(|nic| nic.ddio);
        cache.ddio.drives.iter().copied().chain(nic).collect()
    });
    let mut iio = Iio::new(params.iio.clone(), &pcie, ddio, rng, classes);
    if params.nic.as_ref().is_some_and(|nic| !nic.relaxed_ordering) {
        iio.keep_order(params.ssd.count as usize);
    }
    if let Some(control) = &params.control {
        iio.set_clock(control.iio_clock_ps);
    }
    iio.set_bursts(params.nic.as_ref().map_or(0, |nic| nic.burst_shift));
    all.push(Component::Iio(Box::new(iio)));
    all.extend(builder.drives().into_iter().map(|ssd| Component::Ssd(Box::new(ssd))));
    if let Some(nic) = &params.nic {
        all.extend(builder.nic(nic).or_else(|| builder.loaded_nic(nic)));
    }
    if let Some(remote) = &params.remote {
        all.extend(builder.remote(remote));
    }
    if let Some(control) = &params.control {
        all.push(builder.control(control));
    }
    all
}

/// The PCIe links at the IIO: those of the drives, and of the NIC.
fn links(params: &ServerParams) -> Vec<PcieParams> {
    let drives = (0..params.ssd.count).map(|_| &params.pcie);
    let nic = params.nic.iter().map(|nic| &nic.pcie);
    drives.chain(nic).cloned().collect()
}

/// The first events: LFB entries become free one after the other, jobs submit their commands.
fn start(machine: &mut Machine, scheduler: &mut Scheduler<Payload>) {
    let layout = machine.layout();
    for (index, component) in machine.components_mut().iter_mut().enumerate() {
        let id = ComponentId(layout.core + index as u32);
        match component {
            Component::Core(core) if core.is_busy() => {
                for entry in 0..core.lfb().capacity() {
                    scheduler.send(id, id, 1 + u64::from(entry) * 1000 + index as u64 * 137, Payload::Refill);
                }
            }
            Component::CachedCore(core) if core.is_busy() => {
                scheduler.send(id, id, 1 + index as u64 * 137, Payload::Step);
            }
            Component::Channel(channel) => {
                if let Some((delay, wake)) = channel.first_wake() {
                    scheduler.send(id, id, delay, wake);
                }
            }
            Component::Ssd(ssd) => {
                for (job, commands) in ssd.initial_commands() {
                    for command in 0..commands {
                        let delay = 1 + u64::from(command) * 500_000 + index as u64 * 17_389;
                        scheduler.send(id, id, delay, Payload::Submit { job });
                    }
                }
            }
            Component::NetCore(core) => {
                for (delay, payload) in core.starts() {
                    scheduler.send(id, id, delay, payload);
                }
            }
            Component::Nic(nic) => {
                for (delay, payload) in nic.starts() {
                    scheduler.send(id, id, delay, payload);
                }
            }
            Component::Probe(_) => scheduler.send(id, id, 1 + index as u64 * 137, Payload::Step),
            Component::Control(control) => {
                for (delay, payload) in control.first_reads() {
                    scheduler.send(id, ComponentId(layout.iio), delay, payload);
                }
            }
            _ => {}
        }
    }
}
