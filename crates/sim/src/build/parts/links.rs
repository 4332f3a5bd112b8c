//! Numbers the PCIe links of the IIO of each socket.

use super::WITH_LINES;
use crate::build::Layout;
use hostnet_kernel::ComponentId;
use hostnet_model::params::{PcieParams, ServerParams};
use hostnet_model::PartKind;

/// PCIe link between the IIO of a socket and a device.
pub(crate) struct DeviceLink {
    /// Kind of the device.
    pub(crate) kind: PartKind,
    /// Socket of the device, and its number there among the devices of its kind.
    pub(crate) device: (u8, u32),
    pub(crate) pcie: PcieParams,
    /// True if the writes of the device go to the LLC, if there is one.
    pub(crate) ddio: bool,
    /// True if the writes of the device leave the IIO in order.
    pub(crate) in_order: bool,
}

impl DeviceLink {
    /// Returns the id of the device.
    pub(super) fn device_id(&self, layout: &Layout) -> ComponentId {
        let (socket, index) = self.device;
        layout.sockets[usize::from(socket)].of(self.kind).get(index)
    }
}

/// Returns the links of the IIO of a socket, in the order of the list of parts.
pub(crate) fn device_links(server: &ServerParams, socket: u8) -> Vec<DeviceLink> {
    WITH_LINES.iter().flat_map(|part| (part.links)(server, socket)).collect()
}

/// Returns the number of the link of a device at the IIO of a socket, if there is one.
pub(crate) fn link_number(server: &ServerParams, socket: u8, kind: PartKind, device: (u8, u32)) -> Option<u8> {
    let links = device_links(server, socket);
    links.iter().position(|link| (link.kind, link.device) == (kind, device)).map(|link| link as u8)
}
