//! RoCE v2: reliable connections over UDP.

use serde::{Deserialize, Serialize};

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
