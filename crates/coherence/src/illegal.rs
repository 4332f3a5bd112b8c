//! Error for messages that the protocol forbids.

use std::fmt;

use crate::{Message, Node};

/// Place that received an illegal message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A cache, or a tile as one agent.
    Cache,
    /// An uncached agent.
    Uncached,
    /// The home of the line.
    Directory,
}

/// Message that the protocol forbids in the current state. It means that an agent does not follow the protocol, or
/// that messages are lost, duplicated or delivered to the wrong line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Illegal {
    /// Place that received the message.
    pub place: Place,
    /// State of the line at that place.
    pub state: &'static str,
    /// Sender of the message.
    pub from: Node,
    /// Message received.
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
