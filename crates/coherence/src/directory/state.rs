//! What the home knows of a line.

use serde::{Deserialize, Serialize};

use crate::{Agent, Sharers, Value};

/// Who has the line, as far as the directory knows. Clean lines may have been dropped since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Holders {
    /// Nobody.
    #[default]
    Nobody,
    /// At most these, to read.
    Shared(Sharers),
    /// At most this one, to read and write.
    Owned(Agent),
}

impl Holders {
    /// All of them but one agent.
    #[must_use]
    pub const fn others(self, than: Agent) -> Sharers {
        self.all().without(than)
    }

    /// All of them.
    #[must_use]
    pub const fn all(self) -> Sharers {
        match self {
            Self::Nobody => Sharers::NONE,
            Self::Shared(sharers) => sharers,
            Self::Owned(owner) => Sharers::NONE.with(owner),
        }
    }
}

/// The line's block of the LLC, which has its own comings and goings: the LLC is not inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Block {
    /// Not there.
    #[default]
    Absent,
    /// As memory has it. Out of date while an owner has modified the line.
    Clean(Value),
    /// Memory has not got it yet. Out of date while an owner has modified the line.
    Dirty(Value),
}

impl Block {
    /// What it holds.
    #[must_use]
    pub const fn value(self) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Clean(value) | Self::Dirty(value) => Some(value),
        }
    }
}

/// What a requester wants to do with the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Want {
    /// Keep a copy to read.
    Read,
    /// Own it.
    Write,
    /// Read it without keeping it.
    Look,
}

/// What the line waits for before the next request may come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Busy {
    /// Nothing.
    #[default]
    Idle,
    /// Its data from memory.
    Fetching {
        /// What for.
        want: Want,
        /// Whom for.
        requester: Agent,
        /// Acknowledgements that the requester will have to wait for.
        acks: u8,
    },
    /// The owner has been asked: the requester's closing acknowledgement, or word that the owner has no copy.
    Forwarded {
        /// What for.
        want: Want,
        /// Whom for.
        requester: Agent,
    },
    /// The requester's closing acknowledgement.
    Closing(Agent),
    /// Acknowledgements of holders, so that an uncached write may be seen.
    Overwriting {
        /// Who writes.
        requester: Agent,
        /// What the line will hold.
        value: Value,
        /// Acknowledgements that are missing.
        acks: u8,
    },
}

/// The state of a line at its home.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DirectoryLine {
    /// Who has it.
    pub holders: Holders,
    /// Its block of the LLC.
    pub block: Block,
    /// What it waits for.
    pub busy: Busy,
}

impl DirectoryLine {
    /// Whether requests have to wait.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.busy != Busy::Idle
    }

    pub(super) const fn state(&self) -> &'static str {
        match self.busy {
            Busy::Idle => "idle",
            Busy::Fetching { .. } => "fetching",
            Busy::Forwarded { .. } => "forwarded",
            Busy::Closing(_) => "closing",
            Busy::Overwriting { .. } => "overwriting",
        }
    }
}
