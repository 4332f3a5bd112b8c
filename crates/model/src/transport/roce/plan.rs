//! Which bytes a packet sequence number stands for. All messages but the last are of one size, so that this is
//! arithmetic.

use crate::params::{RoceParams, Traffic};
use serde::{Deserialize, Serialize};

/// The messages of a flow and their packets.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Plan {
    message: u64,
    mtu: u64,
    total: u64,
    /// Packets of a message.
    per_message: u64,
}

/// What a packet carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Piece {
    pub(crate) offset: u64,
    pub(crate) bytes: u32,
    pub(crate) last: bool,
}

impl Plan {
    /// Nothing is sent if the traffic is neither writes nor reads.
    pub(crate) fn new(params: &RoceParams, traffic: &Traffic) -> Self {
        let total = match traffic {
            Traffic::Bulk { bytes } | Traffic::Read { bytes } => *bytes,
            _ => 0,
        };
        let message = params.message_bytes.max(1);
        let mtu = u64::from(params.mtu_bytes.max(1));
        Self { message, mtu, total, per_message: message.div_ceil(mtu) }
    }

    /// Packets of all messages.
    pub(crate) fn packets(&self) -> u64 {
        self.total / self.message * self.per_message + (self.total % self.message).div_ceil(self.mtu)
    }

    /// The packets of the first `messages` messages.
    pub(crate) fn packets_of(&self, messages: u64) -> u64 {
        messages.saturating_mul(self.per_message).min(self.packets())
    }

    /// What packet `sequence` carries; it must be one of the flow's.
    pub(crate) fn piece(&self, sequence: u64) -> Piece {
        let start = sequence / self.per_message * self.message;
        let within = sequence % self.per_message * self.mtu;
        let length = self.message.min(self.total - start);
        let bytes = self.mtu.min(length - within);
        Piece { offset: start + within, bytes: bytes as u32, last: within + bytes == length }
    }

    /// Bytes from packet `sequence` to the end of its message, at most `limit` packets.
    pub(crate) fn rest(&self, sequence: u64, limit: u64) -> u64 {
        let start = sequence / self.per_message * self.message;
        let within = sequence % self.per_message * self.mtu;
        (self.message.min(self.total - start) - within).min(limit * self.mtu)
    }

    /// Packets of `bytes` bytes.
    pub(crate) fn packets_in(&self, bytes: u64) -> u64 {
        bytes.div_ceil(self.mtu)
    }
}
