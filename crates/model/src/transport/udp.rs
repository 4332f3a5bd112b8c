//! UDP (RFC 768): datagrams, without acknowledgements and without a second try.

use super::journey::Journey;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Headers of IP and UDP.
pub const HEADER_BYTES: u32 = 28;

/// A datagram. One is one packet: nothing cuts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datagram {
    /// Bytes of data; at least 1.
    pub bytes: u32,
    /// Its number among those of its sender; an answer has that of what it answers.
    pub number: u64,
    /// Where its time went so far.
    pub journey: Journey,
}

impl Datagram {
    /// One that an application sends now.
    #[must_use]
    pub fn new(bytes: u32, number: u64, now: Time) -> Self {
        Self { bytes, number, journey: Journey::begin(now) }
    }

    /// Bytes of its IP packet.
    #[must_use]
    pub fn ip_bytes(&self) -> u32 {
        HEADER_BYTES + self.bytes
    }
}
