//! Engine of a core with caches, which executes accesses and the instructions between them.
//!
//! Accesses reach the L2 in program order. A hit costs time; a miss takes an LFB entry, or joins a line in flight. The
//! front end stalls a reorder window ahead of a load; a dependent access waits for all loads before it. The prefetchers
//! have separate credits. A dirty victim of the L2 keeps the credit of its successor until the CHA admits it.

mod clients;
mod clock;
mod execute;
mod lines;
mod lines_in_flight;
mod prefetch;
mod rank_operations;
mod source;
mod waits;
mod warm;
mod window;

pub use rank_operations::{RankOperation, RankOperations};
pub use source::{Block, Source, Storage, Stream};
pub use waits::ThreadWaits;

use super::CoreWiring;
use crate::app::{Generator, Replay};
use crate::cache::Caches;
use crate::lfb::Lfb;
use crate::line::{Pages, Translator};
use crate::params::{CacheParams, CoreParams};
use crate::part::{Context, Payload, Pool, PoolGroup};
use clients::{ClientOperation, Clients};
use clock::ReferenceTimes;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::{Domain, Histogram};
use lines_in_flight::LinesInFlight;
use prefetch::Prefetcher;
use serde::{Deserialize, Serialize};
use source::LineAccess;
use std::collections::VecDeque;
use window::ReorderWindow;

/// Time by which hits are executed ahead of the clock, in ps: they change only private state of the core.
const AHEAD_PS: u64 = 500_000;

/// Thread that an executor runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// Workload.
    pub class: u8,
    /// Source of the accesses of the thread.
    pub source: Source,
    /// Time of an instruction when all data is at hand, in fs.
    pub instruction_fs: u64,
    /// Operations that clients keep in flight; 0 without clients.
    pub in_flight: u32,
    /// Think time from the end of an operation, at the core of the client if there is one, to the next, in ps.
    pub think_ps: u64,
    /// Core at the other end of the operations, if there is one.
    pub partner: Option<Partner>,
}

/// Other end of the operations between a server and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Partner {
    /// Core of the clients.
    Client(ComponentId),
    /// Core of the server.
    Server(ComponentId),
}

/// Next access, once it is known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct PendingAccess {
    item: LineAccess,
    /// Instructions of the thread before the access.
    position: u64,
    /// True if the access has missed the L2.
    missed: bool,
}

/// Engine that runs a thread on a core with caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Executor {
    /// Number of the core.
    index: u32,
    wiring: CoreWiring,
    params: CoreParams,
    l2_hit_ps: u64,
    reference: ReferenceTimes,
    pages: Translator,
    rng: Rng,
    thread: Thread,
    stopped: bool,
    /// Delay that MBA adds to every read, in ps.
    throttle_ps: u64,
    halted: bool,
    /// First access of an operation that no client has requested yet.
    held: Option<LineAccess>,
    pending: Option<PendingAccess>,
    /// Time of the wake-up that is scheduled for the pending access, if one is.
    wake: Option<Time>,
    /// Arrival time of the operation that begins with the pending access, if it had not arrived yet.
    idle_until: Time,
    /// True if there was nothing to do.
    starved: bool,
    /// Time since which another engine has the core, if one has.
    held_since: Option<Time>,
    /// Time at which the front end arrives at the last access, in fs.
    front_fs: u64,
    /// Earliest time at which the core has invalidated the translations of all buffers that it has unmapped.
    unmapping_until: Time,
    /// Time that the core still spends on these invalidations between the accesses of the kernel, in ps.
    unmap_ps: u64,
    /// Time at which the last access was executed.
    issued: Time,
    position: u64,
    window: ReorderWindow,
    lines_in_flight: LinesInFlight,
    prefetcher: Prefetcher,
    clients: Clients,
    /// Operation that began last, until its last access is executed.
    operation: ClientOperation,
    /// Kernel work that the core has not acknowledged to the drives: drive and pages.
    waiting: VecDeque<(u8, u32)>,
    prefetch: Domain,
    waits: Option<Box<ThreadWaits>>,
}

impl Executor {
    /// Creates the executor of `thread` on core number `index`.
    #[must_use]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        index: u32,
        params: CoreParams,
        wiring: CoreWiring,
        cache: &CacheParams,
        pages: Pages,
        rng: Rng,
        thread: Thread,
        classes: usize,
    ) -> Self {
        let entries = params.lfb_entries;
        let credits = cache.prefetch.credits;
        // At the start all operations are at the server; the core of the clients waits for replies.
        let asks = matches!(thread.partner, Some(Partner::Server(_)));
        Self {
            window: ReorderWindow::new(params.rob),
            lines_in_flight: LinesInFlight::new(entries + credits),
            prefetcher: Prefetcher::new(&cache.prefetch),
            clients: Clients::new(thread.in_flight, if asks { 0 } else { thread.in_flight }),
            l2_hit_ps: cache.l2.hit_ps,
            reference: ReferenceTimes::new(thread.instruction_fs, cache.l2.hit_ps),
            prefetch: Domain::new(credits, credits, classes),
            operation: ClientOperation::UNASKED,
            waiting: VecDeque::new(),
            waits: None,
            stopped: false,
            throttle_ps: 0,
            halted: false,
            held: None,
            pending: None,
            wake: None,
            idle_until: Time::ZERO,
            starved: false,
            held_since: None,
            front_fs: 0,
            unmapping_until: Time::ZERO,
            unmap_ps: 0,
            issued: Time::ZERO,
            position: 0,
            index,
            wiring,
            params,
            pages: Translator::new(pages),
            rng,
            thread,
        }
    }

    /// Returns the credits of the prefetchers.
    #[must_use]
    pub fn prefetch(&self) -> &Domain {
        &self.prefetch
    }

    /// Returns the workload.
    #[must_use]
    pub fn class(&self) -> u8 {
        self.thread.class
    }

    /// Returns the number of operations completed since the last reset, and the times that they took from their
    /// arrival, in ps. Only operations that clients requested have a time.
    #[must_use]
    pub fn operations(&self) -> (u64, &Histogram) {
        self.clients.operations()
    }

    /// Handles an event.
    #[inline]
    pub(crate) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        match payload {
            Payload::Refill => self.on_refill(lfb, context),
            Payload::Step => self.on_step(lfb, context),
            Payload::Data(id) => self.on_data(id, lfb, context),
            Payload::Admitted(id) => self.on_admitted(id, false, lfb, context),
            Payload::Taken(id) => self.on_admitted(id, true, lfb, context),
            Payload::Message { .. } => self.on_message(lfb, context),
            Payload::KernelWork { pages, ssd, unmap_ps, .. } => {
                self.unmap(u64::from(unmap_ps), context.now());
                self.on_kernel_work(pages, ssd, lfb, context);
            }
            Payload::Block { line, lines, job, ssd } => {
                self.on_block(Block { address: line * 64, lines, ssd, job }, lfb, context);
            }
            Payload::Throttle { ps } => self.throttle_ps = u64::from(ps),
            Payload::Halt { on } => self.on_halt(on, lfb, context),
            other => unreachable!("a core was sent {other:?}"),
        }
    }

    /// Stops the process, or lets it continue from now on. Requests in flight still end; a stopped process makes no
    /// new ones.
    fn on_halt(&mut self, on: bool, lfb: &mut Lfb, context: &mut Context) {
        self.halted = on;
        // A stopped process makes no progress, so the front end starts again at the present.
        self.front_fs = self.front_fs.max(context.now().ps() * 1000);
        self.advance(lfb, context);
    }

    /// Handles the end of the refill time of an LFB entry.
    fn on_refill(&mut self, lfb: &mut Lfb, context: &mut Context) {
        self.starved &= !self.is_storage();
        self.advance(lfb, context);
    }

    /// Handles the start of the core, or the time of the pending access. A wake-up for another engine is ignored.
    fn on_step(&mut self, lfb: &mut Lfb, context: &mut Context) {
        // Earlier than the wake-up: the event was for another engine or for a plan that has changed.
        if self.wake.is_some_and(|at| context.now() < at) {
            return;
        }
        self.wake = None;
        self.advance(lfb, context);
    }

    /// Handles a request that reaches a server, or a reply that reaches its clients.
    fn on_message(&mut self, lfb: &mut Lfb, context: &mut Context) {
        self.clients.arrive(context.now());
        self.starved = false;
        self.advance(lfb, context);
    }

    /// Begins an operation of a rank, if the thread executes those.
    pub(super) fn run_rank_operation(&mut self, rank_operation: RankOperation, lfb: &mut Lfb, context: &mut Context) {
        if let Source::RankOperations(rank_operations) = &mut self.thread.source {
            rank_operations.begin(rank_operation);
            self.starved = false;
            self.advance(lfb, context);
        }
    }

    /// Ends the operation of the last access at `at`.
    fn end(&mut self, at: Time, context: &mut Context) {
        let operation = std::mem::replace(&mut self.operation, ClientOperation::UNASKED);
        let asked = u32::from(self.clients.end(operation, at));
        self.follow(1, asked, at, context);
    }

    /// Causes what follows when `ended` operations end at `at`, of which clients had requested `asked`.
    fn follow(&mut self, ended: u32, asked: u32, at: Time, context: &mut Context) {
        let thread = &mut self.thread;
        let think_ps = thread.think_ps;
        for _ in 0..asked {
            let (core, from) = match thread.partner {
                None => {
                    self.clients.arrive(at + think_ps);
                    continue;
                }
                Some(Partner::Client(core)) => (core, at),
                Some(Partner::Server(core)) => (core, at + think_ps),
            };
            // Work runs ahead of the clock, so the end may lie ahead; an event needs at least 1 ps.
            let delay = from.ps().saturating_sub(context.now().ps()).max(1);
            context.send(core, delay, Payload::Message { class: thread.class });
        }
        if let Source::RankOperations(_) = &thread.source {
            let delay = at.ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.id, delay, Payload::Worked);
        }
        if let Source::Storage(storage) = &mut thread.source {
            for _ in 0..ended {
                if let Some(block) = storage.blocks.pop_front() {
                    let delay = at.ps().saturating_sub(context.now().ps()).max(1);
                    let drive = self.wiring.drives[usize::from(block.ssd)];
                    context.send(drive, delay, Payload::Consumed { job: block.job });
                }
            }
        }
    }

    /// Returns true if the thread does the kernel's work for storage.
    pub(super) fn is_storage(&self) -> bool {
        matches!(self.thread.source, Source::Storage(_))
    }

    /// Returns true if the executor has something to do, now or when data has arrived.
    pub(super) fn wants(&self, now: Time) -> bool {
        // A thread that waits for a client does not need the core; one that waits for memory does.
        let idle = self.idle_until > now && self.wake.is_some_and(|at| at > now);
        !self.halted && if self.pending.is_some() { !idle } else { !self.starved }
    }

    /// Takes the core from the executor at `now`.
    pub(super) fn suspend(&mut self, now: Time) {
        self.held_since = Some(now);
    }

    /// Gives the core to the executor. Work that it had begun ahead of the clock takes the time that it still needs.
    pub(super) fn resume(&mut self, lfb: &mut Lfb, context: &mut Context) {
        if let Some(since) = self.held_since.take() {
            let now_fs = context.now().ps() * 1000;
            let ahead_fs = self.front_fs.saturating_sub(since.ps() * 1000);
            let executing = self.idle_until <= since;
            self.front_fs = if executing { now_fs + ahead_fs } else { self.front_fs.max(now_fs) };
            self.wake = None;
        }
        self.advance(lfb, context);
    }

    /// Returns the trace that the thread replays, if it does, to add steps to it.
    pub fn replay_mut(&mut self) -> Option<&mut Replay> {
        match &mut self.thread.source {
            Source::App(generator) => match &mut **generator {
                Generator::Trace(replay) => Some(replay),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns the number of the core.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Returns the maximum number of steps of a trace that the thread may take in `span_ps`, at the fastest clock of
    /// the core.
    #[must_use]
    pub fn steps_max(&self, span_ps: u64) -> u64 {
        let instruction_fs = self.reference.fastest.stretched(self.reference.instruction_fs);
        (span_ps + AHEAD_PS) * 1000 / instruction_fs.max(1) + u64::from(self.params.rob) + 2
    }

    /// Returns the lines of kernel work per page of IO, in units of 2^-16, and the workload that they count for, if the
    /// thread does the kernel's work for storage.
    #[must_use]
    pub fn kernel_work(&self) -> Option<(u64, u8)> {
        let Source::Storage(storage) = &self.thread.source else { return None };
        Some((storage.lines_per_page, self.thread.class))
    }

    /// Executes an access to fill the caches before the simulation starts; see `warm`.
    pub fn warm_up(&mut self, caches: &mut Caches) -> Option<u64> {
        warm::step(self, caches)
    }

    /// Visits the pools of the executor.
    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(PoolGroup::Prefetch, &self.prefetch));
    }

    /// Brings the statistics up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        self.prefetch.settle_all(now);
    }

    /// Starts a new measurement window.
    pub(super) fn reset(&mut self, now: Time) {
        self.prefetch.reset(now);
        self.clients.reset();
    }

    /// Begins nothing new except kernel work that is left.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }
}
