//! The line fill buffer of a core: one pool for all that runs on it.
//!
//! An entry serves a read (C2M-Read) until its data is back; for a store it then serves the write-back of a dirty line
//! (C2M-Write) until the CHA admits that. It can be allocated again a while after it is free.

use crate::cache::Victim;
use crate::line::{Home, Kind, Request, RequestId};
use crate::params::CoreParams;
use crate::part::{Context, Group, Payload, Pool};
use crate::power::Clock;
use hostnet_kernel::{Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// The entries of a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Lfb {
    /// Those that may be allocated now.
    pub(crate) idle: u32,
    /// The number of the engine that runs now, and whether there are several.
    pub(crate) engine: u8,
    pub(crate) shared: bool,
    refill_ps: u64,
    refill_spread_ps: u64,
    /// By which clock these times go.
    pub(crate) clock: Clock,
    /// All entries that are held.
    pub(crate) held: Domain,
    /// C2M-Read: those that wait for data.
    pub(crate) read: Domain,
    /// C2M-Write: those that wait for the admission of a write-back.
    pub(crate) write: Domain,
}

impl Lfb {
    pub(crate) fn new(params: &CoreParams, idle: u32, classes: usize) -> Self {
        let domain = || Domain::new(params.lfb_entries, params.lfb_entries, classes);
        let (refill_ps, refill_spread_ps) = (params.refill_ps, params.refill_spread_ps);
        Self {
            idle,
            engine: 0,
            shared: false,
            refill_ps,
            refill_spread_ps,
            clock: Clock::default(),
            held: domain(),
            read: domain(),
            write: domain(),
        }
    }

    /// Shows its pools.
    pub(crate) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::C2mRead, &self.read));
        visit(Pool::new(Group::C2mWrite, &self.write));
        visit(Pool::new(Group::Lfb, &self.held));
    }

    /// The domains, to settle or to reset.
    pub(crate) fn domains_mut(&mut self) -> [&mut Domain; 3] {
        [&mut self.held, &mut self.read, &mut self.write]
    }

    /// The entries that a class keeps busy: those that it holds, and where nobody else is on the core those that cannot
    /// be allocated yet.
    pub(crate) fn busy(&self, class: u8) -> u32 {
        if self.shared {
            self.held.classes()[usize::from(class)].in_use()
        } else {
            self.held.capacity() - self.idle
        }
    }

    /// An idle entry begins to serve a read.
    #[inline]
    pub(crate) fn take(&mut self, class: u8, now: Time) {
        self.idle -= 1;
        let taken = self.held.try_acquire(now, class) && self.read.try_acquire(now, class);
        assert!(taken, "an idle LFB entry is free");
    }

    /// As [`Lfb::take`], if one may be allocated.
    #[inline]
    pub(crate) fn try_take(&mut self, class: u8, now: Time) -> bool {
        if self.idle == 0 {
            return false;
        }
        self.take(class, now);
        true
    }

    /// An idle entry begins to serve a write of a whole line.
    pub(crate) fn take_for_write(&mut self, class: u8, now: Time) {
        self.idle -= 1;
        let taken = self.held.try_acquire(now, class) && self.write.try_acquire(now, class);
        assert!(taken, "an idle LFB entry is free");
    }

    /// An entry whose data is back begins to serve a write-back.
    #[inline]
    pub(crate) fn turn(&mut self, class: u8, now: Time) {
        let taken = self.write.try_acquire(now, class);
        assert!(taken, "the LFB entry of a line serves the write-back of the one that it displaced");
    }

    /// An entry is free that was held since `entered`.
    pub(crate) fn free(&mut self, class: u8, entered: Time, rng: &mut Rng, context: &mut Context) {
        self.held.release(context.now(), class, entered);
        let delay = self.clock.stretched(rng.around(self.refill_ps, self.refill_spread_ps)).max(1);
        context.send(context.id, delay, Payload::Refill);
    }

    /// A request for a line of the engine that runs, which begins now.
    #[inline(always)]
    pub(crate) fn request(&self, line: u64, class: u8, for_store: bool, tag: u32, context: &mut Context) -> RequestId {
        let request = Request { for_store, engine: self.engine, ..context.request(Kind::CoreRead, line, class, tag) };
        context.requests.insert(request)
    }
}

/// A request goes on with the line that left the caches for the one that it asked for.
pub(crate) fn turn<'a>(id: RequestId, victim: Victim, context: &'a mut Context) -> &'a mut Request {
    let now = context.now();
    let Home { socket, slice, place } = context.homes.of(victim.line);
    if let Some(caches) = context.caches.own() {
        caches.expect(victim.line);
    }
    let kind = match victim {
        Victim { dirty: true, .. } => Kind::CoreWrite,
        Victim { taken: true, .. } => Kind::CoreClean,
        Victim { .. } => Kind::CoreDrop,
    };
    let request = context.requests.get_mut(id);
    *request = Request { kind, class: victim.class, line: victim.line, socket, slice, place, since: now, ..*request };
    request
}
