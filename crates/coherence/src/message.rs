//! The messages of the protocol, about one line.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Agent, Node, Value};

/// What routes and virtual channels tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Class {
    /// Of agents to the home; may wait there for as long as the line is busy.
    Request,
    /// Everything that a directory sends, to agents and to memory.
    Forward,
    /// What agents and memory answer; the receiver always takes it.
    Response,
}

/// A message about one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Message {
    /// Asks for a copy to read.
    GetRo,
    /// Asks for the line to write it.
    GetX,
    /// Writes a modified line back.
    PutM(Value),
    /// Reads the line without keeping it.
    ReadOnce,
    /// Writes the whole line without reading it.
    WriteLine(Value),

    /// Drop the line and acknowledge to the requester.
    Inv {
        /// Who counts the acknowledgements: the agent that writes, or the home for an uncached write.
        requester: Node,
    },
    /// Hand a clean copy to the requester and keep one.
    ForwardRo {
        /// Who reads.
        requester: Agent,
    },
    /// Hand the line to the requester and drop it.
    ForwardX {
        /// Who writes.
        requester: Agent,
    },
    /// Tell the requester what the line holds and keep it as it is.
    ForwardOnce {
        /// Who reads uncached.
        requester: Agent,
    },
    /// The line from the LLC or memory.
    Data {
        /// What it holds.
        value: Value,
        /// MissNotify: how many [`Message::InvAck`] to wait for.
        acks: u8,
        /// Nobody else has it.
        exclusive: bool,
    },
    /// What the line holds, for an uncached read.
    DataOnce(Value),
    /// A [`Message::PutM`] has been taken or was out of date.
    PutAck,
    /// A [`Message::WriteLine`] is visible to all.
    WriteAck,
    /// Asks memory for the line.
    FetchMemory,
    /// Writes a dirty block of the LLC to memory. Must not be passed by a later [`Message::FetchMemory`] of the line.
    WriteMemory(Value),

    /// The line from its owner.
    OwnerData {
        /// What it holds.
        value: Value,
        /// Neither the LLC nor memory has it so.
        dirty: bool,
    },
    /// What the line holds, from its owner, for an uncached read.
    OwnerDataOnce(Value),
    /// The line has been dropped, or had been before.
    InvAck,
    /// An owner that had dropped its clean line was asked for it: the home has to answer.
    NoCopy,
    /// The requester is served; the line is free for the next one.
    Done {
        /// The block, if it came modified from its owner and is shared now.
        copy: Option<Value>,
    },
    /// The line from memory.
    MemoryData(Value),
}

impl Message {
    /// Its class.
    #[must_use]
    pub const fn class(self) -> Class {
        match self {
            Self::GetRo | Self::GetX | Self::PutM(_) | Self::ReadOnce | Self::WriteLine(_) => Class::Request,
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

    /// Whether it carries the line: 5 flits of 16 B instead of one.
    #[must_use]
    pub const fn carries_data(self) -> bool {
        self.value().is_some()
    }

    /// What the line holds that it carries.
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
            Self::Done { copy } => copy,
            _ => None,
        }
    }

    /// A short name.
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
