//! A core: its line fill buffer, and what makes it miss.
//!
//! The LFB is one pool. An entry serves a read (C2M-Read) until its data is back; for a store it then serves the
//! write-back of a dirty line (C2M-Write) until the CHA admits that.
//!
//! A core of another socket is one whose requests go to a UPI; its pool is what its LFB and prefetchers keep in flight
//! together.

mod cached;
mod entries;
mod stream;

pub use cached::{Block, CachedCore, Partner, Source, Storage, Stream, Thread};
pub(crate) use entries::{request, Entries};
pub use stream::{Evictions, Walk};

use crate::cache::Victim;
use crate::line::{Home, Kind, Pages, Request, RequestId};
use crate::params::CoreParams;
use crate::world::{self, Context, Ids, Part, PartKind, Payload, Pool, Start};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most kernel work that may wait at a core, in lines: more holds the drives back.
pub const KERNEL_BACKLOG_LINES: u64 = 4096;

/// Pieces of kernel work that may wait at a core before its list has to grow.
const WAITING_CAPACITY: usize = 1024;

/// A request goes on with the line that left the caches for the one that it asked for.
pub(crate) fn turn<'a>(id: RequestId, victim: Victim, kind: Kind, context: &'a mut Context) -> &'a mut Request {
    let now = context.now();
    let Home { slice, place } = context.homes.of(victim.line);
    if let Some(caches) = context.caches.as_deref() {
        caches.expect(victim.line);
    }
    let request = context.requests.get_mut(id);
    *request = Request { kind, class: victim.class, line: victim.line, slice, place, since: now, ..*request };
    request
}

/// Whom a core talks to.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Wiring {
    /// Whom its requests go to: the CHA, or the UPI between its socket and that of the memory.
    pub home: ComponentId,
    /// Whether it is a core of another socket.
    pub remote: bool,
    /// The drives that it does kernel work for.
    pub drives: Ids,
}

/// What makes a core miss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The workload.
    pub class: u8,
    /// Share of loads in units of 2^-32.
    pub reads: u64,
    /// Where it loads and stores.
    pub walk: Walk,
    /// The dirty lines that leave.
    pub evictions: Evictions,
    /// Least time between two accesses, in ps.
    pub gap_ps: u64,
    /// Lines of work left, in units of 2^-16; `None` = without end.
    pub owed: Option<u64>,
    /// For kernel work: lines per page of IO, in units of 2^-16.
    pub lines_per_page: u64,
}

/// A core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Core {
    params: CoreParams,
    pages: Pages,
    rng: Rng,
    programs: Vec<Program>,
    turn: usize,
    next_issue: Time,
    wiring: Wiring,
    /// What MBA adds to the way of every read, in ps.
    throttle_ps: u64,
    halted: bool,
    /// Kernel work that the drives wait for the core to keep up with: drive and pages.
    waiting: VecDeque<(u8, u32)>,
    entries: Entries,
}

impl Core {
    /// A core that runs `programs` in turn.
    #[must_use]
    pub fn new(
        params: CoreParams,
        wiring: Wiring,
        pages: Pages,
        rng: Rng,
        programs: Vec<Program>,
        classes: usize,
    ) -> Self {
        Self {
            entries: Entries::new(&params, 0, classes),
            waiting: VecDeque::with_capacity(WAITING_CAPACITY),
            next_issue: Time::ZERO,
            wiring,
            throttle_ps: 0,
            halted: false,
            turn: 0,
            params,
            pages,
            rng,
            programs,
        }
    }

    /// The LFB pool.
    #[must_use]
    pub fn lfb(&self) -> &Domain {
        &self.entries.lfb
    }

    /// C2M-Read: entries that wait for data.
    #[must_use]
    pub fn read(&self) -> &Domain {
        &self.entries.read
    }

    /// C2M-Write: entries that wait for the admission of a write-back.
    #[must_use]
    pub fn write(&self) -> &Domain {
        &self.entries.write
    }

    /// True when something runs on the core.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.programs.is_empty()
    }

    /// The domains, to settle or to reset.
    pub fn domains_mut(&mut self) -> [&mut Domain; 3] {
        self.entries.domains_mut()
    }

    /// An LFB entry may be allocated again.
    pub(crate) fn on_refill(&mut self, context: &mut Context) {
        self.entries.idle += 1;
        self.allocate(context);
    }

    /// The kernel follows pointers from page to page, so its work on one request keeps one LFB entry busy.
    pub(crate) fn on_kernel_work(&mut self, pages: u32, class: u8, ssd: u8, context: &mut Context) {
        for program in self.programs.iter_mut().filter(|program| program.class == class) {
            if let Some(owed) = &mut program.owed {
                *owed += u64::from(pages) * program.lines_per_page;
            }
        }
        self.waiting.push_back((ssd, pages));
        self.acknowledge_work(context);
        if self.entries.idle > 0 && self.has_work() {
            self.allocate(context);
        }
    }

    /// Tells the drives that the core keeps up, unless too much work waits.
    fn acknowledge_work(&mut self, context: &mut Context) {
        let backlog = self.programs.iter().filter_map(|program| program.owed).max().unwrap_or(0);
        if backlog >= KERNEL_BACKLOG_LINES << 16 {
            return;
        }
        while let Some((ssd, pages)) = self.waiting.pop_front() {
            context.send(self.wiring.drives.get(u32::from(ssd)), 1, Payload::KernelReady { pages });
        }
    }

    fn has_work(&self) -> bool {
        self.programs.iter().any(|program| program.owed.is_none_or(|owed| owed >= 1 << 16))
    }

    /// The next program in turn that has work.
    fn next_program(&mut self) -> Option<usize> {
        let count = self.programs.len();
        let mut index = self.turn;
        for _ in 0..count {
            index = if index < count { index } else { 0 };
            if self.programs[index].owed.is_none_or(|owed| owed >= 1 << 16) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Every read from now on leaves `ps` later (MBA), while it holds its entry.
    pub(crate) fn on_throttle(&mut self, ps: u32) {
        self.throttle_ps = u64::from(ps);
    }

    /// The process is stopped: what it has in flight ends, nothing new begins. Or it goes on.
    pub(crate) fn on_halt(&mut self, on: bool, context: &mut Context) {
        self.halted = on;
        for _ in 0..self.entries.idle {
            self.allocate(context);
        }
    }

    /// Gives one idle entry to the next access, if there is one.
    #[inline]
    fn allocate(&mut self, context: &mut Context) {
        if self.halted {
            return;
        }
        let now = context.now();
        if now < self.next_issue {
            self.entries.idle -= 1;
            context.send(context.id, self.next_issue.since(now), Payload::Refill);
            return;
        }
        let Some(index) = self.next_program() else { return };
        self.turn = index + 1;
        let program = &mut self.programs[index];
        if let Some(owed) = &mut program.owed {
            *owed -= 1 << 16;
            if !self.waiting.is_empty() {
                self.acknowledge_work(context);
            }
        }
        let program = &mut self.programs[index];
        let load = program.reads >= 1 << 32 || (program.reads > 0 && self.rng.chance(program.reads));
        let line = program.walk.next(&self.pages, &mut self.rng);
        self.next_issue = now + self.params.issue_ps.max(program.gap_ps);
        let class = program.class;
        self.entries.take(class, now);
        let id = request(line, class, !load, index as u32, context);
        context.send(self.wiring.home, self.params.to_cha_ps + self.throttle_ps, Payload::Arrive(id));
    }

    /// The data of a read is back.
    pub(crate) fn on_data(&mut self, id: RequestId, context: &mut Context) {
        let Request { class, for_store, since, entered, .. } = *context.requests.get(id);
        self.entries.read.release(context.now(), class, since);
        if for_store {
            self.write_back(id, context);
        } else {
            context.requests.remove(id);
            self.entries.free(class, entered, &mut self.rng, context);
        }
    }

    /// The LFB entry of a store goes on with a dirty line that leaves, as does its request.
    fn write_back(&mut self, id: RequestId, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        self.entries.turn(request.class, now);
        let line = self.programs[request.tag as usize].evictions.next(&self.pages, &mut self.rng);
        request.kind = Kind::CoreWrite;
        request.since = now;
        request.line = line;
        let Home { slice, place } = context.homes.of(line);
        request.place = place;
        request.slice = slice;
        context.send(self.wiring.home, self.params.to_cha_ps, Payload::Arrive(id));
    }

    /// The CHA has admitted the write-back; the CHA goes on with the request.
    pub(crate) fn on_admitted(&mut self, id: RequestId, context: &mut Context) {
        let Request { class, since, entered, .. } = *context.requests.get(id);
        self.entries.write.release(context.now(), class, since);
        self.entries.free(class, entered, &mut self.rng, context);
    }

    /// The CHA has admitted the write-back, and the request has ended.
    pub(crate) fn on_taken(&mut self, id: RequestId, context: &mut Context) {
        self.on_admitted(id, context);
        context.requests.remove(id);
    }
}

/// LFB entries become free one after the other.
impl Part for Core {
    fn kind(&self) -> PartKind {
        if self.wiring.remote {
            PartKind::Remote
        } else {
            PartKind::Core
        }
    }

    fn start(&mut self, start: &mut Start<'_>) {
        if self.is_busy() {
            for entry in 0..self.lfb().capacity() {
                start.wake(1 + u64::from(entry) * 1000 + start.index * 137, Payload::Refill);
            }
        }
    }

    fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        if self.is_busy() {
            self.entries.pools(visit);
        }
    }

    fn settle(&mut self, now: Time) {
        world::settle(self.domains_mut(), now);
    }

    fn reset(&mut self, now: Time) {
        world::reset(self.domains_mut(), now);
    }

    /// Programs without end are at their end; kernel work that is owed is still done.
    fn stop(&mut self) {
        for program in &mut self.programs {
            program.owed.get_or_insert(0);
        }
    }
}
