//! One line at an agent that reads and writes it without keeping it: an NI with data of a transfer.
//!
//! It has at most one access to a line in flight.

use serde::{Deserialize, Serialize};

use crate::cache::Completion;
use crate::{Illegal, Message, Node, Place, Sends, Value};

/// The access of an uncached agent to a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UncachedLine {
    /// None.
    #[default]
    Idle,
    /// A ReadOnce is on its way.
    Reading,
    /// A WriteLine is on its way.
    Writing,
}

/// What happens at an uncached agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UncachedEvent {
    /// It reads the line.
    Read,
    /// It writes the whole line.
    Write(Value),
    /// A message comes.
    Receive {
        /// Its sender.
        from: Node,
        /// The message.
        message: Message,
    },
}

/// What an uncached agent does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UncachedStep {
    /// The new state.
    pub line: UncachedLine,
    /// What is sent.
    pub out: Sends,
    /// The access that is served. What a read gives was the newest at some time since it was asked for.
    pub done: Option<Completion>,
    /// The access has to wait for the one before it.
    pub stall: bool,
}

/// What an uncached agent does when something happens.
///
/// # Errors
///
/// If the message cannot come in this state.
pub fn step(line: UncachedLine, event: UncachedEvent) -> Result<UncachedStep, Illegal> {
    let to = |line, out, done| UncachedStep { line, out, done, stall: false };
    let ask = |line, message| to(line, Sends::one(Node::Home, message), None);
    let end = |out, done| to(UncachedLine::Idle, out, Some(done));
    Ok(match (line, event) {
        (UncachedLine::Idle, UncachedEvent::Read) => ask(UncachedLine::Reading, Message::ReadOnce),
        (UncachedLine::Idle, UncachedEvent::Write(value)) => ask(UncachedLine::Writing, Message::WriteLine(value)),
        (_, UncachedEvent::Read | UncachedEvent::Write(_)) => {
            UncachedStep { stall: true, ..to(line, Sends::NONE, None) }
        }
        (UncachedLine::Reading, UncachedEvent::Receive { message: Message::DataOnce(value), .. }) => {
            end(Sends::NONE, Completion::Loaded(value))
        }
        // The home waits until the owner has answered, so that its question cannot come when the line has moved on.
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
    /// A short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Reading => "reading",
            Self::Writing => "writing",
        }
    }
}
