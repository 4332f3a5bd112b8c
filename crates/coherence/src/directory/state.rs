//! State of a line at its home.

use serde::{Deserialize, Serialize};

use crate::{Agent, Sharers, Value};

/// Agents that have the line, as far as the directory knows. Clean lines may have been dropped since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LineHolders {
    /// No agent.
    #[default]
    Nobody,
    /// Readers; agents outside of the set have no copy.
    Shared(Sharers),
    /// Owner, which may read and write; other agents have no copy.
    Owned(Agent),
}

impl LineHolders {
    /// Returns all holders but one agent.
    #[must_use]
    pub const fn others(self, than: Agent) -> Sharers {
        self.all().without(than)
    }

    /// Returns all holders.
    #[must_use]
    pub const fn all(self) -> Sharers {
        match self {
            Self::Nobody => Sharers::NONE,
            Self::Shared(sharers) => sharers,
            // An owner is one holder, which a writer invalidates like any sharer.
            Self::Owned(owner) => Sharers::NONE.with(owner),
        }
    }
}

/// Block of the line in the LLC. The LLC is not inclusive, so the block is allocated and evicted independently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LlcBlock {
    /// Not in the LLC.
    #[default]
    Absent,
    /// Equal to memory. Out of date while an owner has modified the line.
    Clean(Value),
    /// Newer than memory. Out of date while an owner has modified the line.
    Dirty(Value),
}

impl LlcBlock {
    /// Returns the content of the block, if it is present.
    #[must_use]
    pub const fn value(self) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Clean(value) | Self::Dirty(value) => Some(value),
        }
    }
}

/// Kind of access that a requester needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum AccessKind {
    /// Cache a copy for reading.
    Read,
    /// Become the owner.
    Write,
    /// Read without caching.
    Look,
}

/// Pending transaction of a line, which delays the next request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum LineTransaction {
    /// No transaction.
    #[default]
    Idle,
    /// The line is fetched from memory.
    Fetching {
        /// Kind of access.
        want: AccessKind,
        /// Agent that requested the line.
        requester: Agent,
        /// Acknowledgements that the requester will have to wait for.
        acks: u8,
    },
    /// The request was forwarded to the owner. The requester's closing acknowledgement, or the owner's NoCopy, is
    /// awaited.
    Forwarded {
        /// Kind of access.
        want: AccessKind,
        /// Agent that requested the line.
        requester: Agent,
    },
    /// The requester's closing acknowledgement is awaited.
    Closing(Agent),
    /// Acknowledgements of the holders are awaited, before an uncached write may become visible.
    Overwriting {
        /// Writing agent.
        requester: Agent,
        /// Content of the line after the write.
        value: Value,
        /// Acknowledgements that are missing.
        acks: u8,
    },
}

/// State of a line at its home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DirectoryLine {
    /// Agents that have the line.
    pub holders: LineHolders,
    /// Block of the line in the LLC.
    pub block: LlcBlock,
    /// Pending transaction.
    pub busy: LineTransaction,
}

impl DirectoryLine {
    /// Returns true if requests have to wait.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy != LineTransaction::Idle
    }

    pub(super) const fn state(&self) -> &'static str {
        match self.busy {
            LineTransaction::Idle => "idle",
            LineTransaction::Fetching { .. } => "fetching",
            LineTransaction::Forwarded { .. } => "forwarded",
            LineTransaction::Closing(_) => "closing",
            LineTransaction::Overwriting { .. } => "overwriting",
        }
    }
}
