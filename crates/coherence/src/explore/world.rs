//! State of a whole system.

use std::fmt;

use crate::cache::CacheLine;
use crate::directory::{DirectoryLine, LineHolders, LineTransaction, LlcBlock};
use crate::explore::{Bounds, StoreValues};
use crate::tile::{Copy, TileHalf, TileLine};
use crate::uncached::UncachedLine;
use crate::{Message, Node, Value};

/// Message in flight, with an arbitrary delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packet {
    /// Sender of the message.
    pub from: Node,
    /// Receiver of the message.
    pub to: Node,
    /// Message in flight.
    pub message: Message,
}

/// State of a line at an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentLine {
    /// At a cache.
    Cache(CacheLine),
    /// At a tile.
    Tile(TileLine),
    /// At an uncached agent.
    Uncached {
        /// Access of the agent.
        line: UncachedLine,
        /// During a read, a bit for each value that has been the newest one since the request.
        fresh: u32,
    },
}

impl AgentLine {
    /// Returns the state of the line as the directory sees it.
    #[must_use]
    pub const fn as_cache(&self) -> CacheLine {
        match self {
            Self::Cache(line) => *line,
            Self::Tile(tile) => tile.as_cache(),
            Self::Uncached { .. } => CacheLine::Invalid,
        }
    }

    /// Returns true while a transaction is pending.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        match self {
            Self::Uncached { line, .. } => *line != UncachedLine::Idle,
            other => other.as_cache().is_waiting(),
        }
    }

    /// Returns true if the line occupies, or has reserved, space in the cache of `half` of a tile. For an agent
    /// outside of a tile, `half` has no effect.
    #[must_use]
    pub fn occupies(&self, half: TileHalf) -> bool {
        match self {
            Self::Cache(line) => *line != CacheLine::Invalid,
            Self::Tile(tile) => {
                // A pending request reserves the room for its line.
                tile.copy(half) != Copy::None || tile.waiting.is_waiting() && tile.requesting_half == half
            }
            Self::Uncached { .. } => false,
        }
    }
}

/// State of a line in all places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LineWorld {
    /// State at each agent.
    pub agents: Vec<AgentLine>,
    /// State at the home.
    pub home: DirectoryLine,
    /// Content of memory.
    pub memory: Value,
    /// Value of the last store.
    pub newest: Value,
    /// Messages in flight about the line, in an order without meaning.
    pub packets: Vec<Packet>,
}

impl LineWorld {
    /// Returns true if no message and no transaction is pending.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.packets.is_empty() && !self.home.is_busy() && !self.agents.iter().any(AgentLine::is_waiting)
    }

    pub(super) fn send(&mut self, packet: Packet) {
        // Kept sorted, so that equal states compare equal.
        let at = self.packets.partition_point(|other| *other < packet);
        self.packets.insert(at, packet);
    }
}

/// State of a system.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct World {
    /// State of each line.
    pub lines: Vec<LineWorld>,
}

impl World {
    /// Creates the initial state: nothing is cached and memory holds 0.
    #[must_use]
    pub fn start(bounds: &Bounds) -> Self {
        let mut agents = vec![AgentLine::Cache(CacheLine::default()); usize::from(bounds.caches)];
        agents.extend((0..bounds.tiles).map(|_| AgentLine::Tile(TileLine::default())));
        agents.extend((0..bounds.uncached).map(|_| AgentLine::Uncached { line: UncachedLine::Idle, fresh: 0 }));
        let line =
            LineWorld { agents, home: DirectoryLine::default(), memory: 0, newest: 0, packets: Vec::with_capacity(8) };
        Self { lines: vec![line; usize::from(bounds.lines)] }
    }

    /// Returns true if no message and no transaction is pending.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.lines.iter().all(LineWorld::is_quiet)
    }

    /// Returns the number of accesses and write-backs that wait for an answer.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.lines.iter().flat_map(|line| &line.agents).filter(|agent| agent.is_waiting()).count()
    }
}

impl StoreValues {
    /// Returns the values that the next store may write.
    pub(super) fn values(self, newest: Value) -> std::ops::Range<Value> {
        match self {
            Self::Any(count) => 0..count,
            Self::Next(count) => {
                let next = (newest + 1) % count;
                next..next + 1
            }
        }
    }
}

impl fmt::Display for AgentLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cache = |f: &mut fmt::Formatter<'_>, line: &CacheLine| match line {
            CacheLine::Shared(value) | CacheLine::Exclusive(value) | CacheLine::Modified(value) => {
                write!(f, "{}({value})", line.name())
            }
            CacheLine::Writing { value, .. } => write!(f, "writing({value})"),
            _ => f.write_str(line.name()),
        };
        let copy = |f: &mut fmt::Formatter<'_>, copy: Copy| match copy {
            Copy::None => f.write_str("I"),
            Copy::Shared(value) => write!(f, "S({value})"),
            Copy::Exclusive(value) => write!(f, "E({value})"),
            Copy::Modified(value) => write!(f, "M({value})"),
            Copy::Owned(value) => write!(f, "O({value})"),
        };
        match self {
            Self::Cache(line) => cache(f, line),
            Self::Tile(tile) => {
                copy(f, tile.l1)?;
                f.write_str("+")?;
                copy(f, tile.ni)?;
                if tile.waiting.is_waiting() {
                    f.write_str(" ")?;
                    cache(f, &tile.waiting)?;
                }
                Ok(())
            }
            Self::Uncached { line, .. } => f.write_str(line.name()),
        }
    }
}

impl fmt::Display for LineWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, agent) in self.agents.iter().enumerate() {
            write!(f, "{}{agent}", if index > 0 { " | " } else { "" })?;
        }
        f.write_str("] home ")?;
        match self.home.holders {
            LineHolders::Nobody => f.write_str("nobody")?,
            LineHolders::Owned(owner) => write!(f, "owned by {}", owner.index())?,
            LineHolders::Shared(sharers) => {
                f.write_str("shared by")?;
                sharers.iter().try_for_each(|agent| write!(f, " {}", agent.index()))?;
            }
        }
        if self.home.busy != LineTransaction::Idle {
            f.write_str(", busy")?;
        }
        match self.home.block {
            LlcBlock::Absent => {}
            LlcBlock::Clean(value) => write!(f, ", LLC {value}")?,
            LlcBlock::Dirty(value) => write!(f, ", LLC {value} dirty")?,
        }
        write!(f, ", memory {}", self.memory)
    }
}
