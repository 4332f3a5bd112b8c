//! The integrated IO controller, and the devices that hang off it.

use super::SocketBuilder;
use hostnet_kernel::ComponentId;
use hostnet_model::iio::{Iio, Wiring};
use hostnet_model::params::{LineSize, PcieParams};
use hostnet_model::PartKind;

impl SocketBuilder<'_> {
    pub(super) fn iio(&self) -> Iio {
        let params = self.params;
        let ddio = params.cache.as_ref().map_or_else(Vec::new, |cache| {
            let nic = params.nic.iter().map(|nic| nic.ddio);
            cache.ddio.drives.iter().copied().chain(nic).collect()
        });
        let rng = self.server.component_rng(self.layout.iio());
        let wiring = Wiring { cha: self.layout.home(), links: self.links() };
        let mut iio = Iio::new(params.iio.clone(), wiring, ddio, rng, self.server.classes);
        if params.nic.as_ref().is_some_and(|nic| !nic.relaxed_ordering) {
            iio.keep_order(self.link(PartKind::Nic).into());
        }
        if let Some(control) = &self.server.params.control {
            iio.set_clock(control.iio_clock_ps);
        }
        iio.set_line_size(params.nic.as_ref().map_or(LineSize::LINE, |nic| nic.line_size));
        iio
    }

    /// The PCIe links at the IIO: those of the drives, and of the NIC.
    fn links(&self) -> Vec<(ComponentId, PcieParams)> {
        let params = self.params;
        let drives = self.layout.of(PartKind::Ssd).iter().map(|id| (id, &params.pcie));
        let nic = self.layout.of(PartKind::Nic).iter().zip(params.nic.iter().map(|nic| &nic.pcie));
        drives.chain(nic).map(|(id, pcie)| (id, pcie.clone())).collect()
    }

    /// The number of the link of the first device of a kind.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn link(&self, kind: PartKind) -> u8 {
        let first = self.layout.of(kind).first();
        self.links().iter().position(|&(id, _)| id == first).expect("a device has a link") as u8
    }
}
