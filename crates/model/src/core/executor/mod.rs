//! What a core with caches executes: accesses, and the instructions between them.
//!
//! Accesses reach the L2 in program order. A hit costs time; a miss takes an LFB entry, or joins a line on its way.
//! Loads hold the front end back once it is a reorder window ahead of them; an access that depends on data waits for
//! all of it. The prefetchers have credits of their own. A dirty line that leaves the L2 keeps the credit of the line
//! that came for it until the CHA admits it; a clean one leaves by itself.

mod clients;
mod clock;
mod errands;
mod execute;
mod flights;
mod lines;
mod prefetch;
mod source;
mod waits;
mod warm;
mod window;

pub use errands::{Errand, Errands};
pub use source::{Block, Source, Storage, Stream};
pub use waits::ThreadWaits;

use super::{Wiring, KERNEL_BACKLOG_LINES};
use crate::app::{Generator, Replay};
use crate::cache::Caches;
use crate::lfb::Lfb;
use crate::line::{Pages, Translator};
use crate::params::{CacheParams, CoreParams};
use crate::part::{Context, Group, Payload, Pool};
use clients::{Clients, Operation};
use clock::Reference;
use flights::Flights;
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::{Domain, Histogram};
use prefetch::Prefetcher;
use serde::{Deserialize, Serialize};
use source::Item;
use std::collections::VecDeque;
use window::Window;

/// How far ahead of the clock hits are executed, in ps: what they change is the core's own.
const AHEAD_PS: u64 = 500_000;

/// What an executor carries out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thread {
    /// The workload.
    pub class: u8,
    /// What it executes.
    pub source: Source,
    /// Time of an instruction when all data is at hand, in fs.
    pub instruction_fs: u64,
    /// Operations that clients keep in flight; 0 = no clients.
    pub in_flight: u32,
    /// From the end of an operation to the next of the same client, in ps; where it ends on the core of the clients if
    /// they have one.
    pub think_ps: u64,
    /// Who is at the other end of its operations, if that is a core.
    pub partner: Option<Partner>,
}

/// The other end of the operations of a server and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Partner {
    /// The core of the clients.
    Client(ComponentId),
    /// The core of the server.
    Server(ComponentId),
}

/// The next access, when it is known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    item: Item,
    /// Instructions before it.
    position: u64,
    missed: bool,
}

/// What carries out a thread on a core with caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Executor {
    index: u32,
    wiring: Wiring,
    params: CoreParams,
    l2_hit_ps: u64,
    reference: Reference,
    pages: Translator,
    rng: Rng,
    thread: Thread,
    stopped: bool,
    /// What MBA adds to the way of every read, in ps.
    throttle_ps: u64,
    halted: bool,
    /// The first access of an operation that no client has asked for yet.
    held: Option<Item>,
    pending: Option<Pending>,
    /// When a wake-up for the pending access comes, if one is under way.
    wake: Option<Time>,
    /// When the operation that begins with the pending access arrives, if it was not there yet.
    idle_until: Time,
    /// There was nothing to do.
    starved: bool,
    /// Since when another engine has the core, if one has.
    held_since: Option<Time>,
    /// When the front end arrives at the last access, and when that was carried out.
    front_fs: u64,
    issued: Time,
    position: u64,
    window: Window,
    flights: Flights,
    prefetcher: Prefetcher,
    clients: Clients,
    /// The operation that began last, until its last access is carried out.
    operation: Operation,
    /// Kernel work that the drives wait for the core to keep up with: drive and pages.
    waiting: VecDeque<(u8, u32)>,
    prefetch: Domain,
    waits: Option<Box<ThreadWaits>>,
}

impl Executor {
    /// That of `thread` on core number `index`.
    #[must_use]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        index: u32,
        params: CoreParams,
        wiring: Wiring,
        cache: &CacheParams,
        pages: Pages,
        rng: Rng,
        thread: Thread,
        classes: usize,
    ) -> Self {
        let entries = params.lfb_entries;
        let credits = cache.prefetch.credits;
        let asks = matches!(thread.partner, Some(Partner::Server(_)));
        Self {
            window: Window::new(params.rob),
            flights: Flights::new(entries + credits),
            prefetcher: Prefetcher::new(&cache.prefetch),
            clients: Clients::new(thread.in_flight, if asks { 0 } else { thread.in_flight }),
            l2_hit_ps: cache.l2.hit_ps,
            reference: Reference::new(thread.instruction_fs, cache.l2.hit_ps),
            prefetch: Domain::new(credits, credits, classes),
            operation: Operation::UNASKED,
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

    /// The credits of the prefetchers.
    #[must_use]
    pub fn prefetch(&self) -> &Domain {
        &self.prefetch
    }

    /// The workload.
    #[must_use]
    pub fn class(&self) -> u8 {
        self.thread.class
    }

    /// Operations completed since the last reset, and how long each took from its arrival, in ps; the times only of
    /// those that clients asked for.
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
            Payload::KernelWork { pages, ssd, .. } => self.on_kernel_work(pages, ssd, lfb, context),
            Payload::Block { line, lines, job, ssd } => {
                self.on_block(Block { address: line * 64, lines, ssd, job }, lfb, context);
            }
            Payload::Throttle { ps } => self.throttle_ps = u64::from(ps),
            Payload::Halt { on } => self.on_halt(on, lfb, context),
            other => unreachable!("a core was sent {other:?}"),
        }
    }

    /// The process is stopped: what it has in flight ends, nothing new begins. Or it goes on from now.
    fn on_halt(&mut self, on: bool, lfb: &mut Lfb, context: &mut Context) {
        self.halted = on;
        self.front_fs = self.front_fs.max(context.now().ps() * 1000);
        self.advance(lfb, context);
    }

    /// An LFB entry may be allocated again.
    fn on_refill(&mut self, lfb: &mut Lfb, context: &mut Context) {
        self.starved &= !self.is_storage();
        self.advance(lfb, context);
    }

    /// The core begins, or the time of the pending access has come, unless the wake-up is for another engine.
    fn on_step(&mut self, lfb: &mut Lfb, context: &mut Context) {
        if self.wake.is_some_and(|at| context.now() < at) {
            return;
        }
        self.wake = None;
        self.advance(lfb, context);
    }

    /// A request has come to a server, or a reply to its clients.
    fn on_message(&mut self, lfb: &mut Lfb, context: &mut Context) {
        self.clients.arrive(context.now());
        self.starved = false;
        self.advance(lfb, context);
    }

    /// The kernel has work for `pages` pages of a request.
    fn on_kernel_work(&mut self, pages: u32, ssd: u8, lfb: &mut Lfb, context: &mut Context) {
        if let Source::Storage(storage) = &mut self.thread.source {
            storage.request = u64::from(pages) * storage.lines_per_page;
            storage.owed += storage.request;
        }
        self.waiting.push_back((ssd, pages));
        self.starved = false;
        self.acknowledge_work(context);
        self.advance(lfb, context);
    }

    /// A block of data is there to be read.
    fn on_block(&mut self, block: Block, lfb: &mut Lfb, context: &mut Context) {
        if let Source::Storage(storage) = &mut self.thread.source {
            storage.blocks.push_back(block);
        }
        self.starved = false;
        self.advance(lfb, context);
    }

    /// Tells the drives that the core keeps up, unless too much work waits.
    fn acknowledge_work(&mut self, context: &mut Context) {
        let Source::Storage(storage) = &self.thread.source else { return };
        if storage.owed >= KERNEL_BACKLOG_LINES << 16 {
            return;
        }
        while let Some((ssd, pages)) = self.waiting.pop_front() {
            context.send(self.wiring.drives[usize::from(ssd)], 1, Payload::KernelReady { pages });
        }
    }

    /// Something to execute for a rank, if it does such.
    pub(super) fn run_errand(&mut self, errand: Errand, lfb: &mut Lfb, context: &mut Context) {
        if let Source::Errands(errands) = &mut self.thread.source {
            errands.begin(errand);
            self.starved = false;
            self.advance(lfb, context);
        }
    }

    /// The operation of the last access ends at `at`.
    fn end(&mut self, at: Time, context: &mut Context) {
        let operation = std::mem::replace(&mut self.operation, Operation::UNASKED);
        let asked = u32::from(self.clients.end(operation, at));
        self.follow(1, asked, at, context);
    }

    /// What follows when `ended` operations end at `at`, of which clients had asked for `asked`.
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
            let delay = from.ps().saturating_sub(context.now().ps()).max(1);
            context.send(core, delay, Payload::Message { class: thread.class });
        }
        if let Source::Errands(_) = &thread.source {
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

    /// Whether it does the kernel's work for storage.
    pub(super) fn is_storage(&self) -> bool {
        matches!(self.thread.source, Source::Storage(_))
    }

    /// Whether it has something to do, now or when data is there.
    pub(super) fn wants(&self, now: Time) -> bool {
        let idle = self.idle_until > now && self.wake.is_some_and(|at| at > now);
        !self.halted && if self.pending.is_some() { !idle } else { !self.starved }
    }

    /// Another engine has the core from `now` on.
    pub(super) fn hold(&mut self, now: Time) {
        self.held_since = Some(now);
    }

    /// It has the core from now on. What it had begun to execute ahead of the clock takes the time that it still needs.
    pub(super) fn go(&mut self, lfb: &mut Lfb, context: &mut Context) {
        if let Some(since) = self.held_since.take() {
            let now_fs = context.now().ps() * 1000;
            let ahead_fs = self.front_fs.saturating_sub(since.ps() * 1000);
            let executing = self.idle_until <= since;
            self.front_fs = if executing { now_fs + ahead_fs } else { self.front_fs.max(now_fs) };
            self.wake = None;
        }
        self.advance(lfb, context);
    }

    /// The trace that it replays, if it does, to hand it steps.
    pub fn replay_mut(&mut self) -> Option<&mut Replay> {
        match &mut self.thread.source {
            Source::App(generator) => match &mut **generator {
                Generator::Trace(replay) => Some(replay),
                _ => None,
            },
            _ => None,
        }
    }

    /// The number of its core.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Steps of a trace that it may take in `span_ps` at most, at the fastest clock of its core.
    #[must_use]
    pub fn steps_max(&self, span_ps: u64) -> u64 {
        let instruction_fs = self.reference.fastest.stretched(self.reference.instruction_fs);
        (span_ps + AHEAD_PS) * 1000 / instruction_fs.max(1) + u64::from(self.params.rob) + 2
    }

    /// What it executes before time begins, to fill the caches; see [`warm`].
    pub fn warm_up(&mut self, caches: &mut Caches) -> Option<u64> {
        warm::step(self, caches)
    }

    /// Shows its pools.
    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::Prefetch, &self.prefetch));
    }

    /// Brings its books up to `now`.
    pub(super) fn settle(&mut self, now: Time) {
        self.prefetch.settle_all(now);
    }

    /// Starts a new measuring window.
    pub(super) fn reset(&mut self, now: Time) {
        self.prefetch.reset(now);
        self.clients.reset();
    }

    /// Begins nothing new but kernel work that is owed.
    pub(super) fn stop(&mut self) {
        self.stopped = true;
    }
}
