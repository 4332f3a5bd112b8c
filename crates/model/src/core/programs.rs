//! Engine of a core without caches: every access misses.

mod memory;
mod prefetch;
mod program;

pub use memory::{MigratingBuffer, PageCopies, ProgramMemory};
pub use program::Program;

use super::{CoreWiring, KERNEL_BACKLOG_LINES};
use crate::lfb::Lfb;
use crate::line::{Home, Pages, Request, RequestId, RequestKind};
use crate::params::CoreParams;
use crate::part::{Context, Payload, StartContext};
use crate::power::{Clock, ClockChange};
use hostnet_kernel::{Rng, Time};
use memory::STALLED;
use prefetch::{of_tag, StreamPrefetcher, OF_PREFETCH};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Pieces of kernel work that may wait at a core before the list has to grow.
const WAITING_CAPACITY: usize = 1024;

/// Programs that run on a core round robin, access by access.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Programs {
    params: CoreParams,
    clock: Clock,
    pages: Pages,
    rng: Rng,
    programs: Vec<Program>,
    /// By program: earliest time of the next access of the program.
    ready: Vec<Time>,
    turn: usize,
    next_issue: Time,
    /// Earliest time at which the core has invalidated the translations of all buffers that it has unmapped.
    unmapping_until: Time,
    /// Time that the core still spends on these invalidations between the accesses of the kernel, in ps.
    unmap_ps: u64,
    wiring: CoreWiring,
    /// Prefetchers of the core, if they are on.
    prefetcher: Option<Box<StreamPrefetcher>>,
    /// Delay that MBA adds to every read, in ps.
    throttle_ps: u64,
    halted: bool,
    /// True while another engine has the core.
    held: bool,
    /// On a shared core: time of the last wake-up that was scheduled for the next access.
    wake_up_at: Time,
    /// Kernel work that the core has not acknowledged to the drives: drive and pages.
    waiting: VecDeque<(u8, u32)>,
    /// True if a program copies pages, or has pages that migrate.
    migrates: bool,
    /// Time that the core takes to invalidate its translation of a page, in ps.
    shootdown_ps: u64,
}

impl Programs {
    /// Creates an engine that runs `programs` round robin.
    #[must_use]
    pub fn new(
        params: CoreParams,
        wiring: CoreWiring,
        pages: Pages,
        rng: Rng,
        programs: Vec<Program>,
        classes: usize,
    ) -> Self {
        Self {
            prefetcher: StreamPrefetcher::new(params.stream_prefetches, classes),
            waiting: VecDeque::with_capacity(WAITING_CAPACITY),
            next_issue: Time::ZERO,
            unmapping_until: Time::ZERO,
            unmap_ps: 0,
            wiring,
            throttle_ps: 0,
            halted: false,
            held: false,
            wake_up_at: Time::ZERO,
            turn: 0,
            clock: Clock::default(),
            params,
            pages,
            rng,
            ready: vec![Time::ZERO; programs.len()],
            migrates: programs.iter().any(|program| !program.memory.is_fixed()),
            shootdown_ps: 0,
            programs,
        }
    }

    /// Sets the time that the core takes to invalidate its translation of a page that migrates.
    #[must_use]
    pub fn with_shootdown(self, shootdown_ps: u64) -> Self {
        Self { shootdown_ps, ..self }
    }

    /// Handles an event.
    pub(super) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        match payload {
            Payload::Refill => self.allocate(lfb, context),
            Payload::Step => {
                self.take_idle(lfb, context);
                self.prefetch(lfb, context);
            }
            Payload::Data(id) => self.on_data(id, lfb, context),
            Payload::Admitted(id) => self.on_admitted(id, lfb, context),
            Payload::Taken(id) => self.on_taken(id, lfb, context),
            Payload::KernelWork { pages, class, ssd, unmap_ps } => {
                self.unmap(u64::from(unmap_ps), context.now());
                self.on_kernel_work(pages, class, ssd, lfb, context);
            }
            Payload::UnmapPage { page, tiering } => self.unmap_page(page, tiering, context),
            Payload::MapPage { page, line } => self.map_page(page, line, lfb, context),
            Payload::CopyPage { line, to } => self.copy_page(line, to, lfb, context),
            Payload::Throttle { ps } => self.throttle_ps = u64::from(ps),
            Payload::Halt { on } => self.on_halt(on, lfb, context),
            other => unreachable!("a core was sent {other:?}"),
        }
    }

    /// Lets the core spend `ps` on waiting until the translations of a buffer are invalidated.
    fn unmap(&mut self, ps: u64, now: Time) {
        if ps > 0 {
            self.unmapping_until = self.unmapping_until.max(now) + ps;
            self.unmap_ps += ps;
        }
    }

    /// Adds kernel work for `pages` pages of IO of a workload. The kernel follows pointers from page to page, so its
    /// work on one request keeps one LFB entry busy.
    fn on_kernel_work(&mut self, pages: u32, class: u8, ssd: u8, lfb: &mut Lfb, context: &mut Context) {
        for program in self.programs.iter_mut().filter(|program| program.class == class) {
            if let Some(owed) = &mut program.owed {
                *owed += u64::from(pages) * program.lines_per_page;
            }
        }
        self.waiting.push_back((ssd, pages));
        self.acknowledge_work(context);
        if lfb.idle > 0 && self.has_work() {
            self.allocate(lfb, context);
        }
    }

    /// Acknowledges kernel work to the drives, unless too much work waits.
    fn acknowledge_work(&mut self, context: &mut Context) {
        let backlog = self.programs.iter().filter_map(|program| program.owed).max().unwrap_or(0);
        // As with caches: too much backlog holds the drives back.
        if backlog >= KERNEL_BACKLOG_LINES << 16 {
            return;
        }
        let delay_ps = self.unmapping_until.ps().saturating_sub(context.now().ps()).max(1);
        while let Some((ssd, pages)) = self.waiting.pop_front() {
            context.send(self.wiring.drives[usize::from(ssd)], delay_ps, Payload::KernelReady { pages });
        }
    }

    fn has_work(&self) -> bool {
        self.programs.iter().any(Program::has_work)
    }

    /// Returns the next program, round robin, that is `wanted`, has work and may make an access.
    fn next_program(&self, now: Time, wanted: impl Fn(&Program) -> bool) -> Option<usize> {
        let count = self.programs.len();
        let mut index = self.turn;
        for _ in 0..count {
            // Speed only: a branch instead of a division per access.
            index = if index < count { index } else { 0 };
            let program = &self.programs[index];
            if program.has_work() && self.ready[index] <= now && wanted(program) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Returns the earliest time at which a program that has work may make an access.
    fn next_ready(&self) -> Option<Time> {
        let ready = self.programs.iter().zip(&self.ready).filter(|(program, _)| program.has_work());
        ready.map(|(_, &ready)| ready).min().filter(|&ready| ready < STALLED)
    }

    /// Stops the process, or lets it continue. Requests in flight still end; a stopped process makes no new ones.
    fn on_halt(&mut self, on: bool, lfb: &mut Lfb, context: &mut Context) {
        self.halted = on;
        self.take_idle(lfb, context);
    }

    /// Uses every idle entry for an access, as far as there are accesses.
    fn take_idle(&mut self, lfb: &mut Lfb, context: &mut Context) {
        for _ in 0..lfb.idle {
            self.allocate(lfb, context);
        }
    }

    /// Looks at an idle entry again at `at`. On a shared core, other engines may have the entry until then.
    fn allocate_later(&mut self, at: Time, lfb: &mut Lfb, context: &mut Context) {
        // The entry itself waits; on a shared core that would keep it from other engines.
        if !lfb.shared {
            lfb.idle -= 1;
            context.send(context.id, at.since(context.now()), Payload::Refill);
        // One wake-up per time serves all idle entries.
        } else if self.wake_up_at != at {
            self.wake_up_at = at;
            context.send(context.id, at.since(context.now()), Payload::Step);
        }
    }

    /// Uses one idle entry for the next access, if there is one.
    #[inline]
    pub(super) fn allocate(&mut self, lfb: &mut Lfb, context: &mut Context) {
        if self.halted || self.held || lfb.idle == 0 {
            return;
        }
        let now = context.now();
        if now < self.next_issue {
            return self.allocate_later(self.next_issue, lfb, context);
        }
        let Some(index) = self.next_program(now, |_| true) else {
            return self.next_ready().into_iter().for_each(|at| self.allocate_later(at, lfb, context));
        };
        if self.issue(index, 0, lfb, context) {
            self.prefetch(lfb, context);
        } else {
            self.allocate(lfb, context);
        }
    }

    /// Makes the next access of a program, with an LFB entry, or with a prefetch credit if `credit` is
    /// [`OF_PREFETCH`]; there must be one. Returns false if the access has to wait for its page.
    #[inline(always)]
    fn issue(&mut self, index: usize, credit: u32, lfb: &mut Lfb, context: &mut Context) -> bool {
        let now = context.now();
        let Some((line, load)) = self.next_access(index) else {
            self.ready[index] = STALLED;
            return false;
        };
        self.turn = index + 1;
        let program = &mut self.programs[index];
        let mut unmap_ps = 0;
        if let Some(owed) = &mut program.owed {
            // Invalidations are spread over the accesses of the kernel's work that is left.
            unmap_ps = self.unmap_ps / (*owed >> 16).max(1);
            self.unmap_ps -= unmap_ps;
            *owed -= 1 << 16;
            if !self.waiting.is_empty() {
                self.acknowledge_work(context);
            }
        }
        let program = &self.programs[index];
        self.ready[index] = now + self.clock.stretched(program.gap_ps);
        let issued = now + self.clock.stretched(self.params.issue_ps);
        // At most one access per `issue_ps`, and none before a program may make one.
        self.next_issue = self.ready.iter().fold(Time::MAX, |first, &ready| first.min(ready)).max(issued) + unmap_ps;
        let class = program.class;
        match &mut self.prefetcher {
            Some(prefetcher) if credit == OF_PREFETCH => {
                let taken = prefetcher.credits.try_acquire(now, class) && lfb.read.try_acquire(now, class);
                assert!(taken, "a prefetch credit is free");
            }
            _ => lfb.take(class, now),
        }
        let id = lfb.request(line, class, !load, index as u32 | credit, context);
        context.send(self.wiring.home, self.params.to_cha_ps + self.throttle_ps, Payload::Arrive(id));
        true
    }

    /// Sets the initial clock.
    pub(super) fn set_clock(&mut self, clock: Clock) {
        self.clock = clock;
    }

    /// Handles a change of the clock, which scales the time to the next access. An access that is already scheduled
    /// comes no earlier.
    pub(super) fn change_clock(&mut self, change: ClockChange, now: Time) {
        match change {
            ClockChange::To(clock) => self.clock = clock,
            // The PLL locks anew: nothing is issued, but lines in flight still arrive.
            ClockChange::Halt(ps) => self.next_issue = self.next_issue.max(now + ps),
        }
    }

    /// Handles the data of a read.
    pub(super) fn on_data(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        let Request { class, for_store, since, entered, tag, .. } = *context.requests.get(id);
        lfb.read.release(context.now(), class, since);
        if self.migrates {
            self.sample(of_tag(tag).0, id, context);
        }
        if for_store {
            return self.write_back(id, lfb, context);
        }
        context.requests.remove(id);
        self.free(class, entered, tag, lfb, context);
    }

    /// Frees the LFB entry or the prefetch credit of a request, which was taken at `entered`.
    #[inline(always)]
    fn free(&mut self, class: u8, entered: Time, tag: u32, lfb: &mut Lfb, context: &mut Context) {
        if self.migrates {
            self.end_copy(of_tag(tag).0, context);
        }
        if of_tag(tag).1 {
            self.end_prefetch(class, entered, lfb, context);
        } else {
            lfb.free(class, entered, &mut self.rng, context);
        }
    }

    /// Continues the LFB entry and the request of a store with a dirty line that leaves the caches.
    fn write_back(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        lfb.turn(request.class, now);
        // Each store displaces an older dirty line, not its own (docs/models/core.md, Choice of the dirty line).
        let line = self.next_eviction(of_tag(request.tag).0, request.line);
        request.kind = RequestKind::CoreWrite;
        request.since = now;
        request.line = line;
        let Home { socket, slice, place } = context.homes.of(line);
        (request.socket, request.slice, request.place) = (socket, slice, place);
        // No MBA delay: a write-back is no miss of the L2 (Intel SDM, volume 3).
        context.send(self.wiring.home, self.params.to_cha_ps, Payload::Arrive(id));
    }

    /// Handles the admission of a write-back by the CHA, which keeps the request.
    pub(super) fn on_admitted(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        let Request { class, since, entered, tag, .. } = *context.requests.get(id);
        lfb.write.release(context.now(), class, since);
        self.free(class, entered, tag, lfb, context);
    }

    /// Handles the admission of a write-back whose request has ended.
    fn on_taken(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        self.on_admitted(id, lfb, context);
        context.requests.remove(id);
    }

    /// Makes the programs begin without the core, because other engines share it. They are not prefetched.
    pub(super) fn share(&mut self) {
        self.prefetcher = None;
        self.held = true;
    }

    /// Returns true if a program belongs to a workload.
    pub(super) fn has(&self, class: u8) -> bool {
        self.programs.iter().any(|program| program.class == class)
    }

    /// Returns true if a program has something to do.
    pub(super) fn wants(&self) -> bool {
        !self.halted && self.has_work()
    }

    /// Takes the core from the programs.
    pub(super) fn suspend(&mut self) {
        self.held = true;
    }

    /// Gives the core to the programs.
    pub(super) fn resume(&mut self, lfb: &mut Lfb, context: &mut Context) {
        self.held = false;
        self.take_idle(lfb, context);
    }

    /// Schedules the LFB entries to become free one after the other.
    pub(super) fn start(&self, entries: u32, start: &mut StartContext<'_>) {
        for entry in 0..entries {
            // Entries 1 ns apart and cores 137 ps apart, so that the start is no burst.
            start.wake(1 + u64::from(entry) * 1000 + start.index * 137, Payload::Refill);
        }
    }

    /// Ends programs without end. Kernel work that is left is still done.
    pub(super) fn stop(&mut self) {
        for program in &mut self.programs {
            // Kernel work has a count already, which is still worked off.
            program.owed.get_or_insert(0);
        }
    }
}
