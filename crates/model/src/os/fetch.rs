//! The way of the lines that a network core asks for: the line fill buffer of the core, the CHA, memory.

use crate::cache::{Access, Caches};
use crate::lfb::{turn, Lfb};
use crate::line::{Request, RequestId};
use crate::params::CoreParams;
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Rng};
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

/// A line that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub(super) line: u64,
    /// Whether it is stored to, or read.
    pub(super) store: bool,
    pub(super) purpose: Purpose,
    pub(super) class: u8,
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

/// How a network core asks for lines.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Fetch {
    index: u32,
    cha: ComponentId,
    to_cha_ps: u64,
    rng: Rng,
}

impl Fetch {
    pub(super) fn new(index: u32, cha: ComponentId, params: &CoreParams, rng: Rng) -> Self {
        Self { index, cha, to_cha_ps: params.to_cha_ps, rng }
    }

    /// The number of its core.
    pub(super) fn index(&self) -> u32 {
        self.index
    }

    /// Wishes for a line, to store to it or to read it.
    pub(super) fn ask(&self, wish: Wish, lfb: &mut Lfb, context: &mut Context) -> Asked {
        let Wish { line, store, purpose, class } = wish;
        if lfb.idle == 0 {
            return Asked::Full;
        }
        if let Some(caches) = context.caches.own() {
            if caches.access(self.index, line, class, store) != Access::Miss {
                if store {
                    context.caches.claim(line);
                }
                return Asked::There;
            }
            caches.expect(line);
        }
        lfb.take(class, context.now());
        let id = lfb.request(line, class, store, purpose.tag(class), context);
        context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
        Asked::Coming
    }

    /// Reads a line before time begins, in `caches` alone.
    pub(super) fn warm_up(&self, line: u64, class: u8, caches: &mut Caches) {
        if caches.access(self.index, line, class, false) != Access::Miss {
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

    /// The data of a read is back; returns what it was for. A line that was stored to displaces a dirty line: with
    /// caches the one that they give up, else the one that `leaves` names.
    pub(super) fn on_data(
        &mut self,
        id: RequestId,
        leaves: impl FnOnce(Purpose) -> u64,
        lfb: &mut Lfb,
        context: &mut Context,
    ) -> Purpose {
        let now = context.now();
        let Request { line, for_store, since, entered, tag, .. } = *context.requests.get(id);
        let (purpose, class) = Purpose::of(tag);
        lfb.read.release(now, class, since);
        if for_store {
            context.caches.claim(line);
        }
        let victim = match context.caches.own() {
            Some(caches) => caches.fill(self.index, line, class, for_store, false),
            None if for_store => Some(crate::cache::Victim { line: leaves(purpose), class, dirty: true, taken: true }),
            None => None,
        };
        match victim {
            Some(victim) if victim.dirty => {
                lfb.turn(class, now);
                turn(id, victim, context);
                context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
            }
            Some(victim) => {
                lfb.free(class, entered, &mut self.rng, context);
                turn(id, victim, context);
                context.send(self.cha, self.to_cha_ps, Payload::Arrive(id));
            }
            None => {
                lfb.free(class, entered, &mut self.rng, context);
                context.requests.remove(id);
            }
        }
        purpose
    }

    /// The CHA has admitted a write-back; the request goes on without the core unless it is `over`.
    pub(super) fn on_admitted(&mut self, id: RequestId, over: bool, lfb: &mut Lfb, context: &mut Context) {
        let Request { since, entered, tag, .. } = *context.requests.get(id);
        let (_, class) = Purpose::of(tag);
        if over {
            context.requests.remove(id);
        }
        lfb.write.release(context.now(), class, since);
        lfb.free(class, entered, &mut self.rng, context);
    }
}
