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
    /// A request that leaves the chip, for a line of an operation.
    Request {
        /// The line of the operation.
        flight: u32,
        /// Whether it writes, and has the line with it.
        carries_line: bool,
    },
    /// A response that has come to the chip.
    Reply {
        /// The line of the operation.
        flight: u32,
        /// Whether it has the line with it.
        carries_line: bool,
    },
}

/// A packet's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Letter {
    pub(crate) to: Unit,
    pub(crate) line: u64,
    pub(crate) body: Body,
}

/// Bytes of a header, which is all of a message without more; of a line; of an entry of a work queue, or what a request
/// of another chip says.
const HEADER: u32 = 16;
const LINE: u32 = 64;
const ENTRY: u32 = 16;

impl Letter {
    /// Its class, and its length in flits of so many bytes.
    pub(crate) fn shape(&self, flit_bytes: u32) -> (u8, u16) {
        let (class, bytes) = self.bytes();
        (class, bytes.div_ceil(flit_bytes) as u16)
    }

    fn bytes(&self) -> (u8, u32) {
        let with = |carries_line: bool| if carries_line { LINE } else { 0 };
        match self.body {
            Body::Coherent { message, .. } => {
                let class = match (message.class(), message) {
                    (Class::Request, _) => class::REQUEST,
                    (Class::Forward, Message::FetchMemory | Message::WriteMemory(_)) => class::MEMORY,
                    (Class::Forward, _) => class::FORWARD,
                    (Class::Response, _) => class::RESPONSE,
                };
                (class, HEADER + with(message.carries_data()))
            }
            Body::WqEntry { .. } => (class::NETWORK, HEADER + ENTRY),
            Body::CqEntry { .. } => (class::NETWORK, HEADER),
            Body::Request { carries_line, .. } => (class::NETWORK, HEADER + ENTRY + with(carries_line)),
            Body::Reply { carries_line, .. } => (class::NETWORK, HEADER + with(carries_line)),
        }
    }
}
