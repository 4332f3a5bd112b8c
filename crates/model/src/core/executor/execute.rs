//! Execution of accesses on a core with caches: in program order, as far as data, reorder window and LFB allow.

use super::clients::ClientOperation;
use super::lines_in_flight::LineInFlight;
use super::source::LineAccess;
use super::waits::{ThreadWaits, WaitCause, NEARLY};
use super::{Block, Executor, PendingAccess, Source, AHEAD_PS};
use crate::cache::L2Access;
use crate::core::KERNEL_BACKLOG_LINES;
use crate::lfb::Lfb;
use crate::part::{Context, Payload};
use hostnet_kernel::Time;

impl Executor {
    /// Makes the executor record the times at which it waits.
    #[must_use]
    pub fn watched(mut self) -> Self {
        self.waits = Some(Box::default());
        self
    }

    /// Returns the times at which the thread waited for data, if they are recorded.
    #[must_use]
    pub fn waits(&self) -> Option<&ThreadWaits> {
        self.waits.as_deref()
    }

    /// Executes accesses until one has to wait.
    pub(super) fn advance(&mut self, lfb: &mut Lfb, context: &mut Context) {
        let wait = self.execute_until_wait(lfb, context);
        if self.waits.is_some() {
            self.note_wait(context.now(), wait, lfb);
        }
    }

    /// Records the limit that the thread waits for from now on.
    fn note_wait(&mut self, now: Time, wait: WaitCause, lfb: &Lfb) {
        let cause = self.refine_wait(wait, lfb);
        // The wait begins when the work ahead of the clock is executed.
        let at = Time::from_ps(self.front_fs / 1000).max(now);
        if let Some(waits) = &mut self.waits {
            waits.note(now, at, cause);
        }
    }

    /// Returns `wait`, or [`WaitCause::Both`] if the other limit is nearly reached as well.
    fn refine_wait(&self, wait: WaitCause, lfb: &Lfb) -> WaitCause {
        let near = match wait {
            WaitCause::Lfb => self.window.is_nearly_full(self.position),
            // Fewer than one in eight entries left: raising the other limit alone would not help.
            WaitCause::Window => lfb.idle * NEARLY < self.params.lfb_entries,
            WaitCause::None | WaitCause::Both => false,
        };
        if near {
            WaitCause::Both
        } else {
            wait
        }
    }

    /// Executes accesses until one has to wait. Returns the limit that it waits for.
    fn execute_until_wait(&mut self, lfb: &mut Lfb, context: &mut Context) -> WaitCause {
        while self.wake.is_none() && !self.halted && self.held_since.is_none() {
            let Some(pending) = self.fetch(lfb, context) else {
                self.starved = true;
                return WaitCause::None;
            };
            let at = match self.gate(&pending) {
                Ok(at) => at,
                Err(wait) => return wait,
            };
            let now = context.now();
            // Hits may run ahead of the clock (see `AHEAD_PS`); a miss departs at its own time.
            if at > now + AHEAD_PS || (pending.missed && at > now) {
                self.wake = Some(at);
                context.send(context.id, at.since(now), Payload::Step);
                return WaitCause::None;
            }
            let done = if pending.missed {
                self.miss(&pending, lfb, context)
            } else {
                self.look_up(&pending, at, lfb, context)
            };
            if !done {
                return WaitCause::Lfb;
            }
        }
        WaitCause::None
    }

    /// Returns the pending access, or makes the next one pending.
    fn fetch(&mut self, lfb: &mut Lfb, context: &mut Context) -> Option<PendingAccess> {
        if self.pending.is_some() {
            return self.pending;
        }
        let thread = &mut self.thread;
        if let Source::Storage(storage) = &thread.source {
            let busy = u64::from(lfb.busy(thread.class));
            // Each request is a chain of pointers, so it keeps only one LFB entry busy.
            if storage.owed >= 1 << 16 && busy >= storage.requests() {
                return None;
            }
        } else if self.stopped {
            return None;
        }
        let item = self.held.take().or_else(|| thread.source.next(&mut self.pages, &mut self.rng))?;
        if item.begins && !self.clients.ready() {
            // The access stays at hand until a client asks for the operation that it begins.
            self.held = Some(item);
            return None;
        }
        let instruction_fs = thread.instruction_fs;
        if item.begins {
            let (operation, arrival) = self.clients.begin();
            self.operation = operation;
            if arrival.ps() * 1000 > self.front_fs {
                self.front_fs = arrival.ps() * 1000;
                self.idle_until = arrival;
            }
            // The front end stood still between two operations, so it starts again at the present.
            if matches!(thread.source, Source::RankOperations(_)) {
                self.front_fs = self.front_fs.max(context.now().ps() * 1000);
            }
        }
        if let Source::Storage(storage) = &thread.source {
            // Invalidations are spread over the accesses of the kernel's work that is left, and this one.
            let unmap_ps = self.unmap_ps / ((storage.owed >> 16) + 1);
            self.unmap_ps -= unmap_ps;
            self.front_fs = self.front_fs.max(context.now().ps() * 1000) + unmap_ps * 1000;
            if !self.waiting.is_empty() {
                self.acknowledge_work(context);
            }
        }
        self.position += u64::from(item.instructions);
        self.front_fs += u64::from(item.instructions) * instruction_fs;
        self.pending = Some(PendingAccess { item, position: self.position, missed: false });
        self.pending
    }

    /// Returns the time at which the pending access may be executed, or the limit that it waits for.
    fn gate(&mut self, pending: &PendingAccess) -> Result<Time, WaitCause> {
        let instruction_fs = self.thread.instruction_fs;
        self.front_fs = self.window.enter(pending.position, self.front_fs, instruction_fs).ok_or(WaitCause::Window)?;
        // Accesses reach the L2 in program order, so not before the last one.
        let mut at = Time::from_ps(self.front_fs / 1000).max(self.issued);
        // A dependent access needs the data of all loads before it, such as a pointer.
        if pending.item.depends {
            if self.window.outstanding() > 0 {
                return Err(WaitCause::None);
            }
            at = at.max(self.window.last_done());
        }
        Ok(at)
    }

    /// Looks the pending access up in the L2. Returns false if it needs an LFB entry and none is free.
    fn look_up(&mut self, pending: &PendingAccess, at: Time, lfb: &mut Lfb, context: &mut Context) -> bool {
        let LineAccess { line, store, .. } = pending.item;
        let class = self.class();
        let access = context.caches().access(self.index, line, class, store);
        let hit = matches!(access, L2Access::Hit { .. });
        // A store ends the copies of other sockets in no time (docs/models/upi.md, Snoops).
        if hit && store {
            context.caches.claim(line);
        }
        if hit {
            self.hit(pending, at, context);
        } else if let Some(pending) = &mut self.pending {
            pending.missed = true;
        }
        // The streamer is trained by hits and misses of the L2 alike.
        for ahead in self.prefetcher.on_access(line) {
            self.ask(ahead, class, lfb, context);
        }
        // A miss found ahead of the clock waits for its own time (see `AHEAD_PS`).
        if !hit && at <= context.now() {
            let pending = PendingAccess { missed: true, ..*pending };
            return self.miss(&pending, lfb, context);
        }
        true
    }

    fn hit(&mut self, pending: &PendingAccess, at: Time, context: &mut Context) {
        let LineAccess { store, ends, .. } = pending.item;
        self.issued = at;
        self.pending = None;
        // A store is over when its line is in the L2; nothing waits for its latency.
        let done = if store { at } else { at + self.l2_hit_ps };
        if !store {
            self.window.push_done(pending.position, done);
        }
        if ends {
            self.end(done.max(self.window.last_done()), context);
        }
    }

    /// Executes the pending access after a miss in the L2: joins the line in flight, or requests the line. Returns
    /// false if it needs an LFB entry and none is free.
    fn miss(&mut self, pending: &PendingAccess, lfb: &mut Lfb, context: &mut Context) -> bool {
        let LineAccess { line, store, ends, .. } = pending.item;
        let now = context.now();
        let class = self.class();
        let flight = match self.lines_in_flight.find(line) {
            Some(flight) => {
                if self.lines_in_flight.get_mut(flight).demand.is_none() {
                    // A demand access that joins a prefetch needs an LFB entry, too.
                    if !lfb.try_take(class, now) {
                        return false;
                    }
                    self.lines_in_flight.get_mut(flight).demand = Some(now);
                }
                flight
            }
            // The line has arrived since the access missed.
            None if context.caches().holds(self.index, line) => {
                let _ = context.caches().access(self.index, line, class, store);
                if store {
                    context.caches.claim(line);
                }
                self.keep_up(now);
                self.hit(pending, now, context);
                return true;
            }
            None => {
                if !lfb.try_take(class, now) {
                    return false;
                }
                let flight = LineInFlight { demand: Some(now), ..LineInFlight::default() };
                let flight = self.depart(line, class, flight, lfb, context);
                // Entries in their refill time count as in use.
                let waiting = self.params.lfb_entries - lfb.idle;
                if let Some(pair) = self.prefetcher.adjacent(line, waiting, self.params.lfb_entries) {
                    self.ask(pair, class, lfb, context);
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

    /// Accounts for the wait of an access until `now`: the front end went on meanwhile, but no further than the
    /// window.
    fn keep_up(&mut self, now: Time) {
        let window_fs = u64::from(self.params.rob) * self.thread.instruction_fs;
        // The front end had run at most the reorder window ahead while the access waited for an entry.
        self.front_fs = self.front_fs.max((now.ps() * 1000).saturating_sub(window_fs));
    }

    /// Records in a line in flight that an access waits for the line.
    fn wait_for(&mut self, flight: u16, position: u64, store: bool, ends: bool, context: &mut Context) {
        if store {
            self.lines_in_flight.get_mut(flight).store = true;
            // A store ends its operation at once, because nothing waits for its data.
            if ends {
                self.end(context.now(), context);
            }
            return;
        }
        let operation = ends.then(|| std::mem::replace(&mut self.operation, ClientOperation::UNASKED));
        let load = self.window.push_waiting(position, flight, operation);
        let flight = self.lines_in_flight.get_mut(flight);
        flight.several |= flight.load.is_some();
        flight.load.get_or_insert(load);
    }

    /// Lets the core spend `ps` on waiting until the translations of a buffer are invalidated.
    pub(super) fn unmap(&mut self, ps: u64, now: Time) {
        if ps > 0 {
            self.unmapping_until = self.unmapping_until.max(now) + ps;
            self.unmap_ps += ps;
        }
    }

    /// Adds the kernel work for `pages` pages of a request.
    pub(super) fn on_kernel_work(&mut self, pages: u32, ssd: u8, lfb: &mut Lfb, context: &mut Context) {
        if let Source::Storage(storage) = &mut self.thread.source {
            storage.request = u64::from(pages) * storage.lines_per_page;
            storage.owed += storage.request;
        }
        self.waiting.push_back((ssd, pages));
        self.starved = false;
        self.acknowledge_work(context);
        self.advance(lfb, context);
    }

    /// Adds a block of data that the core will read.
    pub(super) fn on_block(&mut self, block: Block, lfb: &mut Lfb, context: &mut Context) {
        if let Source::Storage(storage) = &mut self.thread.source {
            storage.blocks.push_back(block);
        }
        self.starved = false;
        self.advance(lfb, context);
    }

    /// Acknowledges kernel work to the drives, unless too much work waits.
    pub(super) fn acknowledge_work(&mut self, context: &mut Context) {
        let Source::Storage(storage) = &self.thread.source else { return };
        // A backlog at the limit holds the drives back until the core has caught up.
        if storage.owed >= KERNEL_BACKLOG_LINES << 16 {
            return;
        }
        let delay_ps = self.unmapping_until.ps().saturating_sub(context.now().ps()).max(1);
        while let Some((ssd, pages)) = self.waiting.pop_front() {
            context.send(self.wiring.drives[usize::from(ssd)], delay_ps, Payload::KernelReady { pages });
        }
    }
}
