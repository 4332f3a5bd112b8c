//! Builds the integrated IO controller and its PCIe links.

use super::SocketBuilder;
use hostnet_kernel::ComponentId;
use hostnet_model::iio::{Iio, IioWiring};
use hostnet_model::params::{LineSize, PcieParams};
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    pub(super) fn iio(&self) -> Iio {
        let params = self.params;
        let ddio = params.cache.as_ref().map_or_else(Vec::new, |_| {
            let nic = self.function().and(self.server.params.nic()).map(|nic| nic.ddio);
            self.server.params.ddio_at(self.layout.number).into_iter().chain(nic).collect()
        });
        let rng = self.server.component_rng(self.layout.iio());
        let wiring = IioWiring { cha: self.layout.home(), links: self.links() };
        let mut iio = Iio::new(params.iio.clone(), wiring, ddio, rng, self.server.classes);
        // Without relaxed ordering, the writes of the NIC leave the IIO in order.
        if self.server.params.nic().is_some_and(|nic| !nic.relaxed_ordering) {
            self.nic_link().into_iter().for_each(|link| iio.keep_order(link.into()));
        }
        if let Some(control) = &self.server.params.control {
            iio.set_clock(control.iio_clock_ps);
        }
        iio.set_line_size(params.nic.as_ref().map_or(LineSize::LINE, |nic| nic.line_size));
        iio
    }

    /// Returns the link of the NIC function on this socket, if there is one.
    fn function(&self) -> Option<&PcieParams> {
        let mut links = self.server.params.nic_links();
        links.find(|&(socket, _)| socket == self.layout.number).map(|(_, pcie)| pcie)
    }

    /// Returns the PCIe links of the IIO: those of the drives, then that of the NIC.
    fn links(&self) -> Vec<(ComponentId, PcieParams)> {
        let drives = self.server.params.drives_at(self.layout.number).into_iter().map(|(socket, index)| {
            let (layout, params) = self.server.at(socket);
            (layout.of(PartKind::Ssd).get(index), &params.pcie)
        });
        let nic = self.function().map(|pcie| (self.server.layout.nic(), pcie));
        drives.chain(nic).map(|(id, pcie)| (id, pcie.clone())).collect()
    }

    /// Returns the number of the link of the NIC function on this socket, if there is one.
    pub(crate) fn nic_link(&self) -> Option<u8> {
        self.function().map(|_| self.server.params.drives_at(self.layout.number).len() as u8)
    }
}
