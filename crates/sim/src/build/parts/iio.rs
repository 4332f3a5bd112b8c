//! Builds the integrated IO controller and its PCIe links.

use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::SocketBuilder;
use hostnet_kernel::ComponentId;
use hostnet_model::iio::{Iio, IioWiring};
use hostnet_model::params::{LineSize, PcieParams, SocketParams};
use hostnet_model::PartKind;

pub(super) const IIO: PartBuilder =
    PartBuilder::new(PartKind::Iio, |_| 1, |socket| all([iio(socket)])).in_bursts(coarsen);

fn iio(socket: &SocketBuilder) -> Iio {
    let params = socket.params;
    let ddio = params.cache.as_ref().map_or_else(Vec::new, |_| {
        let nic = function(socket).and(socket.server.params.nic()).map(|nic| nic.ddio);
        socket.server.params.ddio_at(socket.layout.number).into_iter().chain(nic).collect()
    });
    let rng = socket.server.component_rng(socket.layout.iio());
    let wiring = IioWiring { cha: socket.layout.home(), links: links(socket) };
    let mut iio = Iio::new(params.iio.clone(), wiring, ddio, rng, socket.server.classes);
    // Without relaxed ordering, the writes of the NIC leave the IIO in order.
    if socket.server.params.nic().is_some_and(|nic| !nic.relaxed_ordering) {
        nic_link(socket).into_iter().for_each(|link| iio.keep_order(link.into()));
    }
    if let Some(control) = &socket.server.params.control {
        iio.set_clock(control.iio_clock_ps);
    }
    iio.set_line_size(params.nic.as_ref().map_or(LineSize::LINE, |nic| nic.line_size));
    iio
}

/// Returns the link of the NIC function on this socket, if there is one.
fn function<'a>(socket: &SocketBuilder<'a>) -> Option<&'a PcieParams> {
    let mut links = socket.server.params.nic_links();
    links.find(|&(number, _)| number == socket.layout.number).map(|(_, pcie)| pcie)
}

/// Returns the PCIe links of the IIO: those of the drives, then that of the NIC.
fn links(socket: &SocketBuilder) -> Vec<(ComponentId, PcieParams)> {
    let drives = socket.server.params.drives_at(socket.layout.number).into_iter().map(|(number, index)| {
        let (layout, params) = socket.server.at(number);
        (layout.of(PartKind::Ssd).get(index), &params.pcie)
    });
    let nic = function(socket).map(|pcie| (socket.server.layout.nic(), pcie));
    drives.chain(nic).map(|(id, pcie)| (id, pcie.clone())).collect()
}

/// Returns the number of the link of the NIC function on this socket, if there is one.
pub(crate) fn nic_link(socket: &SocketBuilder) -> Option<u8> {
    function(socket).map(|_| socket.server.params.drives_at(socket.layout.number).len() as u8)
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let iio = &mut socket.iio;
    iio.write_credits = grain.count(iio.write_credits);
    iio.read_credits = grain.count(iio.read_credits);
    iio.line_ps = grain.time(iio.line_ps);
    iio.line_spread_ps = grain.time(iio.line_spread_ps);
}
