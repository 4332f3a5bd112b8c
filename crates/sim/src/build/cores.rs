//! Builds cores and the engines that run on them.

use super::{Builder, NumaNode, SocketBuilder, SocketLayout};
use hostnet_kernel::Rng;
use hostnet_model::app::{footprint, Generator, MemoryBases};
use hostnet_model::core::{
    Core, CoreWiring, Engine, Executor, Partner, Program, Programs, Source, Storage, Stream, Thread,
};
use hostnet_model::line::{Evictions, Walk};
use hostnet_model::params::{
    AccessPattern, AppParams, CacheParams, FioParams, StreamParams, WorkloadKind, KERNEL_BYTES,
};
use hostnet_model::{Component, PartKind};
use std::collections::VecDeque;

impl Builder<'_> {
    /// Returns the random numbers for the stream of a workload on `core` of the server, where `before` other streams
    /// run already.
    pub(super) fn stream_rng(&self, core: u32, before: usize) -> Rng {
        match before {
            // The high word keeps the random streams of different purposes apart.
            0 => self.rng(1 << 32 | u64::from(core)),
            _ => self.rng(3 << 32 | (before as u64) << 16 | u64::from(core)),
        }
    }
}

impl SocketBuilder<'_> {
    /// Builds the cores with everything that runs on them.
    pub(super) fn cores(&mut self) -> Vec<Component> {
        let mut engines = self.engines();
        let mut params = vec![self.params.core.clone(); engines.len()];
        let before: Vec<u32> = engines.iter().map(|engines| engines.len() as u32).collect();
        for (core, of_core, stack) in self.stacks(&before) {
            engines[core as usize].push(stack.into());
            params[core as usize] = of_core;
        }
        for (core, worker) in self.workers(&engines) {
            engines[core as usize].push(worker.into());
        }
        let power = self.server.params.power.as_deref();
        let core = |(engines, params)| {
            let core = Core::new(PartKind::Core, params, engines, self.server.classes);
            power.into_iter().fold(core, Core::with_power).into()
        };
        let mut all: Vec<Component> = engines.into_iter().zip(&params).map(core).collect();
        self.copiers(&mut all);
        all
    }

    /// Builds the streams, applications and storage threads of each core. Network stacks and ranks are added later.
    fn engines(&mut self) -> Vec<Vec<Engine>> {
        match &self.params.cache {
            None => (0..).zip(self.programs()).map(|(core, programs)| self.run(core, programs)).collect(),
            Some(cache) => {
                (0..).zip(self.threads()).map(|(core, threads)| self.execute(core, threads, cache)).collect()
            }
        }
    }

    fn run(&self, core: u32, programs: Vec<Program>) -> Vec<Engine> {
        if programs.is_empty() {
            return Vec::new();
        }
        let rng = self.server.component_rng(self.layout.cores().get(core));
        vec![Programs::new(self.params.core.clone(), self.wiring(), self.pages.clone(), rng, programs).into()]
    }

    fn execute(&self, core: u32, threads: Vec<Thread>, cache: &CacheParams) -> Vec<Engine> {
        let executor = |(number, thread): (u32, Thread)| {
            let (params, pages) = (self.params.core.clone(), self.pages.clone());
            let rng = self.engine_rng(core, number);
            Executor::new(core, params, self.wiring(), cache, pages, rng, thread, self.server.classes).into()
        };
        (0..).zip(threads).map(executor).collect()
    }

    /// Returns the random numbers for engine `number` of a core. The first engine has those of the core.
    pub(super) fn engine_rng(&self, core: u32, number: u32) -> Rng {
        match number {
            0 => self.server.component_rng(self.layout.cores().get(core)),
            _ => self.server.rng(4 << 32 | u64::from(number) << 16 | u64::from(self.number(core))),
        }
    }

    /// Returns the number of a core of this socket among the cores of the server.
    pub(super) fn number(&self, core: u32) -> u32 {
        self.layout.before(PartKind::Core) + core
    }

    /// Returns the random numbers for the stream of a workload on `core` of this socket, where `before` other streams
    /// run already.
    fn stream_rng(&self, core: u32, before: usize) -> Rng {
        self.server.stream_rng(self.number(core), before)
    }

    /// Builds a core of this socket with its engines.
    pub(crate) fn core(&self, engines: Vec<Engine>) -> Core {
        Core::new(PartKind::Core, &self.params.core, engines, self.server.classes)
    }

    /// Returns the ids of the components that the cores of this socket send to.
    pub(super) fn wiring(&self) -> CoreWiring {
        let drives = |socket: &SocketLayout| socket.of(PartKind::Ssd).iter();
        CoreWiring { home: self.layout.home(), drives: self.server.layout.sockets.iter().flat_map(drives).collect() }
    }

    /// Returns the threads of every core of a server with caches.
    fn threads(&mut self) -> Vec<Vec<Thread>> {
        let layout = self.layout;
        let mut threads: Vec<Vec<Thread>> = (0..self.params.core.count).map(|_| Vec::new()).collect();
        for (class, workload) in self.server.params.workloads.iter().enumerate() {
            let class = class as u8;
            match &workload.kind {
                WorkloadKind::Stream(stream) => {
                    for core in layout.own_cores(&stream.cores) {
                        let rng = self.stream_rng(core, threads[core as usize].len());
                        let thread = self.stream_thread(class, core, stream, rng);
                        threads[core as usize].push(thread);
                    }
                }
                WorkloadKind::Fio(fio) => {
                    for core in layout.own_cores(&cores_of(fio)) {
                        threads[core as usize].push(self.storage_thread(class, core, fio));
                    }
                }
                WorkloadKind::App(app) => self.app_threads(class, app, &mut threads),
                WorkloadKind::Network => {}
            }
        }
        threads
    }

    fn stream_thread(&mut self, class: u8, core: u32, stream: &StreamParams, mut rng: Rng) -> Thread {
        let base = self.allocate_for(class, self.node(core), stream.working_set_bytes);
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

    fn app_threads(&mut self, class: u8, app: &AppParams, threads: &mut [Vec<Thread>]) {
        let needed = footprint(app);
        let shared = self.allocate_shared(class, &app.cores, needed.shared_bytes);
        let count = app.cores.len() as u32;
        for (number, &core) in (0..).zip(&app.cores) {
            let Some(core) = self.layout.own_core(core) else { continue };
            let mut bases = MemoryBases {
                shared,
                thread: self.allocate_for(class, self.node(core), needed.thread_bytes),
                client: 0,
            };
            let mut rng = self.stream_rng(core, threads[core as usize].len());
            let client = app.clients.get(number as usize).map(|&client| self.layout.expect_core(client));
            let thread = |generator, partner| Thread {
                class,
                source: Source::App(Box::new(generator)),
                instruction_fs: app.instruction_fs,
                in_flight: app.in_flight,
                think_ps: app.think_ps,
                partner,
            };
            let server = Generator::new(app, number, count, bases, &mut rng);
            let asked_by = client.map(|client| Partner::Client(self.layout.cores().get(client)));
            threads[core as usize].push(thread(server, asked_by));
            let Some(client) = client else { continue };
            bases.client = self.allocate_for(class, self.node(client), needed.client_bytes);
            let asks = Partner::Server(self.layout.cores().get(core));
            let asking = Generator::client(app, bases);
            threads[client as usize].extend(asking.map(|generator| thread(generator, Some(asks))));
        }
    }

    fn storage_thread(&mut self, class: u8, core: u32, fio: &FioParams) -> Thread {
        let base = self.take(core, KERNEL_BYTES);
        let mut rng = self.server.rng(2 << 32 | u64::from(self.number(core)) << 8 | u64::from(class));
        let walk = Walk::new(base, KERNEL_BYTES, AccessPattern::Sequential, &mut rng);
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
        let layout = self.layout;
        let mut programs: Vec<Vec<Program>> = (0..self.params.core.count).map(|_| Vec::new()).collect();
        for (class, workload) in self.server.params.workloads.iter().enumerate() {
            let class = class as u8;
            match &workload.kind {
                WorkloadKind::Stream(stream) => {
                    for core in layout.own_cores(&stream.cores) {
                        let rng = self.stream_rng(core, programs[core as usize].len());
                        let program = self.stream(class, self.node(core), stream, rng);
                        programs[core as usize].push(program);
                    }
                }
                WorkloadKind::App(_) | WorkloadKind::Network => {}
                WorkloadKind::Fio(fio) => {
                    for core in layout.own_cores(&cores_of(fio)) {
                        let program = self.kernel_work(class, core, fio);
                        programs[core as usize].push(program);
                    }
                }
            }
        }
        programs
    }

    pub(super) fn stream(&mut self, class: u8, node: NumaNode, stream: &StreamParams, mut rng: Rng) -> Program {
        let base = self.allocate_for(class, node, stream.working_set_bytes);
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
        let base = self.take(core, KERNEL_BYTES);
        let mut rng = self.server.rng(2 << 32 | u64::from(self.number(core)) << 8 | u64::from(class));
        let walk = Walk::new(base, KERNEL_BYTES, AccessPattern::Sequential, &mut rng);
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
}

/// Returns the cores that serve the jobs of a storage workload.
fn cores_of(fio: &FioParams) -> Vec<u32> {
    let mut cores: Vec<u32> = fio.jobs.iter().map(|job| job.core).collect();
    cores.sort_unstable();
    cores.dedup();
    cores
}
