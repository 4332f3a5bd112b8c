//! Caches that hold lines of queues: an L1 or an NI cache alone, or the two of a tile as a pair.

use crate::params::QUEUE_LINES;
use hostnet_coherence::cache::{self, CacheEvent, CacheLine, Completion};
use hostnet_coherence::tile::{self, Local, TileEvent, TileHalf, TileLine};
use hostnet_coherence::{Message, Node, Sends, Value};
use serde::{Deserialize, Serialize};

/// An access to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    Load,
    Store(Value),
}

/// Result of an access or a message.
pub(crate) struct Outcome {
    pub(crate) out: Sends,
    /// Completed access, and the half of the tile that made it.
    pub(crate) done: Option<(TileHalf, Completion)>,
    /// True if the line came from the other half of the tile.
    pub(crate) handed_over: bool,
    /// True if the access must be retried when the line is in a stable state.
    pub(crate) stalled: bool,
}

/// Caches for the lines of queues, from line `first` on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Caches {
    first: u64,
    lines: Lines,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Lines {
    /// A single cache.
    Single(Vec<CacheLine>),
    /// An L1 and an NI cache behind it, which the directory sees as one cache.
    Pair(Vec<TileLine>),
}

impl Caches {
    /// Creates a cache for the queues of `cores` cores from core `core` on.
    pub(crate) fn single(core: u16, cores: u16) -> Self {
        let count = usize::from(cores) * QUEUE_LINES as usize;
        Self { first: u64::from(core) * QUEUE_LINES, lines: Lines::Single(vec![CacheLine::default(); count]) }
    }

    /// Creates an L1 and an NI cache for the queues of a core.
    pub(crate) fn pair(core: u16) -> Self {
        let lines = Lines::Pair(vec![TileLine::default(); QUEUE_LINES as usize]);
        Self { first: u64::from(core) * QUEUE_LINES, lines }
    }

    pub(crate) fn is_pair(&self) -> bool {
        matches!(self.lines, Lines::Pair(_))
    }

    /// Reads or writes a line for one half.
    pub(crate) fn access(&mut self, half: TileHalf, line: u64, access: Access) -> Outcome {
        match &mut self.lines {
            Lines::Single(lines) => {
                let event = match access {
                    Access::Load => CacheEvent::Load,
                    Access::Store(value) => CacheEvent::Store(value),
                };
                single(&mut lines[(line - self.first) as usize], half, event)
            }
            Lines::Pair(lines) => {
                let event = match access {
                    Access::Load => TileEvent::Load(half),
                    Access::Store(value) => TileEvent::Store(half, value),
                };
                pair(&mut lines[(line - self.first) as usize], event)
            }
        }
    }

    /// Handles a coherence message. `half` is the owner of a single cache; a pair ignores it.
    pub(crate) fn receive(&mut self, half: TileHalf, line: u64, from: Node, message: Message) -> Outcome {
        match &mut self.lines {
            Lines::Single(lines) => {
                single(&mut lines[(line - self.first) as usize], half, CacheEvent::Receive { from, message })
            }
            Lines::Pair(lines) => pair(&mut lines[(line - self.first) as usize], TileEvent::Receive { from, message }),
        }
    }
}

fn single(state: &mut CacheLine, half: TileHalf, event: CacheEvent) -> Outcome {
    // An illegal message is a bug of the chip, not a mistake of the user.
    let step = cache::step(*state, event).unwrap_or_else(|illegal| panic!("{illegal}"));
    *state = step.line;
    let done = step.done.map(|completion| (half, completion));
    Outcome { out: step.out, done, handed_over: false, stalled: step.stall }
}

fn pair(state: &mut TileLine, event: TileEvent) -> Outcome {
    let step = tile::step(*state, event).unwrap_or_else(|illegal| panic!("{illegal}"));
    *state = step.line;
    let handed_over = step.local == Some(Local::HandOver);
    Outcome { out: step.out, done: step.done, handed_over, stalled: step.stall }
}
