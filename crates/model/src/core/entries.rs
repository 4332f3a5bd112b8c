//! The line fill buffer of a core.

use crate::line::{Home, Kind, Request, RequestId};
use crate::params::CoreParams;
use crate::world::{Context, Group, Payload, Pool};
use hostnet_kernel::{Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// One pool of entries. An entry serves a read until its data is back; then it may serve the write-back of a dirty line
/// until the CHA admits that. It can be allocated again a while after it is free.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Entries {
    /// Entries that may be allocated now.
    pub(crate) idle: u32,
    refill_ps: u64,
    refill_spread_ps: u64,
    /// All entries that are held.
    pub(crate) lfb: Domain,
    /// C2M-Read: those that wait for data.
    pub(crate) read: Domain,
    /// C2M-Write: those that wait for the admission of a write-back.
    pub(crate) write: Domain,
}

impl Entries {
    pub(crate) fn new(params: &CoreParams, idle: u32, classes: usize) -> Self {
        let domain = || Domain::new(params.lfb_entries, params.lfb_entries, classes);
        let (refill_ps, refill_spread_ps) = (params.refill_ps, params.refill_spread_ps);
        Self { idle, refill_ps, refill_spread_ps, lfb: domain(), read: domain(), write: domain() }
    }

    /// Shows its pools.
    pub(crate) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        visit(Pool::new(Group::C2mRead, &self.read));
        visit(Pool::new(Group::C2mWrite, &self.write));
        visit(Pool::new(Group::Lfb, &self.lfb));
    }

    /// The domains, to settle or to reset.
    pub(crate) fn domains_mut(&mut self) -> [&mut Domain; 3] {
        [&mut self.lfb, &mut self.read, &mut self.write]
    }

    /// An idle entry begins to serve a read.
    #[inline]
    pub(crate) fn take(&mut self, class: u8, now: Time) {
        self.idle -= 1;
        let taken = self.lfb.try_acquire(now, class) && self.read.try_acquire(now, class);
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
        self.lfb.release(context.now(), class, entered);
        let delay = rng.around(self.refill_ps, self.refill_spread_ps).max(1);
        context.send(context.id, delay, Payload::Refill);
    }
}

/// A request of the core for a line, which begins now.
#[inline(always)]
pub(crate) fn request(line: u64, class: u8, for_store: bool, tag: u32, context: &mut Context) -> RequestId {
    let now = context.now();
    let Home { slice, place } = context.homes.of(line);
    context.requests.insert(Request {
        kind: Kind::CoreRead,
        class,
        book: 0,
        for_store,
        slice,
        line,
        place,
        owner: context.id,
        tag,
        since: now,
        entered: now,
        admitted: now,
        next: RequestId::NONE,
    })
}
