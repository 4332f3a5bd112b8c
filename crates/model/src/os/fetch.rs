//! Path of the lines that a network core requests: line fill buffer of the core, CHA, memory.

use crate::cache::{Caches, L2Access};
use crate::lfb::{turn, Lfb};
use crate::line::{Request, RequestId};
use crate::params::CoreParams;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Purpose of a requested line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FetchPurpose {
    /// Source of a copy: the slot of the copy that the line fills.
    Source(u16),
    /// Destination of a copy.
    Destination,
    /// Source of a copy, as [`FetchPurpose::Source`], but requested by the prefetchers of the L2.
    Prefetched(u16),
    /// Data structure of the kernel.
    KernelLine,
    /// Prefetched line that nothing waits for: the other line of a pair of 128 B, or a line after the source of a
    /// copy.
    Speculative,
    /// Source of a message that the driver writes to a ring: the slot that the line fills.
    Ring(u16),
}

impl FetchPurpose {
    /// Returns the tag of a request for this purpose. It holds the class as well, because that of the request may
    /// change in flight.
    fn tag(self, class: u8) -> u32 {
        let (kind, slot) = match self {
            Self::Source(slot) => (0, slot),
            Self::Destination => (1, 0),
            Self::KernelLine => (2, 0),
            Self::Prefetched(slot) => (3, slot),
            Self::Speculative => (4, 0),
            Self::Ring(slot) => (5, slot),
        };
        u32::from(slot) << 16 | u32::from(class) << 8 | kind
    }

    /// Returns true if the prefetchers of the L2 request the line.
    fn is_prefetch(self) -> bool {
        matches!(self, Self::Prefetched(_) | Self::Speculative)
    }

    /// Returns the purpose and the class of a tag.
    fn of(tag: u32) -> (Self, u8) {
        let purpose = match tag & 0xff {
            0 => Self::Source((tag >> 16) as u16),
            1 => Self::Destination,
            3 => Self::Prefetched((tag >> 16) as u16),
            4 => Self::Speculative,
            5 => Self::Ring((tag >> 16) as u16),
            _ => Self::KernelLine,
        };
        (purpose, (tag >> 8) as u8)
    }
}

/// Line that the core needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineFetch {
    pub(super) line: u64,
    /// True if the line is stored to, false if it is read.
    pub(super) store: bool,
    pub(super) purpose: FetchPurpose,
    pub(super) class: u8,
}

/// Result of requesting a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FetchResult {
    /// The line is in a cache of the core.
    Cached,
    /// The line has been requested.
    Requested,
    /// No entry or credit is free now.
    Full,
}

/// Requests of a network core for lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LineFetcher {
    index: u32,
    cha: ComponentId,
    to_cha_ps: u64,
    rng: Rng,
    /// Credits of the L2 prefetchers, if they help copies.
    prefetch: Option<Domain>,
}

impl LineFetcher {
    pub(super) fn new(index: u32, cha: ComponentId, params: &CoreParams, rng: Rng, prefetch: Option<Domain>) -> Self {
        Self { index, cha, to_cha_ps: params.to_cha_ps, rng, prefetch }
    }

    /// Returns the credits of the L2 prefetchers, if they help copies.
    pub(super) fn prefetch(&self) -> Option<&Domain> {
        self.prefetch.as_ref()
    }

    /// Returns the credits of the L2 prefetchers, to settle or to reset them.
    pub(super) fn prefetch_mut(&mut self) -> Option<&mut Domain> {
        self.prefetch.as_mut()
    }

    /// Returns the purpose for which a line can be requested now, if any: a copy that has used up the LFB continues
    /// with the prefetchers.
    fn allowed_purpose(&self, purpose: FetchPurpose, lfb: &Lfb) -> Option<FetchPurpose> {
        match (purpose, &self.prefetch) {
            // Prefetches without a credit are dropped; demand lines wait for an entry.
            (FetchPurpose::Speculative, Some(prefetch)) => (prefetch.free() > 0).then_some(purpose),
            (FetchPurpose::Speculative, None) => None,
            _ if lfb.idle > 0 => Some(purpose),
            (FetchPurpose::Source(slot), Some(prefetch)) if prefetch.free() > 0 => Some(FetchPurpose::Prefetched(slot)),
            _ => None,
        }
    }

    /// Returns the CHA, and the delay from the core to it, in ps.
    pub(super) fn cha(&self) -> (ComponentId, u64) {
        (self.cha, self.to_cha_ps)
    }

    /// Returns the number of its core.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Requests a line, to store to it or to read it, unless a cache of the core has it.
    pub(super) fn fetch_line(&mut self, line_fetch: LineFetch, lfb: &mut Lfb, context: &mut Context) -> FetchResult {
        let LineFetch { line, store, purpose, class } = line_fetch;
        let Some(purpose) = self.allowed_purpose(purpose, lfb) else { return FetchResult::Full };
        if let Some(caches) = context.caches.own() {
            // A prefetch leaves the age of a line in the caches unchanged.
            if purpose == FetchPurpose::Speculative && caches.holds(self.index, line) {
                return FetchResult::Cached;
            }
            if purpose != FetchPurpose::Speculative && caches.access(self.index, line, class, store) != L2Access::Miss {
                if store {
                    context.caches.claim(line);
                }
                return FetchResult::Cached;
            }
            caches.expect(line);
        }
        match &mut self.prefetch {
            Some(prefetch) if purpose.is_prefetch() => {
                let taken = prefetch.try_acquire(context.now(), class);
                assert!(taken, "a prefetch credit is free");
            }
            _ => lfb.take(class, context.now()),
        }
        let id = lfb.request(line, class, store, purpose.tag(class), context);
        context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
        FetchResult::Requested
    }

    /// Reads a line before the simulation starts, in `caches` alone.
    pub(super) fn warm_up(&self, line: u64, class: u8, caches: &mut Caches) {
        if caches.access(self.index, line, class, false) != L2Access::Miss {
            return;
        }
        let found = caches.read(self.index, line, class);
        if found.hit.is_none() {
            let _ = caches.fetched(line, class);
        }
        if let Some(victim) = caches.fill(self.index, line, class, found.hit == Some(true), false) {
            let _ = caches.put(self.index, victim);
        }
    }

    /// Handles the data of a read. Returns the purpose of the line. The line may displace another line: the victim
    /// that the caches choose or, without caches and for a store, the dirty line that `evicted_line` returns.
    pub(super) fn on_data(
        &mut self,
        id: RequestId,
        evicted_line: impl FnOnce(FetchPurpose) -> u64,
        lfb: &mut Lfb,
        context: &mut Context,
    ) -> FetchPurpose {
        let now = context.now();
        let Request { line, for_store, since, entered, tag, .. } = *context.requests.get(id);
        let (purpose, class) = FetchPurpose::of(tag);
        let ahead = self.prefetch.as_mut().filter(|_| purpose.is_prefetch());
        if ahead.is_none() {
            lfb.read.release(now, class, since);
        }
        if for_store {
            context.caches.claim(line);
        }
        let victim = match context.caches.own() {
            Some(caches) => caches.fill(self.index, line, class, for_store, purpose == FetchPurpose::Speculative),
            None if for_store => {
                Some(crate::cache::Victim { line: evicted_line(purpose), class, dirty: true, taken: true })
            }
            None => None,
        };
        match victim {
            Some(victim) if victim.dirty => {
                // The victim keeps the credit of its successor: an entry of the LFB or of the prefetchers.
                if ahead.is_none() {
                    lfb.turn(class, now);
                }
                turn(id, victim, context);
                context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
            }
            Some(victim) => {
                // A clean victim needs no credit, and nothing waits for it.
                release(ahead, class, entered, &mut self.rng, lfb, context);
                turn(id, victim, context);
                context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
            }
            None => {
                release(ahead, class, entered, &mut self.rng, lfb, context);
                context.requests.remove(id);
            }
        }
        match purpose {
            FetchPurpose::Prefetched(slot) => FetchPurpose::Source(slot),
            purpose => purpose,
        }
    }

    /// Handles the admission of a write-back by the CHA. Removes the request if it is complete (`over`).
    pub(super) fn on_admitted(&mut self, id: RequestId, over: bool, lfb: &mut Lfb, context: &mut Context) {
        let Request { since, entered, tag, .. } = *context.requests.get(id);
        let (purpose, class) = FetchPurpose::of(tag);
        if over {
            context.requests.remove(id);
        }
        let ahead = self.prefetch.as_mut().filter(|_| purpose.is_prefetch());
        if ahead.is_none() {
            lfb.write.release(context.now(), class, since);
        }
        release(ahead, class, entered, &mut self.rng, lfb, context);
    }
}

/// Frees the credit of a line: that of the prefetchers, or an entry of the LFB.
fn release(ahead: Option<&mut Domain>, class: u8, entered: Time, rng: &mut Rng, lfb: &mut Lfb, context: &mut Context) {
    match ahead {
        Some(prefetch) => prefetch.release(context.now(), class, entered),
        None => lfb.free(class, entered, rng, context),
    }
}
