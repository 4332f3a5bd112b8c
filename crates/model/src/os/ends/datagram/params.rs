//! What an end of a flow of datagrams is.

use crate::params::{Traffic, UdpParams};
use serde::{Deserialize, Serialize};

/// One end of a flow of datagrams whose application runs on a core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagramEndParams {
    /// The flow, as numbered in [`crate::params::ClusterParams::flows`].
    pub flow: u32,
    /// The class of the requests for lines that it causes.
    pub class: u8,
    /// This host.
    pub host: u16,
    /// The host at the other end.
    pub peer: u16,
    /// Priority class of its packets, 0 to 7.
    pub priority: u8,
    /// Its socket.
    pub udp: UdpParams,
    /// What its application does.
    pub traffic: Traffic,
    /// Whether this end begins the flow.
    pub initiator: bool,
    /// When it begins, in ps.
    pub start_ps: u64,
}
