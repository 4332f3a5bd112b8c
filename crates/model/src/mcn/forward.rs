//! Forwarding of packets at a machine with interfaces of a memory channel network.

use crate::params::McnInterface;
use serde::{Deserialize, Serialize};

/// Destination of a packet. Each packet goes to exactly one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketRoute {
    /// The packet is for this machine.
    Own,
    /// The packet goes to the machine at the other side of an interface.
    Interface(u16),
    /// The packet goes to the NIC.
    Nic,
}

/// Returns the destination of a packet for host `to` at host `own`. A host sends to a DIMM only packets addressed to
/// it, and all others to its NIC. A DIMM sends everything to its host.
#[must_use]
pub fn route_packet(own: u16, to: u16, on_dimm: bool, interfaces: &[McnInterface]) -> PacketRoute {
    if to == own {
        return PacketRoute::Own;
    }
    match interfaces.iter().position(|interface| on_dimm || interface.host == to) {
        Some(at) => PacketRoute::Interface(at as u16),
        None => PacketRoute::Nic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_tells_itself_its_dimms_and_the_rest_apart() {
        let interfaces = [(4, 0), (6, 1)].map(|(host, channel)| McnInterface { host, port: 0, channel });
        let ways = [2, 4, 5, 6].map(|to| route_packet(2, to, false, &interfaces));
        assert_eq!(ways, [PacketRoute::Own, PacketRoute::Interface(0), PacketRoute::Nic, PacketRoute::Interface(1)]);
    }

    #[test]
    fn a_dimm_sends_everything_to_its_host() {
        let interfaces = [McnInterface { host: 2, port: 1, channel: 0 }];
        let ways = [4, 2, 6, 9].map(|to| route_packet(4, to, true, &interfaces));
        assert_eq!(
            ways,
            [PacketRoute::Own, PacketRoute::Interface(0), PacketRoute::Interface(0), PacketRoute::Interface(0)]
        );
    }
}
