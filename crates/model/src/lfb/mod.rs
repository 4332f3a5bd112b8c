//! Line fill buffer (LFB) of a core: one pool of entries for all engines of the core.
//!
//! An entry serves a read (C2M-Read) until its data is back. For a store it then serves the write-back of a dirty line
//! (C2M-Write) until the CHA admits the write-back. A freed entry can be allocated again after a refill time.

use crate::cache::Victim;
use crate::line::{Home, Request, RequestId, RequestKind};
use crate::params::CoreParams;
use crate::part::{Context, Payload, Pool, PoolGroup};
use crate::power::Clock;
use hostnet_kernel::{Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Entries of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lfb {
    /// Entries that can be allocated now.
    pub(crate) idle: u32,
    /// Number of the engine that runs now.
    pub(crate) engine: u8,
    /// True if several engines share the core.
    pub(crate) shared: bool,
    refill_ps: u64,
    refill_spread_ps: u64,
    /// Clock that scales the refill time.
    pub(crate) clock: Clock,
    /// All entries in use.
    pub(crate) held: Domain,
    /// Entries that wait for data (C2M-Read).
    pub(crate) read: Domain,
    /// Entries that wait for the admission of a write-back (C2M-Write).
    pub(crate) write: Domain,
}

impl Lfb {
    pub(crate) fn new(params: &CoreParams, idle: u32, classes: usize) -> Self {
        let domain = |credits| Domain::new(credits, credits, classes);
        // Lines of the prefetchers count in C2M, and not in the LFB.
        let lines = params.lines_in_flight();
        let (refill_ps, refill_spread_ps) = (params.refill_ps, params.refill_spread_ps);
        Self {
            idle,
            engine: 0,
            shared: false,
            refill_ps,
            refill_spread_ps,
            clock: Clock::default(),
            held: domain(params.lfb_entries),
            read: domain(lines),
            write: domain(lines),
        }
    }

    /// Visits the pools of the LFB.
    pub(crate) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(PoolGroup::C2mRead, &self.read));
        visit(Pool::new(PoolGroup::C2mWrite, &self.write));
        visit(Pool::new(PoolGroup::Lfb, &self.held));
    }

    /// Returns the domains, to settle or reset them.
    pub(crate) fn domains_mut(&mut self) -> [&mut Domain; 3] {
        [&mut self.held, &mut self.read, &mut self.write]
    }

    /// Returns the entries that a class keeps busy: those that it holds, and on a core without other engines also
    /// those in their refill time.
    pub(crate) fn busy(&self, class: u8) -> u32 {
        // Entries in their refill time have no class, so on a shared core they are counted for nobody.
        if self.shared {
            self.held.classes()[usize::from(class)].in_use()
        } else {
            self.held.capacity() - self.idle
        }
    }

    /// Allocates an idle entry for a read; there must be one.
    #[inline]
    pub(crate) fn take(&mut self, class: u8, now: Time) {
        // `idle` and not `held.free()`: an entry in its refill time is free but cannot be allocated.
        self.idle -= 1;
        let taken = self.held.try_acquire(now, class) && self.read.try_acquire(now, class);
        assert!(taken, "an idle LFB entry is free");
    }

    /// Allocates an idle entry for a read. Returns false if there is none.
    #[inline]
    pub(crate) fn try_take(&mut self, class: u8, now: Time) -> bool {
        if self.idle == 0 {
            return false;
        }
        self.take(class, now);
        true
    }

    /// Allocates an idle entry for the write of a whole line; there must be one.
    pub(crate) fn take_for_write(&mut self, class: u8, now: Time) {
        self.idle -= 1;
        let taken = self.held.try_acquire(now, class) && self.write.try_acquire(now, class);
        assert!(taken, "an idle LFB entry is free");
    }

    /// Switches an entry from its read, whose data is back, to a write-back.
    #[inline]
    pub(crate) fn turn(&mut self, class: u8, now: Time) {
        // The entry stays in `held`: one LFB entry serves the read and then the write-back of a store.
        let taken = self.write.try_acquire(now, class);
        assert!(taken, "the LFB entry of a line serves the write-back of the one that it displaced");
    }

    /// Frees an entry that was held since `entered`, and schedules the end of its refill time.
    pub(crate) fn free(&mut self, class: u8, entered: Time, rng: &mut Rng, context: &mut Context) {
        // C2M latency ends here; the refill time is not part of it (docs/models/core.md, Refill).
        self.held.release(context.now(), class, entered);
        // At least 1 ps, even with a refill time of 0: every event lies ahead.
        let delay = self.clock.stretched(rng.around(self.refill_ps, self.refill_spread_ps)).max(1);
        context.send(context.id, delay, Payload::Refill);
    }

    /// Creates a read of a line for the engine that runs now.
    #[inline(always)]
    pub(crate) fn request(&self, line: u64, class: u8, for_store: bool, tag: u32, context: &mut Context) -> RequestId {
        let request =
            Request { for_store, engine: self.engine, ..context.request(RequestKind::CoreRead, line, class, tag) };
        context.requests.insert(request)
    }
}

/// Turns a request whose data is back into the write-back, or the notice of eviction, of the line that the data
/// displaced.
pub(crate) fn turn<'a>(id: RequestId, victim: Victim, context: &'a mut Context) -> &'a mut Request {
    let now = context.now();
    let Home { socket, slice, place } = context.homes.of(victim.line);
    if let Some(caches) = context.caches.own() {
        // Speed of the simulator only: prefetches its tables for the lookup to come.
        caches.expect(victim.line);
    }
    let kind = match victim {
        Victim { dirty: true, .. } => RequestKind::CoreWrite,
        Victim { taken: true, .. } => RequestKind::CoreClean,
        Victim { .. } => RequestKind::CoreDrop,
    };
    let request = context.requests.get_mut(id);
    *request = Request { kind, class: victim.class, line: victim.line, socket, slice, place, since: now, ..*request };
    request
}
