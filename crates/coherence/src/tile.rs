//! One line at a tile: an L1 with an NI cache at its back side, which are one agent for the directory.
//!
//! Towards the directory a tile follows [`cache`]. Inside, the two halves hand the line over to each other without a
//! message on the chip. A step is atomic: while the NI cache waits for the answer of the L1, no other event of the
//! line is handled.

use serde::{Deserialize, Serialize};

use crate::cache::{self, CacheEvent, CacheLine, CacheStep, Completion};
use crate::{Flaw, Illegal, Message, Node, Protocol, Rules, Sends, Value};

/// Half of a tile that accesses a line: the core, or the network interface (NI). Each half has its own cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TileHalf {
    /// The core, through its L1.
    #[default]
    Core,
    /// The NI, through its NI cache.
    Ni,
}

/// State of a line in one of the two caches of a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Copy {
    /// I: no copy.
    #[default]
    None,
    /// S: a clean copy; the other half may have one as well.
    Shared(Value),
    /// E: the only copy on the chip, clean.
    Exclusive(Value),
    /// M: the only copy on the chip, modified.
    Modified(Value),
    /// O, only in an NI cache: modified and to be written back, while the L1 may have a clean copy.
    Owned(Value),
}

impl Copy {
    /// Returns the content of the copy, if there is one.
    #[must_use]
    pub const fn value(self) -> Option<Value> {
        match self {
            Self::None => None,
            Self::Shared(value) | Self::Exclusive(value) | Self::Modified(value) | Self::Owned(value) => Some(value),
        }
    }

    /// Returns true if the copy is the only one on the chip.
    #[must_use]
    pub const fn is_alone(self) -> bool {
        matches!(self, Self::Exclusive(_) | Self::Modified(_))
    }
}

/// State of a line at a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TileLine {
    /// Copy in the L1.
    pub l1: Copy,
    /// Copy in the NI cache.
    pub ni: Copy,
    /// Pending transaction of the tile, or [`CacheLine::Invalid`] if there is none.
    pub waiting: CacheLine,
    /// Half that started the pending transaction.
    pub requesting_half: TileHalf,
}

impl TileLine {
    /// Returns the copy of one half.
    #[must_use]
    pub const fn copy(&self, half: TileHalf) -> Copy {
        match half {
            TileHalf::Core => self.l1,
            TileHalf::Ni => self.ni,
        }
    }

    /// Returns the state of the line as the directory sees it, with the tile as one cache.
    #[must_use]
    pub const fn as_cache(&self) -> CacheLine {
        match (self.l1, self.ni) {
            // A pending transaction hides the copies, which are given up when it starts.
            _ if self.waiting.is_waiting() => self.waiting,
            (Copy::Modified(value), _) | (_, Copy::Modified(value) | Copy::Owned(value)) => CacheLine::Modified(value),
            (Copy::Exclusive(value), _) | (_, Copy::Exclusive(value)) => CacheLine::Exclusive(value),
            (Copy::Shared(value), _) | (_, Copy::Shared(value)) => CacheLine::Shared(value),
            (Copy::None | Copy::Owned(_), Copy::None) => CacheLine::Invalid,
        }
    }

    const fn with(half: TileHalf, own: Copy, other: Copy) -> Self {
        let (l1, ni) = match half {
            TileHalf::Core => (own, other),
            TileHalf::Ni => (other, own),
        };
        Self { l1, ni, waiting: CacheLine::Invalid, requesting_half: TileHalf::Core }
    }
}

impl TileHalf {
    const fn other(self) -> Self {
        match self {
            Self::Core => Self::Ni,
            Self::Ni => Self::Core,
        }
    }
}

/// Event of a line at a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TileEvent {
    /// One half reads the line.
    Load(TileHalf),
    /// One half writes the line.
    Store(TileHalf, Value),
    /// The cache of one half evicts the line.
    Evict(TileHalf),
    /// A message arrives.
    Receive {
        /// Sender of the message.
        from: Node,
        /// Message received.
        message: Message,
    },
}

/// Way in which an access is served inside the tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Local {
    /// The half's own cache has the line in a sufficient state.
    Hit,
    /// The other half's cache supplied the line, or the permission to write it.
    HandOver,
    /// The NI cache had the line and invalidated the copy of the L1.
    Invalidation,
}

/// Result of a step of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TileStep {
    /// New state.
    pub line: TileLine,
    /// Messages sent.
    pub out: Sends,
    /// Access that is served, and the half that made it.
    pub done: Option<(TileHalf, Completion)>,
    /// Way in which the access was served, if no message was needed.
    pub local: Option<Local>,
    /// True if the L1 had to be queried before the answer to a message of the directory.
    pub l1_queried: bool,
    /// True if the access, or the eviction, must be retried when no transaction is pending. The state is unchanged.
    pub stall: bool,
}

impl TileStep {
    const fn to(line: TileLine) -> Self {
        Self { line, out: Sends::NONE, done: None, local: None, l1_queried: false, stall: false }
    }

    const fn served(line: TileLine, half: TileHalf, done: Completion, local: Local) -> Self {
        Self { done: Some((half, done)), local: Some(local), ..Self::to(line) }
    }
}

/// Computes the step of a tile for an event.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step(line: TileLine, event: TileEvent) -> Result<TileStep, Illegal> {
    step_by(Protocol, line, event)
}

/// Computes the step as [`step`], under rules that may be broken.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step_by<R: Rules>(rules: R, line: TileLine, event: TileEvent) -> Result<TileStep, Illegal> {
    match event {
        TileEvent::Receive { from, message } => receive(rules, line, from, message),
        _ if line.waiting.is_waiting() => Ok(TileStep { stall: true, ..TileStep::to(line) }),
        TileEvent::Load(half) => load(rules, line, half),
        TileEvent::Store(half, value) => store(rules, line, half, value),
        TileEvent::Evict(half) => evict(rules, line, half),
    }
}

fn load<R: Rules>(rules: R, line: TileLine, half: TileHalf) -> Result<TileStep, Illegal> {
    let (own, other) = (line.copy(half), line.copy(half.other()));
    // The half's own cache is looked up first: a hit disturbs neither the other half nor the directory.
    if let Some(value) = own.value() {
        return Ok(TileStep::served(line, half, Completion::Loaded(value), Local::Hit));
    }
    let Some(value) = other.value() else {
        return ask(rules, line, half, CacheEvent::Load);
    };
    let next = match other {
        // The NI cache keeps or takes over the duty to write back; the L1 keeps or gets a clean copy.
        Copy::Modified(_) | Copy::Owned(_) => TileLine::with(TileHalf::Core, Copy::Shared(value), Copy::Owned(value)),
        Copy::Exclusive(_) if rules.broken(Flaw::ExclusiveCopied) => TileLine::with(half, other, other),
        // E moves: two copies in E would each allow a silent store.
        Copy::Exclusive(_) => TileLine::with(half, other, Copy::None),
        Copy::None | Copy::Shared(_) => TileLine::with(half, other, other),
    };
    Ok(TileStep::served(next, half, Completion::Loaded(value), Local::HandOver))
}

fn store<R: Rules>(rules: R, line: TileLine, half: TileHalf, value: Value) -> Result<TileStep, Illegal> {
    if !line.as_cache().is_writable() {
        return ask(rules, line, half, CacheEvent::Store(value));
    }
    let local = match line.copy(half) {
        Copy::Exclusive(_) | Copy::Modified(_) => Local::Hit,
        Copy::Owned(_) => Local::Invalidation,
        Copy::None | Copy::Shared(_) => Local::HandOver,
    };
    // A store leaves one copy in the tile, as a store on the chip does.
    let mut next = TileLine::with(half, Copy::Modified(value), Copy::None);
    if local == Local::Invalidation && rules.broken(Flaw::NiStoreLeavesL1) {
        next.l1 = line.l1;
    }
    if half == TileHalf::Core && rules.broken(Flaw::CoreStoreLeavesNi) {
        next.ni = line.ni;
    }
    Ok(TileStep::served(next, half, Completion::Stored, local))
}

/// Starts a transaction for an access that the tile has no permission for.
fn ask<R: Rules>(rules: R, line: TileLine, half: TileHalf, event: CacheEvent) -> Result<TileStep, Illegal> {
    // To the directory the tile is one cache; `TileLine::default` gives up both copies for the request.
    let CacheStep { line: waiting, out, .. } = cache::step_by(rules, line.as_cache(), event)?;
    Ok(TileStep { out, ..TileStep::to(TileLine { waiting, requesting_half: half, ..TileLine::default() }) })
}

fn evict<R: Rules>(rules: R, line: TileLine, half: TileHalf) -> Result<TileStep, Illegal> {
    let mut next = line;
    match half {
        TileHalf::Core => next.l1 = Copy::None,
        TileHalf::Ni => next.ni = Copy::None,
    }
    let owned = matches!(line.copy(half), Copy::Owned(_));
    // A clean copy leaves silently; the directory keeps the tile as a holder.
    if !owned && !matches!(line.copy(half), Copy::Modified(_)) || owned && rules.broken(Flaw::OwnedDroppedSilently) {
        return Ok(TileStep::to(next));
    }
    // After the write-back the directory assumes that the tile has no copy, so the L1 must not keep one.
    if owned && !rules.broken(Flaw::OwnedEvictedAlone) {
        next.l1 = Copy::None;
    }
    let CacheStep { line: waiting, out, .. } = cache::step_by(rules, line.as_cache(), CacheEvent::Evict)?;
    Ok(TileStep { out, ..TileStep::to(TileLine { waiting, requesting_half: TileHalf::Core, ..next }) })
}

fn receive<R: Rules>(rules: R, line: TileLine, from: Node, message: Message) -> Result<TileStep, Illegal> {
    let before = line.as_cache();
    let CacheStep { line: after, out, done, .. } =
        cache::step_by(rules, before, CacheEvent::Receive { from, message })?;
    let next = match after {
        _ if after.is_waiting() => TileLine { waiting: after, ..line },
        // A write-back is complete; its copies were dropped at the eviction.
        CacheLine::Invalid if before.is_waiting() => TileLine::with(TileHalf::Core, line.l1, line.ni),
        CacheLine::Invalid if rules.broken(Flaw::L1NotTold) => TileLine { l1: line.l1, ..TileLine::default() },
        CacheLine::Invalid => TileLine::default(),
        _ if before.is_waiting() => TileLine::with(line.requesting_half, copy_of(after), Copy::None),
        // Such as ForwardOnce, which leaves the owner as it is: both halves keep their copies.
        _ if after == before => line,
        _ => TileLine::with(TileHalf::Core, downgraded(line.l1), downgraded(line.ni)),
    };
    // In E or M the NI cache has the only copy on the chip, so the L1 cannot have one.
    let l1_queried = queries_l1(message) && !line.ni.is_alone();
    let done = done.map(|done| (line.requesting_half, done));
    Ok(TileStep { line: next, out, done, l1_queried, ..TileStep::to(next) })
}

/// Returns true if a message concerns the copies of caches. The NI cache does not know about lines that the L1
/// dropped.
const fn queries_l1(message: Message) -> bool {
    matches!(
        message,
        Message::Inv { .. } | Message::ForwardRo { .. } | Message::ForwardX { .. } | Message::ForwardOnce { .. }
    )
}

/// Returns the copy that the half with the pending transaction gets.
const fn copy_of(line: CacheLine) -> Copy {
    match line {
        CacheLine::Shared(value) => Copy::Shared(value),
        CacheLine::Exclusive(value) => Copy::Exclusive(value),
        CacheLine::Modified(value) => Copy::Modified(value),
        _ => Copy::None,
    }
}

/// Returns the copy that a half keeps when the tile becomes a sharer.
fn downgraded(copy: Copy) -> Copy {
    copy.value().map_or(Copy::None, Copy::Shared)
}
