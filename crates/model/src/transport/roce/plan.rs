//! Mapping from packet sequence numbers to bytes. All messages of a flow except the last have the same size, so the
//! mapping is arithmetic; messages of ranks are posted one by one.

use super::posted::{PostedMessages, RdmaMessage};
use crate::params::{RoceParams, Traffic};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Messages {
    /// Messages of `each` bytes in `packets` packets each, `total` bytes altogether.
    Alike {
        total: u64,
        each: u64,
        packets: u64,
    },
    PostedMessages(PostedMessages),
}

/// The messages of a flow and their packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct MessagePlan {
    mtu: u64,
    messages: Messages,
}

/// Data of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PacketPayload {
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
    pub(crate) last: bool,
}

impl MessagePlan {
    /// Creates the plan of a flow. Traffic other than writes, reads and messages of ranks sends nothing.
    pub(crate) fn new(params: &RoceParams, traffic: &Traffic) -> Self {
        let each = params.message_bytes.max(1);
        let mtu = u64::from(params.mtu_bytes.max(1));
        let alike = |total| Messages::Alike { total, each, packets: each.div_ceil(mtu) };
        let messages = match traffic {
            Traffic::Bulk { bytes } | Traffic::Read { bytes } => alike(*bytes),
            Traffic::Messages(_) => Messages::PostedMessages(PostedMessages::new(each, mtu, params.in_flight)),
            _ => alike(0),
        };
        Self { mtu, messages }
    }

    /// Returns the posted messages, if the flow is between ranks.
    pub(crate) fn posted(&self) -> Option<&PostedMessages> {
        match &self.messages {
            Messages::PostedMessages(posted) => Some(posted),
            Messages::Alike { .. } => None,
        }
    }

    /// Returns the posted messages mutably, if the flow is between ranks.
    pub(crate) fn posted_mut(&mut self) -> Option<&mut PostedMessages> {
        match &mut self.messages {
            Messages::PostedMessages(posted) => Some(posted),
            Messages::Alike { .. } => None,
        }
    }

    /// Returns the packets of all messages.
    pub(crate) fn packets(&self) -> u64 {
        match &self.messages {
            Messages::Alike { total, each, packets } => total / each * packets + (total % each).div_ceil(self.mtu),
            Messages::PostedMessages(posted) => posted.packets(),
        }
    }

    /// Returns the packets of the first `messages` messages.
    pub(crate) fn packets_of(&self, messages: u64) -> u64 {
        match &self.messages {
            Messages::Alike { packets, .. } => messages.saturating_mul(*packets).min(self.packets()),
            Messages::PostedMessages(posted) => posted.packets_of(messages),
        }
    }

    /// Returns the message of packet `sequence`, which must be one of the flow's.
    fn message(&self, sequence: u64) -> RdmaMessage {
        match &self.messages {
            Messages::Alike { total, each, packets } => {
                let number = sequence / packets;
                let offset = number * each;
                RdmaMessage { first: number * packets, offset, bytes: *each.min(&(total - offset)) }
            }
            Messages::PostedMessages(posted) => posted.message(sequence),
        }
    }

    /// Returns the data of packet `sequence`, which must be one of the flow's.
    pub(crate) fn piece(&self, sequence: u64) -> PacketPayload {
        let message = self.message(sequence);
        let within = (sequence - message.first) * self.mtu;
        // The last packet of a message may be shorter.
        let bytes = self.mtu.min(message.bytes - within);
        PacketPayload { offset: message.offset + within, bytes: bytes as u32, last: within + bytes == message.bytes }
    }

    /// Returns the bytes from packet `sequence` to the end of its message, limited to `limit` packets.
    pub(crate) fn rest(&self, sequence: u64, limit: u64) -> u64 {
        let message = self.message(sequence);
        (message.bytes - (sequence - message.first) * self.mtu).min(limit * self.mtu)
    }

    /// Returns the packets that `bytes` bytes take.
    pub(crate) fn packets_in(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mtu)
    }
}
