//! A core with caches: it executes accesses and the instructions between them.
//!
//! Accesses reach the L2 in program order. A hit costs time; a miss takes an LFB entry, or joins a line on its way. Loads hold
//! the front end back once it is a reorder window ahead of them; an access that depends on data waits for all of it. The
//! prefetchers have credits of their own. A dirty line that leaves the L2 keeps the credit of the line that came for it until
//! the CHA admits it; a clean one leaves by itself.

mod clients;
mod flights;
mod prefetch;
mod source;
mod warm;
mod window;

pub use source::{Block, Source, Storage, Stream};

use crate::app::{Generator, Replay};
use crate::cache::{Access, Caches, Victim};
use crate::cha::slice_of;
use crate::context::{Context, Payload};
use crate::core::KERNEL_BACKLOG_LINES;
use crate::pages::{Pages, Translator};
use crate::params::{CacheParams, CoreParams};
use crate::request::{Kind, Request, RequestId};
use clients::Clients;
use flights::{Flight, Flights};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::{Domain, Histogram};
use prefetch::Prefetcher;
use serde::{Deserialize, Serialize};
use source::Item;
use std::collections::VecDeque;
use window::Window;

/// How far ahead of the clock hits are executed, in ps: what they change is the core's own.
const AHEAD_PS: u64 = 500_000;
/// Whose credit a write-back holds: an LFB entry's, or a prefetch credit's.
const OF_LFB: u32 = 0;
const OF_PREFETCH: u32 = 1;

/// What runs on a core with caches.
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
    /// From the end of an operation to the next of the same client, in ps; where it ends on the core of the clients if they have
    /// one.
    pub think_ps: u64,
    /// Who is at the other end of its operations, if that is a core.
    pub partner: Option<Partner>,
}

/// The other end of the operations of a server and its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Partner {
    /// The core of the clients.
    Client(u32),
    /// The core of the server.
    Server(u32),
}

/// The next access, when it is known.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Pending {
    item: Item,
    /// Instructions before it.
    position: u64,
    missed: bool,
}

/// A core with caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CachedCore {
    index: u32,
    params: CoreParams,
    l2_hit_ps: u64,
    pages: Translator,
    rng: Rng,
    thread: Option<Thread>,
    stopped: bool,
    /// The first access of an operation that no client has asked for yet.
    held: Option<Item>,
    pending: Option<Pending>,
    /// A wake-up for the pending access is under way.
    sleeping: bool,
    /// When the front end arrives at the last access, and when that was carried out.
    front_fs: u64,
    issued: Time,
    position: u64,
    window: Window,
    flights: Flights,
    prefetcher: Prefetcher,
    clients: Clients,
    idle_entries: u32,
    /// Kernel work that the drives wait for the core to keep up with: drive and pages.
    waiting: VecDeque<(u8, u32)>,
    lfb: Domain,
    read: Domain,
    write: Domain,
    prefetch: Domain,
}

impl CachedCore {
    /// Core number `index` that runs `thread`.
    #[must_use]
    pub fn new(
        index: u32,
        params: CoreParams,
        cache: &CacheParams,
        pages: Pages,
        rng: Rng,
        thread: Option<Thread>,
        classes: usize,
    ) -> Self {
        let entries = params.lfb_entries;
        let credits = cache.prefetch.credits;
        let domain = || Domain::new(entries, entries, classes);
        let clients = |thread: &Thread| {
            let asks = matches!(thread.partner, Some(Partner::Server(_)));
            Clients::new(thread.in_flight, if asks { 0 } else { thread.in_flight })
        };
        Self {
            window: Window::new(params.rob),
            flights: Flights::new(entries + credits),
            prefetcher: Prefetcher::new(&cache.prefetch),
            clients: thread.as_ref().map_or_else(|| Clients::new(0, 0), clients),
            l2_hit_ps: cache.l2.hit_ps,
            prefetch: Domain::new(credits.max(1), credits.max(1), classes),
            lfb: domain(),
            read: domain(),
            write: domain(),
            idle_entries: entries,
            waiting: VecDeque::new(),
            stopped: false,
            held: None,
            pending: None,
            sleeping: false,
            front_fs: 0,
            issued: Time::ZERO,
            position: 0,
            index,
            params,
            pages: Translator::new(pages),
            rng,
            thread,
        }
    }

    /// The LFB pool.
    #[must_use]
    pub fn lfb(&self) -> &Domain {
        &self.lfb
    }

    /// C2M-Read: entries that wait for data.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.read
    }

    /// C2M-Write: entries that wait for the admission of a write-back.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.write
    }

    /// The credits of the prefetchers.
    #[must_use]
    pub fn prefetch(&self) -> &Domain {
        &self.prefetch
    }

    /// True when something runs on the core.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.thread.is_some()
    }

    /// The workload that runs on it.
    #[must_use]
    pub fn class(&self) -> Option<u8> {
        self.thread.as_ref().map(|thread| thread.class)
    }

    /// Operations completed since the last reset, and how long each took from its arrival, in ps; the times only of those that
    /// clients asked for.
    #[must_use]
    pub fn operations(&self) -> (u64, &Histogram) {
        self.clients.operations()
    }

    /// Starts a new measuring window.
    pub fn reset_operations(&mut self) {
        self.clients.reset();
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 4] {
        [&mut self.lfb, &mut self.read, &mut self.write, &mut self.prefetch]
    }

    /// Begins nothing new but kernel work that is owed.
    pub fn stop(&mut self) {
        self.stopped = true;
    }

    /// Handles an event.
    #[inline]
    pub(crate) fn on_event(&mut self, payload: Payload, context: &mut Context) {
        match payload {
            Payload::Refill => self.on_refill(context),
            Payload::Step => self.on_step(context),
            Payload::Data(id) => self.on_data(id, context),
            Payload::Admitted(id) => self.on_admitted(id, false, context),
            Payload::Taken(id) => self.on_admitted(id, true, context),
            Payload::Message => self.on_message(context),
            Payload::KernelWork { pages, ssd, .. } => self.on_kernel_work(pages, ssd, context),
            Payload::Block { line, lines, job, ssd } => {
                self.on_block(Block { address: line * 64, lines, ssd, job }, context);
            }
            other => unreachable!("a core was sent {other:?}"),
        }
    }

    /// An LFB entry may be allocated again.
    fn on_refill(&mut self, context: &mut Context) {
        self.idle_entries += 1;
        self.advance(context);
    }

    /// The core begins, or the time of the pending access has come.
    fn on_step(&mut self, context: &mut Context) {
        self.sleeping = false;
        self.advance(context);
    }

    /// A request has come to a server, or a reply to its clients.
    fn on_message(&mut self, context: &mut Context) {
        self.clients.arrive(context.now());
        self.advance(context);
    }

    /// The kernel has work for `pages` pages of a request.
    fn on_kernel_work(&mut self, pages: u32, ssd: u8, context: &mut Context) {
        if let Some(Source::Storage(storage)) = self.thread.as_mut().map(|thread| &mut thread.source) {
            storage.request = u64::from(pages) * storage.lines_per_page;
            storage.owed += storage.request;
        }
        self.waiting.push_back((ssd, pages));
        self.acknowledge_work(context);
        self.advance(context);
    }

    /// A block of data is there to be read.
    fn on_block(&mut self, block: Block, context: &mut Context) {
        if let Some(Source::Storage(storage)) = self.thread.as_mut().map(|thread| &mut thread.source) {
            storage.blocks.push_back(block);
        }
        self.advance(context);
    }

    /// Tells the drives that the core keeps up, unless too much work waits.
    fn acknowledge_work(&mut self, context: &mut Context) {
        let Some(Source::Storage(storage)) = self.thread.as_ref().map(|thread| &thread.source) else { return };
        if storage.owed >= KERNEL_BACKLOG_LINES << 16 {
            return;
        }
        while let Some((ssd, pages)) = self.waiting.pop_front() {
            context.send(context.ssd(u32::from(ssd)), 1, Payload::KernelReady { pages });
        }
    }

    /// Carries out accesses until one has to wait.
    fn advance(&mut self, context: &mut Context) {
        while !self.sleeping {
            let Some(pending) = self.fetch(context) else { return };
            let Some(at) = self.gate(&pending) else { return };
            let now = context.now();
            if at > now + AHEAD_PS || (pending.missed && at > now) {
                self.sleeping = true;
                context.send(context.id, at.since(now), Payload::Step);
                return;
            }
            let done = if pending.missed { self.miss(&pending, context) } else { self.look_up(&pending, at, context) };
            if !done {
                return;
            }
        }
    }

    /// The pending access, or the next one.
    fn fetch(&mut self, context: &mut Context) -> Option<Pending> {
        if self.pending.is_some() {
            return self.pending;
        }
        let thread = self.thread.as_mut()?;
        if let Source::Storage(storage) = &thread.source {
            let busy = u64::from(self.params.lfb_entries - self.idle_entries);
            if storage.owed >= 1 << 16 && busy >= storage.requests() {
                return None;
            }
        } else if self.stopped {
            return None;
        }
        let item = self.held.take().or_else(|| thread.source.next(&mut self.pages, &mut self.rng))?;
        if item.begins && !self.clients.ready() {
            self.held = Some(item);
            return None;
        }
        let instruction_fs = thread.instruction_fs;
        if item.begins {
            let arrival = self.clients.begin();
            self.front_fs = self.front_fs.max(arrival.ps() * 1000);
        }
        if matches!(thread.source, Source::Storage(_)) {
            self.front_fs = self.front_fs.max(context.now().ps() * 1000);
            if !self.waiting.is_empty() {
                self.acknowledge_work(context);
            }
        }
        self.position += u64::from(item.instructions);
        self.front_fs += u64::from(item.instructions) * instruction_fs;
        self.pending = Some(Pending { item, position: self.position, missed: false });
        self.pending
    }

    /// When the pending access may be carried out, or nothing while it waits for data.
    fn gate(&mut self, pending: &Pending) -> Option<Time> {
        let instruction_fs = self.thread.as_ref()?.instruction_fs;
        self.front_fs = self.window.enter(pending.position, self.front_fs, instruction_fs)?;
        let mut at = Time::from_ps(self.front_fs / 1000).max(self.issued);
        if pending.item.depends {
            if self.window.outstanding() > 0 {
                return None;
            }
            at = at.max(self.window.last_done());
        }
        Some(at)
    }

    /// Looks the pending access up in the L2; true when it is carried out.
    fn look_up(&mut self, pending: &Pending, at: Time, context: &mut Context) -> bool {
        let Item { line, store, .. } = pending.item;
        let class = self.thread.as_ref().map_or(0, |thread| thread.class);
        let access = context.caches().access(self.index, line, class, store);
        let hit = matches!(access, Access::Hit { .. });
        if hit {
            self.hit(pending, at, context);
        } else if let Some(pending) = &mut self.pending {
            pending.missed = true;
        }
        for ahead in self.prefetcher.on_access(line) {
            self.ask(ahead, class, context);
        }
        if !hit && at <= context.now() {
            let pending = Pending { missed: true, ..*pending };
            return self.miss(&pending, context);
        }
        true
    }

    fn hit(&mut self, pending: &Pending, at: Time, context: &mut Context) {
        let Item { store, ends, .. } = pending.item;
        self.issued = at;
        self.pending = None;
        let done = if store { at } else { at + self.l2_hit_ps };
        if !store {
            self.window.push_done(pending.position, done);
        }
        if ends {
            self.end(1, done.max(self.window.last_done()), context);
        }
    }

    /// The pending access has missed the L2: it joins the line on its way, or asks for it. False while it waits for an LFB entry.
    fn miss(&mut self, pending: &Pending, context: &mut Context) -> bool {
        let Item { line, store, ends, .. } = pending.item;
        let now = context.now();
        let class = self.thread.as_ref().map_or(0, |thread| thread.class);
        let flight = match self.flights.find(line) {
            Some(flight) => {
                if self.flights.get_mut(flight).demand.is_none() {
                    if !self.take_entry(class, now) {
                        return false;
                    }
                    self.flights.get_mut(flight).demand = Some(now);
                }
                flight
            }
            None if context.caches().holds(self.index, line) => {
                let _ = context.caches().access(self.index, line, class, store);
                self.keep_up(now);
                self.hit(pending, now, context);
                return true;
            }
            None => {
                if !self.take_entry(class, now) {
                    return false;
                }
                let flight = Flight { demand: Some(now), ..Flight::default() };
                let flight = self.depart(line, class, flight, context);
                let waiting = self.params.lfb_entries - self.idle_entries;
                if let Some(pair) = self.prefetcher.adjacent(line, waiting, self.params.lfb_entries) {
                    self.ask(pair, class, context);
                }
                flight
            }
        };
        self.issued = now;
        self.pending = None;
        self.keep_up(now);
        self.wait_for(flight, pending.position, store, ends, context);
        true
    }

    /// An access has waited until `now`: the front end went on in the meantime, but no further than the window.
    fn keep_up(&mut self, now: Time) {
        let instruction_fs = self.thread.as_ref().map_or(0, |thread| thread.instruction_fs);
        let window_fs = u64::from(self.params.rob) * instruction_fs;
        self.front_fs = self.front_fs.max((now.ps() * 1000).saturating_sub(window_fs));
    }

    /// Notes in a line on its way who waits for it.
    fn wait_for(&mut self, flight: u16, position: u64, store: bool, ends: bool, context: &mut Context) {
        if store {
            self.flights.get_mut(flight).store = true;
            if ends {
                self.end(1, context.now(), context);
            }
            return;
        }
        let load = self.window.push_waiting(position, flight, ends);
        let flight = self.flights.get_mut(flight);
        flight.several |= flight.load.is_some();
        flight.load.get_or_insert(load);
    }

    /// Takes an LFB entry, if one may be allocated.
    fn take_entry(&mut self, class: u8, now: Time) -> bool {
        if self.idle_entries == 0 {
            return false;
        }
        self.idle_entries -= 1;
        let taken = self.lfb.try_acquire(now, class) && self.read.try_acquire(now, class);
        assert!(taken, "an idle LFB entry is free");
        true
    }

    /// Asks for a line on behalf of the prefetchers, if it is worth asking for and a credit is left.
    fn ask(&mut self, line: u64, class: u8, context: &mut Context) {
        let unwanted = self.flights.find(line).is_some() || context.caches().holds(self.index, line);
        if unwanted || self.prefetch.free() == 0 {
            return;
        }
        let taken = self.prefetch.try_acquire(context.now(), class);
        assert!(taken, "a prefetch credit is free");
        self.depart(line, class, Flight { prefetch: true, ..Flight::default() }, context);
    }

    /// Sends the request for a line on its way.
    fn depart(&mut self, line: u64, class: u8, flight: Flight, context: &mut Context) -> u16 {
        let now = context.now();
        let flight = self.flights.add(line, flight);
        let id = context.requests.insert(Request {
            kind: Kind::CoreRead,
            class,
            book: 0,
            for_store: false,
            slice: slice_of(line, context.layout.slices),
            line,
            place: context.decoder.place(line),
            owner: context.id,
            tag: u32::from(flight),
            since: now,
            entered: now,
            admitted: now,
            next: RequestId::NONE,
        });
        context.caches().expect(line);
        context.send(context.cha(), self.params.to_cha_ps, Payload::Arrive(id));
        flight
    }

    /// The data of a line is there.
    fn on_data(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let Request { class, line, for_store, since, tag, .. } = *context.requests.get(id);
        let number = tag as u16;
        let flight = self.flights.take(number);
        let wanted = flight.demand.is_some();
        let victim = context.caches().fill(self.index, line, class, for_store || flight.store, !wanted);
        let ended = flight.load.map_or(0, |load| self.window.complete(number, load, flight.several, now));
        if let Some(demand) = flight.demand {
            self.read.release(now, class, demand);
        }
        let dirty = victim.filter(|victim| victim.dirty);
        if flight.prefetch && wanted {
            self.free_entry(class, flight.demand.unwrap_or(now), context);
        }
        match dirty {
            Some(victim) if flight.prefetch => self.write_back(id, victim, OF_PREFETCH, since, context),
            Some(victim) => {
                let taken = self.write.try_acquire(now, class);
                assert!(taken, "the LFB entry of a line serves the write-back of the one that it displaced");
                self.write_back(id, victim, OF_LFB, flight.demand.unwrap_or(now), context);
            }
            None => {
                if flight.prefetch {
                    self.prefetch.release(now, class, since);
                } else {
                    self.free_entry(class, flight.demand.unwrap_or(now), context);
                }
                match victim {
                    Some(victim) => self.give_up(id, victim, context),
                    None => context.requests.remove(id),
                }
            }
        }
        if ended > 0 {
            self.end(ended, now, context);
        }
        self.advance(context);
    }

    /// The request of a line goes on with the dirty line that left for it; the credit that it has held since `entered` with it.
    fn write_back(&mut self, id: RequestId, victim: Victim, of: u32, entered: Time, context: &mut Context) {
        let request = self.turn(id, victim, Kind::CoreWrite, context);
        request.tag = of;
        request.entered = entered;
        context.send(context.cha(), self.params.to_cha_ps, Payload::Arrive(id));
    }

    /// The request of a line goes on with the clean line that left for it, which nobody waits for.
    fn give_up(&mut self, id: RequestId, victim: Victim, context: &mut Context) {
        self.turn(id, victim, Kind::CoreClean, context);
        context.send(context.cha(), self.params.to_cha_ps, Payload::Arrive(id));
    }

    fn turn<'a>(&self, id: RequestId, victim: Victim, kind: Kind, context: &'a mut Context) -> &'a mut Request {
        let now = context.now();
        let (slice, place) = (slice_of(victim.line, context.layout.slices), context.decoder.place(victim.line));
        context.caches().expect(victim.line);
        let request = context.requests.get_mut(id);
        *request = Request { kind, class: victim.class, line: victim.line, slice, place, since: now, ..*request };
        request
    }

    /// The CHA has admitted a write-back; the request goes on without the core unless it is `over`.
    fn on_admitted(&mut self, id: RequestId, over: bool, context: &mut Context) {
        let Request { since, entered, tag, .. } = *context.requests.get(id);
        let class = self.thread.as_ref().map_or(0, |thread| thread.class);
        let now = context.now();
        if over {
            context.requests.remove(id);
        }
        if tag == OF_PREFETCH {
            self.prefetch.release(now, class, entered);
            return;
        }
        self.write.release(now, class, since);
        self.free_entry(class, entered, context);
    }

    /// Gives back the LFB entry that was held since `entered`; it can be allocated again after a while.
    fn free_entry(&mut self, class: u8, entered: Time, context: &mut Context) {
        self.lfb.release(context.now(), class, entered);
        let delay = self.rng.around(self.params.refill_ps, self.params.refill_spread_ps).max(1);
        context.send(context.id, delay, Payload::Refill);
    }

    /// Operations end at `at`.
    fn end(&mut self, count: u32, at: Time, context: &mut Context) {
        let Some(thread) = &mut self.thread else { return };
        let think_ps = thread.think_ps;
        for _ in 0..self.clients.end(count, at) {
            let (core, from) = match thread.partner {
                None => {
                    self.clients.arrive(at + think_ps);
                    continue;
                }
                Some(Partner::Client(core)) => (core, at),
                Some(Partner::Server(core)) => (core, at + think_ps),
            };
            let delay = from.ps().saturating_sub(context.now().ps()).max(1);
            context.send(context.core(core), delay, Payload::Message);
        }
        if let Source::Storage(storage) = &mut thread.source {
            for _ in 0..count {
                if let Some(block) = storage.blocks.pop_front() {
                    let delay = at.ps().saturating_sub(context.now().ps()).max(1);
                    let drive: ComponentId = context.ssd(u32::from(block.ssd));
                    context.send(drive, delay, Payload::Consumed { job: block.job });
                }
            }
        }
    }

    /// The trace that it replays, if it does, to hand it steps.
    pub fn replay_mut(&mut self) -> Option<&mut Replay> {
        match &mut self.thread.as_mut()?.source {
            Source::App(generator) => match &mut **generator {
                Generator::Trace(replay) => Some(replay),
                _ => None,
            },
            _ => None,
        }
    }

    /// Its number.
    #[must_use]
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Steps of a trace that it may take in `span_ps` at most.
    #[must_use]
    pub fn steps_max(&self, span_ps: u64) -> u64 {
        let instruction_fs = self.thread.as_ref().map_or(0, |thread| thread.instruction_fs);
        (span_ps + AHEAD_PS) * 1000 / instruction_fs.max(1) + u64::from(self.params.rob) + 2
    }

    /// What it executes before time begins, to fill the caches; see [`warm`].
    pub fn warm_up(&mut self, caches: &mut Caches) -> Option<u64> {
        warm::step(self, caches)
    }
}
