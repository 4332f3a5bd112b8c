//! Lists the parts of a socket, a file each, and builds the parts of a server in the order of their numbers.

mod cha;
mod channels;
mod cores;
mod dimm;
mod dma;
mod drives;
mod expander;
mod iio;
mod links;
mod mcn;
mod nic;
mod pool;
mod remote;
mod upi;

pub(super) use dimm::dimm_path;
pub(super) use links::{device_links, link_number};
pub(super) use mcn::{params_of as mcn_params, rings_without_nic, window_ps as mcn_window_ps, with_rings};

use super::burst_converter::BurstConverter;
use super::{Builder, SocketBuilder};
use hostnet_model::params::{ServerParams, SocketParams};
use hostnet_model::{Component, PartKind};
use links::DeviceLink;

/// Parts of a socket with lines, in the order of their numbers. They also allocate memory in this order.
pub(crate) const WITH_LINES: &[PartBuilder] = &[
    cores::CORES,
    cha::CHA,
    channels::CHANNELS,
    iio::IIO,
    expander::EXPANDER,
    dimm::DIMM,
    pool::POOL,
    drives::DRIVES,
    dma::DMA,
    nic::NIC,
    upi::UPI,
    remote::REMOTE,
    mcn::MCN,
];

/// Parts of a socket with a fluid memory.
pub(crate) const WITH_RATES: &[PartBuilder] =
    &[cores::CORES, PartBuilder::new(PartKind::Iio, |_| 1, |_| vec![Component::fluid()]), nic::NIC];

/// Parts of one kind on a socket.
pub(crate) struct PartBuilder {
    pub(crate) kind: PartKind,
    /// Returns the number of parts.
    pub(crate) count: fn(&SocketParams) -> u32,
    /// Builds the parts.
    build: fn(&SocketBuilder) -> Vec<Component>,
    /// Converts the parameters of the parts from lines to bursts.
    pub(crate) coarsen: fn(&BurstConverter, &mut SocketParams),
    /// Returns the PCIe links of the parts to the IIO of a socket.
    links: fn(&ServerParams, u8) -> Vec<DeviceLink>,
}

impl PartBuilder {
    const fn new(kind: PartKind, count: fn(&SocketParams) -> u32, build: fn(&SocketBuilder) -> Vec<Component>) -> Self {
        Self { kind, count, build, coarsen: |_, _| {}, links: |_, _| Vec::new() }
    }

    /// Sets the conversion of the parameters to bursts. Parts without one keep their parameters.
    const fn in_bursts(self, coarsen: fn(&BurstConverter, &mut SocketParams)) -> Self {
        Self { coarsen, ..self }
    }

    /// Sets the links of the parts to the IIO of a socket. The links of an IIO are numbered in the order of the list.
    const fn with_links(self, links: fn(&ServerParams, u8) -> Vec<DeviceLink>) -> Self {
        Self { links, ..self }
    }
}

/// Converts parts of one kind to components.
fn all<T: Into<Component>>(parts: impl IntoIterator<Item = T>) -> Vec<Component> {
    parts.into_iter().map(Into::into).collect()
}

/// Builds the listed parts of each socket.
///
/// # Panics
/// Panics if the number of parts of a kind differs from the layout.
pub(super) fn build_sockets(server: &Builder, list: &[PartBuilder]) -> Vec<Component> {
    let mut all = Vec::new();
    for socket in server.sockets() {
        for PartBuilder { kind, build, .. } in list {
            let parts = build(&socket);
            assert_eq!(parts.len() as u32, socket.layout.of(*kind).len(), "there is every {}", kind.name());
            all.extend(parts);
        }
    }
    all
}
