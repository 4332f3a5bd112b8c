//! Engine of a core without caches: every access misses.

use super::{CoreWiring, KERNEL_BACKLOG_LINES};
use crate::lfb::Lfb;
use crate::line::{Evictions, Home, Pages, Request, RequestId, RequestKind, Walk};
use crate::params::CoreParams;
use crate::part::{Context, Payload, StartContext};
use crate::power::{Clock, ClockChange};
use hostnet_kernel::{Rng, Time};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Pieces of kernel work that may wait at a core before the list has to grow.
const WAITING_CAPACITY: usize = 1024;

/// Program of a workload, whose accesses all miss.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Program {
    /// Workload.
    pub class: u8,
    /// Share of loads, in units of 2^-32.
    pub reads: u64,
    /// Lines that the program loads and stores.
    pub walk: Walk,
    /// Dirty lines that leave the caches.
    pub evictions: Evictions,
    /// Minimum time between two accesses, in ps.
    pub gap_ps: u64,
    /// Lines of work left, in units of 2^-16; `None` for a program without end.
    pub owed: Option<u64>,
    /// For kernel work: lines per page of IO, in units of 2^-16.
    pub lines_per_page: u64,
}

impl Program {
    /// Returns true if there is something to do.
    fn has_work(&self) -> bool {
        self.owed.is_none_or(|owed| owed >= 1 << 16)
    }
}

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
    wiring: CoreWiring,
    /// Delay that MBA adds to every read, in ps.
    throttle_ps: u64,
    halted: bool,
    /// True while another engine has the core.
    held: bool,
    /// On a shared core: time of the last wake-up that was scheduled for the next access.
    wake_up_at: Time,
    /// Kernel work that the core has not acknowledged to the drives: drive and pages.
    waiting: VecDeque<(u8, u32)>,
}

impl Programs {
    /// Creates an engine that runs `programs` round robin.
    #[must_use]
    pub fn new(params: CoreParams, wiring: CoreWiring, pages: Pages, rng: Rng, programs: Vec<Program>) -> Self {
        Self {
            waiting: VecDeque::with_capacity(WAITING_CAPACITY),
            next_issue: Time::ZERO,
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
            programs,
        }
    }

    /// Handles an event.
    pub(super) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        match payload {
            Payload::Refill => self.allocate(lfb, context),
            Payload::Step => self.take_idle(lfb, context),
            Payload::Data(id) => self.on_data(id, lfb, context),
            Payload::Admitted(id) => self.on_admitted(id, lfb, context),
            Payload::Taken(id) => self.on_taken(id, lfb, context),
            Payload::KernelWork { pages, class, ssd } => self.on_kernel_work(pages, class, ssd, lfb, context),
            Payload::Throttle { ps } => self.throttle_ps = u64::from(ps),
            Payload::Halt { on } => self.on_halt(on, lfb, context),
            other => unreachable!("a core was sent {other:?}"),
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
        while let Some((ssd, pages)) = self.waiting.pop_front() {
            context.send(self.wiring.drives[usize::from(ssd)], 1, Payload::KernelReady { pages });
        }
    }

    fn has_work(&self) -> bool {
        self.programs.iter().any(Program::has_work)
    }

    /// Returns the next program, round robin, that has work and may make an access.
    fn next_program(&self, now: Time) -> Option<usize> {
        let count = self.programs.len();
        let mut index = self.turn;
        for _ in 0..count {
            // Speed only: a branch instead of a division per access.
            index = if index < count { index } else { 0 };
            if self.programs[index].has_work() && self.ready[index] <= now {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Returns the earliest time at which a program that has work may make an access.
    fn next_ready(&self) -> Option<Time> {
        let ready = self.programs.iter().zip(&self.ready).filter(|(program, _)| program.has_work());
        ready.map(|(_, &ready)| ready).min()
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
        let Some(index) = self.next_program(now) else {
            return self.next_ready().into_iter().for_each(|at| self.allocate_later(at, lfb, context));
        };
        self.turn = index + 1;
        let program = &mut self.programs[index];
        if let Some(owed) = &mut program.owed {
            *owed -= 1 << 16;
            if !self.waiting.is_empty() {
                self.acknowledge_work(context);
            }
        }
        let program = &mut self.programs[index];
        // Pure loads and pure stores draw no random number.
        let load = program.reads >= 1 << 32 || (program.reads > 0 && self.rng.chance(program.reads));
        let line = program.walk.next(&self.pages, &mut self.rng);
        self.ready[index] = now + self.clock.stretched(program.gap_ps);
        let issued = now + self.clock.stretched(self.params.issue_ps);
        // At most one access per `issue_ps`, and none before a program may make one.
        self.next_issue = self.ready.iter().fold(Time::MAX, |first, &ready| first.min(ready)).max(issued);
        let class = program.class;
        lfb.take(class, now);
        let id = lfb.request(line, class, !load, index as u32, context);
        context.send(self.wiring.home, self.params.to_cha_ps + self.throttle_ps, Payload::Arrive(id));
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
        let Request { class, for_store, since, entered, .. } = *context.requests.get(id);
        lfb.read.release(context.now(), class, since);
        if for_store {
            self.write_back(id, lfb, context);
        } else {
            context.requests.remove(id);
            lfb.free(class, entered, &mut self.rng, context);
        }
    }

    /// Continues the LFB entry and the request of a store with a dirty line that leaves the caches.
    fn write_back(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        let now = context.now();
        let request = context.requests.get_mut(id);
        lfb.turn(request.class, now);
        // Each store displaces an older dirty line, not its own (docs/models/core.md, Choice of the dirty line).
        let line = self.programs[request.tag as usize].evictions.next(&self.pages, &mut self.rng);
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
        let Request { class, since, entered, .. } = *context.requests.get(id);
        lfb.write.release(context.now(), class, since);
        lfb.free(class, entered, &mut self.rng, context);
    }

    /// Handles the admission of a write-back whose request has ended.
    fn on_taken(&mut self, id: RequestId, lfb: &mut Lfb, context: &mut Context) {
        self.on_admitted(id, lfb, context);
        context.requests.remove(id);
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
