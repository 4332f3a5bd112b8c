//! What goes over the network of a chip.

use crate::floor::Unit;
use crate::params::class;
use hostnet_coherence::{Class, Message, Node};
use serde::{Deserialize, Serialize};

/// A line of a request, on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    /// What for.
    pub(crate) what: Purpose,
    /// Which operation, or which remote request.
    pub(crate) id: u32,
    /// Which of its lines.
    pub(crate) index: u32,
}

/// What a line is moved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// A queue, or nothing that anybody waits for.
    Queue,
    /// A remote request that is served here.
    Served,
    /// A line that an own write sends out.
    Outgoing,
    /// A line that an own read has brought.
    Incoming,
}

impl Token {
    pub(crate) const NONE: Self = Self { what: Purpose::Queue, id: 0, index: 0 };
}

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Body {
    /// Something about a line.
    Coherent {
        /// Who says it.
        from: Node,
        /// What.
        message: Message,
        /// What it is about.
        token: Token,
    },
    /// An entry of a work queue, to the backend.
    WqEntry {
        /// The operation.
        op: u32,
    },
    /// An entry of a completion queue, to the frontend.
    CqEntry {
        /// The operation.
        op: u32,
    },
    /// A request that leaves the chip.
    Request(Token),
    /// A response that has come to the chip.
    Reply(Token),
}

/// A packet's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(crate) to: Unit,
    pub(crate) line: u64,
    pub(crate) body: Body,
}

/// Flits of a line and its header, and of an entry of a queue or a request with its header.
const DATA_FLITS: u16 = 5;
const ENTRY_FLITS: u16 = 2;

impl Letter {
    /// Its class, and its length in flits of 16 B.
    pub(crate) fn shape(&self, carries_line: bool) -> (u8, u16) {
        match &self.body {
            Body::Coherent { message, .. } => {
                let flits = if message.carries_data() { DATA_FLITS } else { 1 };
                let class = match (message.class(), message) {
                    (Class::Request, _) => class::REQUEST,
                    (Class::Forward, Message::FetchMemory | Message::WriteMemory(_)) => class::MEMORY,
                    (Class::Forward, _) => class::FORWARD,
                    (Class::Response, _) => class::RESPONSE,
                };
                (class, flits)
            }
            Body::WqEntry { .. } => (class::NETWORK, ENTRY_FLITS),
            Body::CqEntry { .. } => (class::NETWORK, 1),
            Body::Request(_) => (class::NETWORK, if carries_line { DATA_FLITS + 1 } else { ENTRY_FLITS }),
            Body::Reply(_) => (class::NETWORK, if carries_line { DATA_FLITS } else { 1 }),
        }
    }
}
