//! Messages that a step sends, of fixed size and without heap allocation.

use serde::{Deserialize, Serialize};

use crate::{Message, Node, Sharers};

/// Message with its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SentMessage {
    /// Receiver of the message.
    pub to: Node,
    /// Message sent.
    pub message: Message,
}

/// Messages that a step sends: invalidations to a set of agents, and one further message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sends {
    invalidated: Sharers,
    requester: Option<Node>,
    other: Option<SentMessage>,
}

impl Sends {
    /// No messages.
    pub const NONE: Self = Self { invalidated: Sharers::NONE, requester: None, other: None };

    /// Creates the sends of one message.
    #[must_use]
    pub const fn one(to: Node, message: Message) -> Self {
        Self { invalidated: Sharers::NONE, requester: None, other: Some(SentMessage { to, message }) }
    }

    /// Adds an invalidation to each agent of a set, to be acknowledged to `requester`, to the sends `also`.
    #[must_use]
    pub(crate) const fn invalidating(agents: Sharers, requester: Node, also: Self) -> Self {
        Self { invalidated: agents, requester: Some(requester), other: also.other }
    }

    /// Returns true if nothing is sent.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.invalidated.is_empty() && self.other.is_none()
    }

    /// Iterates over the messages: invalidations first, lowest agent first.
    pub fn iter(self) -> impl Iterator<Item = SentMessage> {
        let requester = self.requester.unwrap_or(Node::Home);
        let to = move |agent| SentMessage { to: Node::Agent(agent), message: Message::Inv { requester } };
        // A fixed order, so that runs do not depend on how the set came about.
        self.invalidated.iter().map(to).chain(self.other)
    }
}
