//! What a step sends: a fixed number of messages, without a heap.

use serde::{Deserialize, Serialize};

use crate::{Message, Node, Sharers};

/// A message and its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Sent {
    /// The receiver.
    pub to: Node,
    /// What it gets.
    pub message: Message,
}

/// What a step sends: invalidations to a set of agents, and one message besides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sends {
    invalidated: Sharers,
    requester: Option<Node>,
    other: Option<Sent>,
}

impl Sends {
    /// Nothing.
    pub const NONE: Self = Self { invalidated: Sharers::NONE, requester: None, other: None };

    /// One message.
    #[must_use]
    pub const fn one(to: Node, message: Message) -> Self {
        Self { invalidated: Sharers::NONE, requester: None, other: Some(Sent { to, message }) }
    }

    /// An invalidation to each agent of a set, which is acknowledged to `requester`, and what else is sent.
    #[must_use]
    pub(crate) const fn invalidating(agents: Sharers, requester: Node, also: Self) -> Self {
        Self { invalidated: agents, requester: Some(requester), other: also.other }
    }

    /// Whether nothing is sent.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.invalidated.is_empty() && self.other.is_none()
    }

    /// The messages: invalidations first, lowest agent first.
    pub fn iter(self) -> impl Iterator<Item = Sent> {
        let requester = self.requester.unwrap_or(Node::Home);
        let to = move |agent| Sent { to: Node::Agent(agent), message: Message::Inv { requester } };
        self.invalidated.iter().map(to).chain(self.other)
    }
}
