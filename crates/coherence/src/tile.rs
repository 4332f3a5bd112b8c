//! One line at a tile: an L1 with an NI cache at its back side, which the directory sees as one agent.
//!
//! Towards the directory a tile follows [`cache`]. Inside, the two halves hand the line to each other without a
//! message on the chip. A step is a whole: while the NI cache waits for the answer of the L1, the line takes no
//! other event.

use serde::{Deserialize, Serialize};

use crate::cache::{self, CacheEvent, CacheLine, CacheStep, Completion};
use crate::{Flaw, Illegal, Message, Node, Protocol, Rules, Sends, Value};

/// Who of a tile accesses a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Half {
    /// The core, through its L1.
    #[default]
    Core,
    /// The NI, through its NI cache.
    Ni,
}

/// What one of the two caches has of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Copy {
    /// I: nothing.
    #[default]
    None,
    /// S: a clean copy; the other half may have one, too.
    Shared(Value),
    /// E: the only copy on the chip, clean.
    Exclusive(Value),
    /// M: the only copy on the chip, modified.
    Modified(Value),
    /// O, of an NI cache only: modified and to be written back, while the L1 may have a clean copy.
    Owned(Value),
}

impl Copy {
    /// What is in it.
    #[must_use]
    pub const fn value(self) -> Option<Value> {
        match self {
            Self::None => None,
            Self::Shared(value) | Self::Exclusive(value) | Self::Modified(value) | Self::Owned(value) => Some(value),
        }
    }

    /// Whether it is the only copy.
    #[must_use]
    pub const fn is_alone(self) -> bool {
        matches!(self, Self::Exclusive(_) | Self::Modified(_))
    }
}

/// The state of a line at a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TileLine {
    /// What the L1 has.
    pub l1: Copy,
    /// What the NI cache has.
    pub ni: Copy,
    /// What the tile as a whole waits for: I if it waits for nothing.
    pub waiting: CacheLine,
    /// Who asked for what the tile waits for.
    pub asking: Half,
}

impl TileLine {
    /// What one half has.
    #[must_use]
    pub const fn copy(&self, half: Half) -> Copy {
        match half {
            Half::Core => self.l1,
            Half::Ni => self.ni,
        }
    }

    /// The tile as the directory sees it: one cache.
    #[must_use]
    pub const fn as_cache(&self) -> CacheLine {
        match (self.l1, self.ni) {
            _ if self.waiting.is_waiting() => self.waiting,
            (Copy::Modified(value), _) | (_, Copy::Modified(value) | Copy::Owned(value)) => CacheLine::Modified(value),
            (Copy::Exclusive(value), _) | (_, Copy::Exclusive(value)) => CacheLine::Exclusive(value),
            (Copy::Shared(value), _) | (_, Copy::Shared(value)) => CacheLine::Shared(value),
            (Copy::None | Copy::Owned(_), Copy::None) => CacheLine::Invalid,
        }
    }

    const fn with(half: Half, own: Copy, other: Copy) -> Self {
        let (l1, ni) = match half {
            Half::Core => (own, other),
            Half::Ni => (other, own),
        };
        Self { l1, ni, waiting: CacheLine::Invalid, asking: Half::Core }
    }
}

impl Half {
    const fn other(self) -> Self {
        match self {
            Self::Core => Self::Ni,
            Self::Ni => Self::Core,
        }
    }
}

/// What happens to a line at a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileEvent {
    /// One half reads.
    Load(Half),
    /// One half writes.
    Store(Half, Value),
    /// The line has to make room in the cache of one half.
    Evict(Half),
    /// A message comes.
    Receive {
        /// Its sender.
        from: Node,
        /// The message.
        message: Message,
    },
}

/// How an access is served inside the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Local {
    /// By the half's own cache alone.
    Hit,
    /// The other half's cache gave the line, or the right to write it.
    HandOver,
    /// The NI cache had the line and took the copy of the L1 away.
    Invalidation,
}

/// What a tile does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileStep {
    /// The new state.
    pub line: TileLine,
    /// What is sent.
    pub out: Sends,
    /// The access that is served, and whose it is.
    pub done: Option<(Half, Completion)>,
    /// How, if no message was needed.
    pub local: Option<Local>,
    /// Whether the L1 had to be asked before the answer to a message of the directory was sent.
    pub l1_asked: bool,
    /// The access, or the eviction, has to be tried again when the line waits for nothing. Nothing has changed.
    pub stall: bool,
}

impl TileStep {
    const fn to(line: TileLine) -> Self {
        Self { line, out: Sends::NONE, done: None, local: None, l1_asked: false, stall: false }
    }

    const fn served(line: TileLine, half: Half, done: Completion, local: Local) -> Self {
        Self { done: Some((half, done)), local: Some(local), ..Self::to(line) }
    }
}

/// What a tile does with a line when something happens.
///
/// # Errors
///
/// If the message cannot come in this state.
pub fn step(line: TileLine, event: TileEvent) -> Result<TileStep, Illegal> {
    step_by(Protocol, line, event)
}

/// As [`step`], by rules that may be broken.
///
/// # Errors
///
/// If the message cannot come in this state.
pub fn step_by<R: Rules>(rules: R, line: TileLine, event: TileEvent) -> Result<TileStep, Illegal> {
    match event {
        TileEvent::Receive { from, message } => receive(rules, line, from, message),
        _ if line.waiting.is_waiting() => Ok(TileStep { stall: true, ..TileStep::to(line) }),
        TileEvent::Load(half) => load(rules, line, half),
        TileEvent::Store(half, value) => store(rules, line, half, value),
        TileEvent::Evict(half) => evict(rules, line, half),
    }
}

fn load<R: Rules>(rules: R, line: TileLine, half: Half) -> Result<TileStep, Illegal> {
    let (own, other) = (line.copy(half), line.copy(half.other()));
    if let Some(value) = own.value() {
        return Ok(TileStep::served(line, half, Completion::Loaded(value), Local::Hit));
    }
    let Some(value) = other.value() else {
        return ask(rules, line, half, CacheEvent::Load);
    };
    let next = match other {
        // The duty to write back stays with the NI cache, or comes to it: the L1 gets or keeps a clean copy.
        Copy::Modified(_) | Copy::Owned(_) => TileLine::with(Half::Core, Copy::Shared(value), Copy::Owned(value)),
        Copy::Exclusive(_) if rules.broken(Flaw::ExclusiveCopied) => TileLine::with(half, other, other),
        Copy::Exclusive(_) => TileLine::with(half, other, Copy::None),
        Copy::None | Copy::Shared(_) => TileLine::with(half, other, other),
    };
    Ok(TileStep::served(next, half, Completion::Loaded(value), Local::HandOver))
}

fn store<R: Rules>(rules: R, line: TileLine, half: Half, value: Value) -> Result<TileStep, Illegal> {
    if !line.as_cache().is_writable() {
        return ask(rules, line, half, CacheEvent::Store(value));
    }
    let local = match line.copy(half) {
        Copy::Exclusive(_) | Copy::Modified(_) => Local::Hit,
        Copy::Owned(_) => Local::Invalidation,
        Copy::None | Copy::Shared(_) => Local::HandOver,
    };
    let mut next = TileLine::with(half, Copy::Modified(value), Copy::None);
    if local == Local::Invalidation && rules.broken(Flaw::NiStoreLeavesL1) {
        next.l1 = line.l1;
    }
    if half == Half::Core && rules.broken(Flaw::CoreStoreLeavesNi) {
        next.ni = line.ni;
    }
    Ok(TileStep::served(next, half, Completion::Stored, local))
}

/// An access that the tile as a whole has no right to.
fn ask<R: Rules>(rules: R, line: TileLine, half: Half, event: CacheEvent) -> Result<TileStep, Illegal> {
    let CacheStep { line: waiting, out, .. } = cache::step_by(rules, line.as_cache(), event)?;
    Ok(TileStep { out, ..TileStep::to(TileLine { waiting, asking: half, ..TileLine::default() }) })
}

fn evict<R: Rules>(rules: R, line: TileLine, half: Half) -> Result<TileStep, Illegal> {
    let mut next = line;
    match half {
        Half::Core => next.l1 = Copy::None,
        Half::Ni => next.ni = Copy::None,
    }
    let owned = matches!(line.copy(half), Copy::Owned(_));
    if !owned && !matches!(line.copy(half), Copy::Modified(_)) || owned && rules.broken(Flaw::OwnedDroppedSilently) {
        return Ok(TileStep::to(next));
    }
    // After the write-back the directory takes the tile for one that has nothing, so that the L1 may keep nothing.
    if owned && !rules.broken(Flaw::OwnedEvictedAlone) {
        next.l1 = Copy::None;
    }
    let CacheStep { line: waiting, out, .. } = cache::step_by(rules, line.as_cache(), CacheEvent::Evict)?;
    Ok(TileStep { out, ..TileStep::to(TileLine { waiting, asking: Half::Core, ..next }) })
}

fn receive<R: Rules>(rules: R, line: TileLine, from: Node, message: Message) -> Result<TileStep, Illegal> {
    let before = line.as_cache();
    let CacheStep { line: after, out, done, .. } =
        cache::step_by(rules, before, CacheEvent::Receive { from, message })?;
    let next = match after {
        _ if after.is_waiting() => TileLine { waiting: after, ..line },
        CacheLine::Invalid if before.is_waiting() => TileLine::with(Half::Core, line.l1, line.ni),
        CacheLine::Invalid if rules.broken(Flaw::L1NotTold) => TileLine { l1: line.l1, ..TileLine::default() },
        CacheLine::Invalid => TileLine::default(),
        _ if before.is_waiting() => TileLine::with(line.asking, copy_of(after), Copy::None),
        _ if after == before => line,
        _ => TileLine::with(Half::Core, downgraded(line.l1), downgraded(line.ni)),
    };
    let l1_asked = asks_l1(message) && !line.ni.is_alone();
    let done = done.map(|done| (line.asking, done));
    Ok(TileStep { line: next, out, done, l1_asked, ..TileStep::to(next) })
}

/// Whether a message is about the copies that caches have. The NI cache does not know what the L1 has dropped.
const fn asks_l1(message: Message) -> bool {
    matches!(
        message,
        Message::Inv { .. } | Message::ForwardRo { .. } | Message::ForwardX { .. } | Message::ForwardOnce { .. }
    )
}

/// What the half that asked gets.
const fn copy_of(line: CacheLine) -> Copy {
    match line {
        CacheLine::Shared(value) => Copy::Shared(value),
        CacheLine::Exclusive(value) => Copy::Exclusive(value),
        CacheLine::Modified(value) => Copy::Modified(value),
        _ => Copy::None,
    }
}

/// What a half keeps when the tile as a whole becomes a sharer.
fn downgraded(copy: Copy) -> Copy {
    copy.value().map_or(Copy::None, Copy::Shared)
}
