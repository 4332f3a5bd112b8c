//! Where a packet goes from a machine with interfaces of a memory channel network.

use crate::params::McnInterface;
use serde::{Deserialize, Serialize};

/// Where a packet goes; each goes to one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Way {
    /// It is for this machine.
    Own,
    /// To the machine at the other side of an interface.
    Interface(u16),
    /// To the NIC.
    Nic,
}

/// The way of a packet for host `to` at host `own`. A host sends to a DIMM only what is for it, and the rest to its
/// NIC; a DIMM sends everything to its host.
#[must_use]
pub fn way(own: u16, to: u16, on_dimm: bool, interfaces: &[McnInterface]) -> Way {
    if to == own {
        return Way::Own;
    }
    match interfaces.iter().position(|interface| on_dimm || interface.host == to) {
        Some(at) => Way::Interface(at as u16),
        None => Way::Nic,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_tells_itself_its_dimms_and_the_rest_apart() {
        let interfaces = [(4, 0), (6, 1)].map(|(host, channel)| McnInterface { host, port: 0, channel });
        let ways = [2, 4, 5, 6].map(|to| way(2, to, false, &interfaces));
        assert_eq!(ways, [Way::Own, Way::Interface(0), Way::Nic, Way::Interface(1)]);
    }

    #[test]
    fn a_dimm_sends_everything_to_its_host() {
        let interfaces = [McnInterface { host: 2, port: 1, channel: 0 }];
        let ways = [4, 2, 6, 9].map(|to| way(4, to, true, &interfaces));
        assert_eq!(ways, [Way::Own, Way::Interface(0), Way::Interface(0), Way::Interface(0)]);
    }
}
