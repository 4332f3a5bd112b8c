//! One line at an agent that reads and writes it without caching it: an NI with the data of a transfer.
//!
//! The agent has at most one access to a line in flight.

use serde::{Deserialize, Serialize};

use crate::cache::Completion;
use crate::{Illegal, Message, Node, Place, Sends, Value};

/// Access of an uncached agent to a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UncachedLine {
    /// No access.
    #[default]
    Idle,
    /// A ReadOnce is in flight.
    Reading,
    /// A WriteLine is in flight.
    Writing,
}

/// Event at an uncached agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UncachedEvent {
    /// The agent reads the line.
    Read,
    /// The agent writes the whole line.
    Write(Value),
    /// A message arrives.
    Receive {
        /// Sender of the message.
        from: Node,
        /// Message received.
        message: Message,
    },
}

/// Result of a step of an uncached agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncachedStep {
    /// New state.
    pub line: UncachedLine,
    /// Messages sent.
    pub out: Sends,
    /// Access that completes. A read returns a value that was current at some time since its request.
    pub done: Option<Completion>,
    /// True if the access must wait for the one before it.
    pub stall: bool,
}

/// Computes the step of an uncached agent for an event.
///
/// # Errors
///
/// Returns [`Illegal`] if the message is impossible in this state.
pub fn step(line: UncachedLine, event: UncachedEvent) -> Result<UncachedStep, Illegal> {
    let to = |line, out, done| UncachedStep { line, out, done, stall: false };
    let ask = |line, message| to(line, Sends::one(Node::Home, message), None);
    let end = |out, done| to(UncachedLine::Idle, out, Some(done));
    Ok(match (line, event) {
        (UncachedLine::Idle, UncachedEvent::Read) => ask(UncachedLine::Reading, Message::ReadOnce),
        (UncachedLine::Idle, UncachedEvent::Write(value)) => ask(UncachedLine::Writing, Message::WriteLine(value)),
        // One access to a line at a time: two could overtake each other.
        (_, UncachedEvent::Read | UncachedEvent::Write(_)) => {
            UncachedStep { stall: true, ..to(line, Sends::NONE, None) }
        }
        (UncachedLine::Reading, UncachedEvent::Receive { message: Message::DataOnce(value), .. }) => {
            end(Sends::NONE, Completion::Loaded(value))
        }
        // The home waits until the owner has answered, so that its forward cannot arrive after the line has moved on.
        (UncachedLine::Reading, UncachedEvent::Receive { message: Message::OwnerDataOnce(value), .. }) => {
            end(Sends::one(Node::Home, Message::Done { copy: None }), Completion::Loaded(value))
        }
        (UncachedLine::Writing, UncachedEvent::Receive { message: Message::WriteAck, .. }) => {
            end(Sends::NONE, Completion::Stored)
        }
        (_, UncachedEvent::Receive { from, message }) => {
            return Err(Illegal { place: Place::Uncached, state: line.name(), from, message });
        }
    })
}

impl UncachedLine {
    /// Returns a short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Reading => "reading",
            Self::Writing => "writing",
        }
    }
}
