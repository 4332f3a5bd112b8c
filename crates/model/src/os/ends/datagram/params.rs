//! Parameters of an end of a datagram flow.

use crate::params::{Traffic, UdpParams};
use serde::{Deserialize, Serialize};

/// Parameters of one end of a datagram flow whose application runs on a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagramEndParams {
    /// Flow, as numbered in [`crate::params::ClusterParams::flows`].
    pub flow: u32,
    /// Class of the line requests that the flow causes.
    pub class: u8,
    /// Number of this host.
    pub host: u16,
    /// Number of the host at the other end.
    pub peer: u16,
    /// Priority class of the packets of this end, 0 to 7.
    pub priority: u8,
    /// Parameters of the UDP socket of this end.
    pub udp: UdpParams,
    /// Traffic of the application of this end.
    pub traffic: Traffic,
    /// True if this end begins the flow.
    pub initiator: bool,
    /// Time at which the flow begins, in ps.
    pub start_ps: u64,
}
