//! Ports of a drive, each a link to the IIO of a socket: one port, or one on every socket.

use crate::line::socket_of;
use crate::link::PcieEndpoint;
use crate::params::PcieParams;
use crate::part::Pool;
use hostnet_kernel::{ComponentId, Time};
use hostnet_measure::Domain;
use serde::{Deserialize, Serialize};

/// Connection of a port.
#[derive(Clone, Debug)]
pub struct DrivePortWiring {
    /// Socket of the port.
    pub socket: u8,
    /// IIO of that socket.
    pub iio: ComponentId,
    /// Number of the link at that IIO.
    pub link: u8,
    /// Parameters of the link.
    pub pcie: PcieParams,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct DrivePort {
    socket: u8,
    link: u8,
    endpoint: PcieEndpoint,
}

/// Ports of a drive. The first is on the drive's own socket; all have the same parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DrivePorts(Vec<DrivePort>);

impl DrivePorts {
    pub(super) fn new(wiring: Vec<DrivePortWiring>, classes: usize) -> Self {
        let port = |DrivePortWiring { socket, iio, link, pcie }| DrivePort {
            socket,
            link,
            endpoint: PcieEndpoint::new(iio, link, pcie, classes),
        };
        Self(wiring.into_iter().map(port).collect())
    }

    /// Returns the parameters of the links.
    pub(super) fn pcie(&self) -> &PcieParams {
        self.0[0].endpoint.pcie()
    }

    /// Returns the number of the link at the IIO of a socket, if there is one.
    pub(super) fn link(&self, socket: u8) -> Option<u8> {
        self.0.iter().find(|port| port.socket == socket).map(|port| port.link)
    }

    /// Returns the port of the line that `line` computes: the one on the home socket of the line, else the first.
    pub(super) fn to(&self, line: impl FnOnce() -> u64) -> usize {
        // Speed only: one port needs no translation of the address.
        if self.0.len() == 1 {
            return 0;
        }
        let home = socket_of(line());
        self.0.iter().position(|port| port.socket == home).unwrap_or(0)
    }

    pub(super) fn endpoint(&self, port: usize) -> &PcieEndpoint {
        &self.0[port].endpoint
    }

    pub(super) fn endpoint_mut(&mut self, port: usize) -> &mut PcieEndpoint {
        &mut self.0[port].endpoint
    }

    /// Returns the device end of the link to an IIO.
    ///
    /// # Panics
    /// Panics if no port leads to that IIO.
    pub(super) fn from(&mut self, iio: ComponentId) -> &mut PcieEndpoint {
        let port = self.0.iter_mut().find(|port| port.endpoint.iio() == iio);
        &mut port.expect("who answers a drive is at the end of a link of it").endpoint
    }

    /// Iterates over the IIOs of the ports, each with the latency of the link to it, in ps.
    pub(super) fn iios(&self) -> impl Iterator<Item = (ComponentId, u64)> + '_ {
        self.0.iter().map(|port| (port.endpoint.iio(), port.endpoint.pcie().latency_ps))
    }

    /// Returns the earliest time at which a lane can take the next TLP.
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
