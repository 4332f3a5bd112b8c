//! The way of the lines that a network core asks for: its line fill buffer, the CHA, memory.

use crate::cache::Access;
use crate::cha::slice_of;
use crate::context::{Context, Payload};
use crate::core::turn;
use crate::params::CoreParams;
use crate::request::{Kind, Request, RequestId};
use hostnet_kernel::Rng;
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// What a line is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Purpose {
    /// The source of a copy: the slot of the copy that it fills.
    Source(u16),
    /// The destination of a copy.
    Destination,
    /// A structure of the kernel.
    Extra,
}

impl Purpose {
    /// As it stands in the tag of a request, whose own class may change on its way.
    fn tag(self, class: u8) -> u32 {
        let (kind, slot) = match self {
            Self::Source(slot) => (0, slot),
            Self::Destination => (1, 0),
            Self::Extra => (2, 0),
        };
        u32::from(slot) << 16 | u32::from(class) << 8 | kind
    }

    fn of(tag: u32) -> (Self, u8) {
        let purpose = match tag & 0xff {
            0 => Self::Source((tag >> 16) as u16),
            1 => Self::Destination,
            _ => Self::Extra,
        };
        (purpose, (tag >> 8) as u8)
    }
}

/// The answer to a wish for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The line is in a cache of the core.
    There,
    /// It has been asked for.
    Coming,
    /// No entry may be allocated now.
    Full,
}

/// The line fill buffer of a network core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lfb {
    index: u32,
    params: CoreParams,
    idle_entries: u32,
    rng: Rng,
    pub(super) lfb: Domain,
    pub(super) read: Domain,
    pub(super) write: Domain,
}

impl Lfb {
    pub(super) fn new(index: u32, params: CoreParams, rng: Rng, classes: usize) -> Self {
        let entries = params.lfb_entries;
        let domain = || Domain::new(entries, entries, classes);
        Self { index, idle_entries: entries, rng, lfb: domain(), read: domain(), write: domain(), params }
    }

    /// The number of its core.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Entries that may be allocated now.
    pub(super) fn idle(&self) -> u32 {
        self.idle_entries
    }

    /// Wishes for a line, to store to it or to read it.
    pub(super) fn ask(&mut self, line: u64, store: bool, purpose: Purpose, class: u8, context: &mut Context) -> Asked {
        if self.idle_entries == 0 {
            return Asked::Full;
        }
        if let Some(caches) = context.caches.as_deref_mut() {
            if caches.access(self.index, line, class, store) != Access::Miss {
                return Asked::There;
            }
            caches.expect(line);
        }
        let now = context.now();
        self.idle_entries -= 1;
        let taken = self.lfb.try_acquire(now, class) && self.read.try_acquire(now, class);
        assert!(taken, "an idle LFB entry is free");
        let id = context.requests.insert(Request {
            kind: Kind::CoreRead,
            class,
            book: 0,
            for_store: store,
            slice: slice_of(line, context.layout.slices),
            line,
            place: context.decoder.place(line),
            owner: context.id,
            tag: purpose.tag(class),
            since: now,
            entered: now,
            admitted: now,
            next: RequestId::NONE,
        });
        context.send(context.cha(), self.params.to_cha_ps, Payload::Arrive(id));
        Asked::Coming
    }

    /// The data of a read is back; returns what it was for. A line that was stored to displaces a dirty line: with caches the one
    /// that they give up, else the one that `leaves` names.
    pub(super) fn on_data(&mut self, id: RequestId, leaves: impl FnOnce() -> u64, context: &mut Context) -> Purpose {
        let now = context.now();
        let Request { line, for_store, since, entered, tag, .. } = *context.requests.get(id);
        let (purpose, class) = Purpose::of(tag);
        self.read.release(now, class, since);
        let victim = match context.caches.as_deref_mut() {
            Some(caches) => caches.fill(self.index, line, class, for_store, false),
            None if for_store => Some(crate::cache::Victim { line: leaves(), class, dirty: true }),
            None => None,
        };
        match victim {
            Some(victim) if victim.dirty => {
                let taken = self.write.try_acquire(now, class);
                assert!(taken, "the LFB entry of a line serves the write-back of the one that it displaced");
                turn(id, victim, Kind::CoreWrite, context);
                context.send(context.cha(), self.params.to_cha_ps, Payload::Arrive(id));
            }
            Some(victim) => {
                self.free_entry(class, entered, context);
                turn(id, victim, Kind::CoreClean, context);
                context.send(context.cha(), self.params.to_cha_ps, Payload::Arrive(id));
            }
            None => {
                self.free_entry(class, entered, context);
                context.requests.remove(id);
            }
        }
        purpose
    }

    /// The CHA has admitted a write-back; the request goes on without the core unless it is `over`.
    pub(super) fn on_admitted(&mut self, id: RequestId, over: bool, context: &mut Context) {
        let Request { since, entered, tag, .. } = *context.requests.get(id);
        let (_, class) = Purpose::of(tag);
        if over {
            context.requests.remove(id);
        }
        self.write.release(context.now(), class, since);
        self.free_entry(class, entered, context);
    }

    /// An entry may be allocated again.
    pub(super) fn on_refill(&mut self) {
        self.idle_entries += 1;
    }

    /// Gives back the entry held since `entered`; it can be allocated again after a while.
    fn free_entry(&mut self, class: u8, entered: hostnet_kernel::Time, context: &mut Context) {
        self.lfb.release(context.now(), class, entered);
        let delay = self.rng.around(self.params.refill_ps, self.params.refill_spread_ps).max(1);
        context.send(context.id, delay, Payload::Refill);
    }
}
