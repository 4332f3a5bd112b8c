//! Messages on the network of a chip.

use crate::floor::Unit;
use crate::params::class;
use hostnet_coherence::{Class, Message, Node};
use serde::{Deserialize, Serialize};

/// Identifies the line of a request that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Token {
    /// Purpose of the line.
    pub(crate) what: Purpose,
    /// Number of the operation's line, or of the remote request.
    pub(crate) id: u32,
    /// Index of the line within its operation.
    pub(crate) index: u32,
}

/// Purpose for which a line is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// A queue, or a line that no operation waits for.
    Queue,
    /// A remote request that is served on this chip.
    Served,
    /// A line that a write of this chip sends to another chip.
    Outgoing,
    /// A line that a read of this chip has fetched.
    Incoming,
}

impl Token {
    pub(crate) const NONE: Self = Self { what: Purpose::Queue, id: 0, index: 0 };
}

/// Content of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum MessageBody {
    /// A coherence message about a line.
    Coherent {
        /// Sender.
        from: Node,
        /// Protocol message.
        message: Message,
        /// Request that the message belongs to.
        token: Token,
    },
    /// A work queue entry on its path to the backend.
    WqEntry {
        /// Number of the operation.
        op: u32,
    },
    /// A completion queue entry on its path to the frontend.
    CqEntry {
        /// Number of the operation.
        op: u32,
    },
    /// A request that leaves the chip, for one line of an operation.
    Request {
        /// Number of the operation's line.
        flight: u32,
        /// True for a write, which carries the line.
        carries_line: bool,
    },
    /// A response that has arrived at the chip.
    Reply {
        /// Number of the operation's line.
        flight: u32,
        /// True if the response carries the line.
        carries_line: bool,
    },
}

/// A message: destination, line and content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChipMessage {
    pub(crate) to: Unit,
    pub(crate) line: u64,
    pub(crate) body: MessageBody,
}

/// Size of a header in bytes, which is all of a message without more.
const HEADER: u32 = 16;
/// Size of a line, in bytes.
const LINE: u32 = 64;
/// Size of a work queue entry, or of the description of a request to another chip, in bytes.
const ENTRY: u32 = 16;

impl ChipMessage {
    /// Returns the message class, and the length in flits of `flit_bytes` bytes.
    pub(crate) fn shape(&self, flit_bytes: u32) -> (u8, u16) {
        let (class, bytes) = self.bytes();
        (class, bytes.div_ceil(flit_bytes) as u16)
    }

    fn bytes(&self) -> (u8, u32) {
        let with = |carries_line: bool| if carries_line { LINE } else { 0 };
        match self.body {
            MessageBody::Coherent { message, .. } => {
                let class = match (message.class(), message) {
                    (Class::Request, _) => class::REQUEST,
                    // A class of their own, so that routing by class can send them along the column first.
                    (Class::Forward, Message::FetchMemory | Message::WriteMemory(_)) => class::MEMORY,
                    (Class::Forward, _) => class::FORWARD,
                    (Class::Response, _) => class::RESPONSE,
                };
                (class, HEADER + with(message.carries_data()))
            }
            MessageBody::WqEntry { .. } => (class::NETWORK, HEADER + ENTRY),
            MessageBody::CqEntry { .. } => (class::NETWORK, HEADER),
            MessageBody::Request { carries_line, .. } => (class::NETWORK, HEADER + ENTRY + with(carries_line)),
            MessageBody::Reply { carries_line, .. } => (class::NETWORK, HEADER + with(carries_line)),
        }
    }
}
