//! Builds the integrated IO controller and its PCIe links.

use super::links::device_links;
use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::SocketBuilder;
use hostnet_model::iio::{Iio, IioWiring, PageTables};
use hostnet_model::params::{LineSize, SocketParams};
use hostnet_model::PartKind;

pub(super) const IIO: PartBuilder =
    PartBuilder::new(PartKind::Iio, |_| 1, |socket| all([iio(socket)])).in_bursts(coarsen);

fn iio(socket: &SocketBuilder) -> Iio {
    let (params, server) = (socket.params, socket.server);
    let links = device_links(server.params, socket.layout.number);
    let ddio = links.iter().map(|link| link.ddio && params.cache.is_some()).collect();
    let rng = server.component_rng(socket.layout.iio());
    let devices = links.iter().map(|link| (link.device_id(&server.layout), link.pcie.clone())).collect();
    let wiring = IioWiring { cha: socket.layout.home(), links: devices };
    let mut iio = Iio::new(params.iio.clone(), wiring, ddio, rng, server.classes);
    for (number, _) in links.iter().enumerate().filter(|(_, link)| link.in_order) {
        iio.keep_order(number);
    }
    if let Some(iommu) = &params.iommu {
        let base = socket.allocate_near_io(iommu.table_bytes());
        iio.add_iommu(PageTables { params: iommu.clone(), pages: socket.pages.clone(), base });
    }
    if let Some(control) = &server.params.control {
        iio.set_clock(control.iio_clock_ps);
    }
    iio.set_line_size(params.nic.as_ref().map_or(LineSize::LINE, |nic| nic.line_size));
    iio
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let iio = &mut socket.iio;
    iio.write_credits = grain.count(iio.write_credits);
    iio.read_credits = grain.count(iio.read_credits);
    iio.line_ps = grain.time(iio.line_ps);
    iio.line_spread_ps = grain.time(iio.line_spread_ps);
}
