//! The ports of a drive, each a link to the IIO of a socket: one, or with a path to every socket as many.

use crate::line::socket_of;
use crate::link::Endpoint;
use crate::params::PcieParams;
use crate::part::Pool;
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// What a port hangs off.
#[derive(Clone, Debug)]
pub struct PortWiring {
    /// The socket.
    pub socket: u8,
    /// The IIO there.
    pub iio: ComponentId,
    /// The number of the link at that IIO.
    pub link: u8,
    /// What the link costs.
    pub pcie: PcieParams,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Port {
    socket: u8,
    link: u8,
    endpoint: Endpoint,
}

/// All ports of a drive. The first is on the drive's own socket; all are alike.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ports(Vec<Port>);

impl Ports {
    pub(super) fn new(wiring: Vec<PortWiring>, classes: usize) -> Self {
        let port = |PortWiring { socket, iio, link, pcie }| Port {
            socket,
            link,
            endpoint: Endpoint::new(iio, link, pcie, classes),
        };
        Self(wiring.into_iter().map(port).collect())
    }

    /// What the links cost.
    pub(super) fn pcie(&self) -> &PcieParams {
        self.0[0].endpoint.pcie()
    }

    /// The number of the link at the IIO of a socket, if there is one.
    pub(super) fn link(&self, socket: u8) -> Option<u8> {
        self.0.iter().find(|port| port.socket == socket).map(|port| port.link)
    }

    /// The port that a line goes by, as `line` tells which it is: that of the socket where it is at home, else the
    /// first.
    pub(super) fn to(&self, line: impl FnOnce() -> u64) -> usize {
        if self.0.len() == 1 {
            return 0;
        }
        let home = socket_of(line());
        self.0.iter().position(|port| port.socket == home).unwrap_or(0)
    }

    pub(super) fn endpoint(&self, port: usize) -> &Endpoint {
        &self.0[port].endpoint
    }

    pub(super) fn endpoint_mut(&mut self, port: usize) -> &mut Endpoint {
        &mut self.0[port].endpoint
    }

    /// The end of the link to an IIO.
    ///
    /// # Panics
    /// If no port hangs off it.
    pub(super) fn from(&mut self, iio: ComponentId) -> &mut Endpoint {
        let port = self.0.iter_mut().find(|port| port.endpoint.iio() == iio);
        &mut port.expect("who answers a drive is at the end of a link of it").endpoint
    }

    /// When one of the lanes can take the next TLP.
    pub(super) fn free_at(&self) -> Time {
        self.0.iter().map(|port| port.endpoint.free_at()).min().unwrap_or(Time::ZERO)
    }

    pub(super) fn domains_mut(&mut self) -> impl Iterator<Item = &mut Domain> {
        self.0.iter_mut().flat_map(|port| port.endpoint.domains_mut())
    }

    pub(super) fn pools<'a>(&'a self, visit: &mut dyn FnMut(Pool<'a>)) {
        self.0.iter().for_each(|port| port.endpoint.pools(visit));
    }
}
