//! Keys and parameters of forwarded packets.

use super::service::Distribution;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Part of a packet that is read before the packet is forwarded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FunctionSpec {
    /// The first line, which holds the headers: forwarding by address.
    #[default]
    L3f,
    /// The whole packet: deep packet inspection.
    Dpi,
}

/// Datagrams that a sender sends in an open loop, without waiting for responses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketsParams {
    /// Random sizes and intervals.
    Drawn {
        /// Data of a datagram, in bytes.
        bytes: Distribution,
        /// Time from one datagram to the next, in ps; `None` = as fast as the sender can.
        interval_ps: Option<Distribution>,
        /// Seed of both distributions.
        seed: u64,
    },
    /// Recorded datagrams in order of time: time from the start of the flow in ps, and data in bytes.
    Given(Vec<(u64, u32)>),
}

/// Forwarding of packets by a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForwardParams {
    /// Flow that the packets arrive by, as an index into [`super::ClusterParams::flows`].
    pub flow: u32,
    /// Part of each packet that the host reads.
    pub function: ForwardFunction,
    /// Work of a core per packet, beside that of its driver and the reading of the packet, in ps.
    pub work_ps: u64,
}

/// Part of a packet that is read before the packet is forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForwardFunction {
    /// The first line, which holds the headers.
    Header,
    /// The whole packet.
    Whole,
}

/// Bytes of the headers of IPv4 (20, RFC 791) and UDP (8, RFC 768).
pub const UDP_HEADER_BYTES: u32 = 28;
