//! UDP (RFC 768): datagrams without acknowledgements and without retransmission.

use super::stage_times::StageTimes;
use crate::params::UDP_HEADER_BYTES;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// A UDP datagram. Each is one packet: datagrams are not segmented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datagram {
    /// Bytes of payload; at least 1.
    pub bytes: u32,
    /// Number of the datagram among those of its sender. A reply has the number of its request.
    pub number: u64,
    /// Time spent so far in each stage of the path.
    pub stage_times: StageTimes,
}

impl Datagram {
    /// Creates a datagram that an application sends now.
    #[must_use]
    pub fn new(bytes: u32, number: u64, now: Time) -> Self {
        Self { bytes, number, stage_times: StageTimes::begin(now) }
    }

    /// Returns the bytes of the IP packet.
    #[must_use]
    pub fn ip_bytes(&self) -> u32 {
        UDP_HEADER_BYTES + self.bytes
    }
}
