//! What the protocol does not allow.

use std::fmt;

use crate::{Message, Node};

/// Where a message came that nobody can have sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A cache, or a tile as a whole.
    Cache,
    /// Who reads and writes uncached.
    Uncached,
    /// The home of the line.
    Directory,
}

/// A message that the protocol does not allow in this state. It means that somebody does not follow the protocol, or
/// that messages are lost, doubled or told to the wrong line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// Where it came.
    pub place: Place,
    /// The state that the line is in there.
    pub state: &'static str,
    /// Who sent it.
    pub from: Node,
    /// The message.
    pub message: Message,
}

impl fmt::Display for Illegal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = match self.place {
            Place::Cache => "a cache",
            Place::Uncached => "an uncached agent",
            Place::Directory => "the directory",
        };
        write!(f, "{} from {} at {place} in state {}", self.message, self.from, self.state)
    }
}

impl std::error::Error for Illegal {}
