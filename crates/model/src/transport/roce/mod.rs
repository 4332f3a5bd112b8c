//! RoCE v2: reliable connections over UDP.
//!
//! | file | content |
//! |---|---|
//! | `plan.rs` | bytes that a packet sequence number stands for |
//! | `posted.rs` | messages of ranks, posted one by one |
//! | `connection.rs` | one end of a flow: requester or responder (both between ranks), and rate control |
//! | `requester.rs`, `responder.rs` | the two roles of go-back-N |
//! | `dcqcn.rs` | DCQCN: congestion notifications and rate control |
//! | `counters.rs` | counters |

mod connection;
mod counters;
mod dcqcn;
mod plan;
mod posted;
mod requester;
mod responder;
#[cfg(test)]
mod tests;

pub use connection::{PlacedData, RoceConnection};
pub use counters::RoceCounters;

use serde::{Deserialize, Serialize};

/// Bytes of the headers of a data packet: IP (20), UDP (8), BTH (12), ICRC (4).
pub const DATA_HEADER_BYTES: u32 = 44;
/// Additional bytes of a read request (RETH) and of a congestion notification (reserved).
pub const REQUEST_BYTES: u32 = 16;
/// Additional bytes of an acknowledgement (AETH).
pub const ACKNOWLEDGE_BYTES: u32 = 4;

/// Operation of a RoCE packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RoceOperation {
    /// Data of an RDMA write.
    Write,
    /// A request for an RDMA read.
    ReadRequest,
    /// Data of an RDMA read.
    ReadResponse,
    /// A positive acknowledgement.
    Acknowledge,
    /// A negative acknowledgement (NAK): `sequence` is the next packet expected.
    OutOfOrder,
    /// Congestion notification of DCQCN.
    Congestion,
}

/// Headers of a RoCE packet (BTH, RETH, AETH), as far as they are modelled. Packet sequence numbers never wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Roce {
    /// Operation of the packet.
    pub operation: RoceOperation,
    /// Packet sequence number (PSN); for an acknowledgement, the last one that it covers.
    pub sequence: u64,
    /// Bytes of payload; for a read request, bytes requested.
    pub bytes: u32,
    /// Offset of the data in the memory region of the flow.
    pub offset: u64,
    /// True if the packet is the last of its message.
    pub last: bool,
}

impl Roce {
    /// Returns the bytes of payload.
    #[must_use]
    pub fn data_bytes(&self) -> u32 {
        match self.operation {
            RoceOperation::Write | RoceOperation::ReadResponse => self.bytes,
            _ => 0,
        }
    }

    /// Returns the bytes of the IP packet.
    #[must_use]
    pub fn ip_bytes(&self) -> u32 {
        let beyond = match self.operation {
            RoceOperation::Write | RoceOperation::ReadResponse => self.bytes,
            RoceOperation::ReadRequest | RoceOperation::Congestion => REQUEST_BYTES,
            RoceOperation::Acknowledge | RoceOperation::OutOfOrder => ACKNOWLEDGE_BYTES,
        };
        DATA_HEADER_BYTES + beyond
    }
}
