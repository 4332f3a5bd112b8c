//! Which bytes a packet sequence number stands for. All messages of a flow but the last are of one size, so that this
//! is arithmetic; those of ranks are posted one by one.

use super::posted::Posted;
use crate::params::{RoceParams, Traffic};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Messages {
    /// So many bytes, in messages of `each` bytes that take `packets` packets.
    Alike {
        total: u64,
        each: u64,
        packets: u64,
    },
    Posted(Posted),
}

/// The messages of a flow and their packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    mtu: u64,
    messages: Messages,
}

/// A message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    /// Its first packet.
    pub(crate) first: u64,
    /// Where its data lies, and how much that is.
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
    pub(crate) last: bool,
}

impl Plan {
    /// Nothing is sent if the traffic is neither writes, reads nor messages of ranks.
    pub(crate) fn new(params: &RoceParams, traffic: &Traffic) -> Self {
        let each = params.message_bytes.max(1);
        let mtu = u64::from(params.mtu_bytes.max(1));
        let alike = |total| Messages::Alike { total, each, packets: each.div_ceil(mtu) };
        let messages = match traffic {
            Traffic::Bulk { bytes } | Traffic::Read { bytes } => alike(*bytes),
            Traffic::Messages(_) => Messages::Posted(Posted::new(each, mtu, params.in_flight)),
            _ => alike(0),
        };
        Self { mtu, messages }
    }

    /// Messages that were posted one by one, if they are such.
    pub(crate) fn posted(&self) -> Option<&Posted> {
        match &self.messages {
            Messages::Posted(posted) => Some(posted),
            Messages::Alike { .. } => None,
        }
    }

    /// The same, to change them.
    pub(crate) fn posted_mut(&mut self) -> Option<&mut Posted> {
        match &mut self.messages {
            Messages::Posted(posted) => Some(posted),
            Messages::Alike { .. } => None,
        }
    }

    /// Packets of all messages.
    pub(crate) fn packets(&self) -> u64 {
        match &self.messages {
            Messages::Alike { total, each, packets } => total / each * packets + (total % each).div_ceil(self.mtu),
            Messages::Posted(posted) => posted.packets(),
        }
    }

    /// The packets of the first `messages` messages.
    pub(crate) fn packets_of(&self, messages: u64) -> u64 {
        match &self.messages {
            Messages::Alike { packets, .. } => messages.saturating_mul(*packets).min(self.packets()),
            Messages::Posted(posted) => posted.packets_of(messages),
        }
    }

    /// The message of packet `sequence`, which must be one of the flow's.
    fn message(&self, sequence: u64) -> Message {
        match &self.messages {
            Messages::Alike { total, each, packets } => {
                let number = sequence / packets;
                let offset = number * each;
                Message { first: number * packets, offset, bytes: *each.min(&(total - offset)) }
            }
            Messages::Posted(posted) => posted.message(sequence),
        }
    }

    /// What packet `sequence` carries; it must be one of the flow's.
    pub(crate) fn piece(&self, sequence: u64) -> Piece {
        let message = self.message(sequence);
        let within = (sequence - message.first) * self.mtu;
        let bytes = self.mtu.min(message.bytes - within);
        Piece { offset: message.offset + within, bytes: bytes as u32, last: within + bytes == message.bytes }
    }

    /// Bytes from packet `sequence` to the end of its message, at most `limit` packets.
    pub(crate) fn rest(&self, sequence: u64, limit: u64) -> u64 {
        let message = self.message(sequence);
        (message.bytes - (sequence - message.first) * self.mtu).min(limit * self.mtu)
    }

    /// Packets of `bytes` bytes.
    pub(crate) fn packets_in(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mtu)
    }
}
