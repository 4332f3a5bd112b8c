//! Messages of the protocol, each about one line.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Agent, Node, Value};

/// Message class, by which routes and virtual channels are assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Requests of agents to the home; they may wait there for as long as the line is busy.
    Request,
    /// All messages that a directory sends, to agents and to memory.
    Forward,
    /// Responses of agents and memory; the receiver always accepts them.
    Response,
}

/// Message about one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Requests a copy for reading.
    GetRo,
    /// Requests the line for writing.
    GetX,
    /// Writes a modified line back.
    PutM(Value),
    /// Reads the line without caching it.
    ReadOnce,
    /// Writes the whole line without reading it.
    WriteLine(Value),

    /// Invalidates the line; the receiver acknowledges to the requester.
    Inv {
        /// Node that counts the acknowledgements: the writing agent, or the home for an uncached write.
        requester: Node,
    },
    /// Requests the owner to send a clean copy to the requester and to keep one.
    ForwardRo {
        /// Reading agent.
        requester: Agent,
    },
    /// Requests the owner to send the line to the requester and to drop it.
    ForwardX {
        /// Writing agent.
        requester: Agent,
    },
    /// Requests the owner to send the content of the line to the requester; the owner keeps its state.
    ForwardOnce {
        /// Agent that reads uncached.
        requester: Agent,
    },
    /// Line from the LLC or memory.
    Data {
        /// Content of the line.
        value: Value,
        /// MissNotify: number of [`Message::InvAck`] to wait for.
        acks: u8,
        /// True if no other agent has the line.
        exclusive: bool,
    },
    /// Content of the line, for an uncached read.
    DataOnce(Value),
    /// Acknowledges a [`Message::PutM`], which was accepted or was out of date.
    PutAck,
    /// Acknowledges a [`Message::WriteLine`], which is visible to all agents.
    WriteAck,
    /// Requests the line from memory.
    FetchMemory,
    /// Writes a dirty block of the LLC to memory. A later [`Message::FetchMemory`] of the line must not overtake it.
    WriteMemory(Value),

    /// Line from its owner.
    OwnerData {
        /// Content of the line.
        value: Value,
        /// True if neither the LLC nor memory has this content.
        dirty: bool,
    },
    /// Content of the line from its owner, for an uncached read.
    OwnerDataOnce(Value),
    /// Acknowledges an invalidation: the line has been dropped, now or before.
    InvAck,
    /// Sent by an owner that had dropped its clean line before a forward arrived: the home has to answer.
    NoCopy,
    /// Closes a request: the requester is served, and the line is free for the next request.
    Done {
        /// Content of the line, if it was modified at its owner and is now shared.
        copy: Option<Value>,
    },
    /// Line from memory.
    MemoryData(Value),
}

impl Message {
    /// Returns the class of the message.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::GetRo | Self::GetX | Self::PutM(_) | Self::ReadOnce | Self::WriteLine(_) => Class::Request,
            // By sender and not by purpose: what directories send shares one class (ISCA 2015, section 4.3).
            Self::Inv { .. }
            | Self::ForwardRo { .. }
            | Self::ForwardX { .. }
            | Self::ForwardOnce { .. }
            | Self::Data { .. }
            | Self::DataOnce(_)
            | Self::PutAck
            | Self::WriteAck
            | Self::FetchMemory
            | Self::WriteMemory(_) => Class::Forward,
            Self::OwnerData { .. }
            | Self::OwnerDataOnce(_)
            | Self::InvAck
            | Self::NoCopy
            | Self::Done { .. }
            | Self::MemoryData(_) => Class::Response,
        }
    }

    /// Returns true if the message carries the line: 5 flits of 16 B instead of one.
    #[must_use]
    pub const fn carries_data(self) -> bool {
        self.value().is_some()
    }

    /// Returns the content of the line that the message carries, if any.
    #[must_use]
    pub const fn value(self) -> Option<Value> {
        match self {
            Self::PutM(value)
            | Self::WriteLine(value)
            | Self::DataOnce(value)
            | Self::WriteMemory(value)
            | Self::OwnerDataOnce(value)
            | Self::MemoryData(value)
            | Self::Data { value, .. }
            | Self::OwnerData { value, .. } => Some(value),
            // Done carries the line only if its owner had modified it, and then takes five flits.
            Self::Done { copy } => copy,
            _ => None,
        }
    }

    /// Returns a short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::GetRo => "GetRO",
            Self::GetX => "GetX",
            Self::PutM(_) => "PutM",
            Self::ReadOnce => "ReadOnce",
            Self::WriteLine(_) => "WriteLine",
            Self::Inv { .. } => "Inv",
            Self::ForwardRo { .. } => "ForwardRO",
            Self::ForwardX { .. } => "ForwardX",
            Self::ForwardOnce { .. } => "ForwardOnce",
            Self::Data { acks: 0, .. } => "Data",
            Self::Data { .. } => "Data+MissNotify",
            Self::DataOnce(_) => "DataOnce",
            Self::PutAck => "PutAck",
            Self::WriteAck => "WriteAck",
            Self::FetchMemory => "FetchMemory",
            Self::WriteMemory(_) => "WriteMemory",
            Self::OwnerData { .. } => "OwnerData",
            Self::OwnerDataOnce(_) => "OwnerDataOnce",
            Self::InvAck => "InvAck",
            Self::NoCopy => "NoCopy",
            Self::Done { copy: None } => "Done",
            Self::Done { .. } => "Done+copy",
            Self::MemoryData(_) => "MemoryData",
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self {
            Self::Inv { requester } => write!(f, " for {requester}"),
            Self::ForwardRo { requester } | Self::ForwardX { requester } | Self::ForwardOnce { requester } => {
                write!(f, " for agent {}", requester.index())
            }
            Self::Data { value, acks, exclusive } => {
                write!(f, "({value}{}", if *exclusive { ", exclusive" } else { "" })?;
                if *acks > 0 {
                    write!(f, ", {acks} acks")?;
                }
                f.write_str(")")
            }
            Self::OwnerData { value, dirty } => write!(f, "({value}{})", if *dirty { ", dirty" } else { "" }),
            other => other.value().map_or(Ok(()), |value| write!(f, "({value})")),
        }
    }
}
