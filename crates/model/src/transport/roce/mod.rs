//! RoCE v2: reliable connections over UDP.
//!
//! | file | what |
//! |---|---|
//! | `plan.rs` | which bytes a packet sequence number stands for |
//! | `posted.rs` | messages of ranks, which are posted one by one |
//! | `connection.rs` | one end of a flow: its requester or responder, of ranks both, and the control of its rate |
//! | `requester.rs`, `responder.rs` | who asks and who answers |
//! | `dcqcn.rs` | DCQCN: when congestion is notified, and what is done about it |
//! | `counters.rs` | what is counted |

mod connection;
mod counters;
mod dcqcn;
mod plan;
mod posted;
mod requester;
mod responder;
#[cfg(test)]
mod tests;

pub use connection::{Placed, RoceConnection};
pub use counters::RoceCounters;

use serde::{Deserialize, Serialize};

/// Bytes of the headers of a packet with data beside the data: IP (20), UDP (8), BTH (12), ICRC (4).
pub const DATA_HEADER_BYTES: u32 = 44;
/// What a read request (RETH) and a congestion notification (reserved) have beyond those.
pub const REQUEST_BYTES: u32 = 16;
/// What an acknowledgement has beyond those (AETH).
pub const ACKNOWLEDGE_BYTES: u32 = 4;

/// What a RoCE packet is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Operation {
    /// Data of an RDMA write.
    Write,
    /// A request for an RDMA read.
    ReadRequest,
    /// Data of an RDMA read.
    ReadResponse,
    /// A positive acknowledgement.
    Acknowledge,
    /// A negative acknowledgement: the next packet expected is `sequence`.
    OutOfOrder,
    /// Congestion notification of DCQCN.
    Congestion,
}

/// The headers of a RoCE packet (BTH, RETH, AETH), as far as they matter. Packet sequence numbers never wrap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Roce {
    /// What it is.
    pub operation: Operation,
    /// Packet sequence number; of an acknowledgement, the last one that it covers.
    pub sequence: u64,
    /// Bytes of data; of a read request, bytes asked for.
    pub bytes: u32,
    /// Offset of the data in the memory region of the flow.
    pub offset: u64,
    /// Whether it is the last of its message.
    pub last: bool,
}

impl Roce {
    /// Bytes of data that it carries.
    #[must_use]
    pub fn data_bytes(&self) -> u32 {
        match self.operation {
            Operation::Write | Operation::ReadResponse => self.bytes,
            _ => 0,
        }
    }

    /// Bytes of its IP packet.
    #[must_use]
    pub fn ip_bytes(&self) -> u32 {
        let beyond = match self.operation {
            Operation::Write | Operation::ReadResponse => self.bytes,
            Operation::ReadRequest | Operation::Congestion => REQUEST_BYTES,
            Operation::Acknowledge | Operation::OutOfOrder => ACKNOWLEDGE_BYTES,
        };
        DATA_HEADER_BYTES + beyond
    }
}
