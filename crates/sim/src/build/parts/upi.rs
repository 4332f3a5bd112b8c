//! Builds the UPI links to sockets of which only cores are modelled.

use super::{all, PartBuilder};
use crate::build::burst_converter::BurstConverter;
use crate::build::SocketBuilder;
use hostnet_model::link::Upi;
use hostnet_model::params::SocketParams;
use hostnet_model::PartKind;

pub(super) const UPI: PartBuilder = PartBuilder::new(
    PartKind::Upi,
    |params| params.remote.as_ref().map_or(0, |remote| remote.sockets),
    |socket| all(upis(socket)),
)
.in_bursts(coarsen);

/// Builds the UPI links to sockets of which only cores are modelled.
fn upis(socket: &SocketBuilder) -> Vec<Upi> {
    let Some(remote) = &socket.params.remote else { return Vec::new() };
    (0..remote.sockets).map(|_| Upi::new(&remote.upi, socket.layout.home(), socket.server.classes)).collect()
}

/// Converts the parameters to bursts.
fn coarsen(grain: &BurstConverter, socket: &mut SocketParams) {
    let Some(remote) = &mut socket.remote else { return };
    let upi = &mut remote.upi;
    upi.bytes_per_s = grain.bytes(upi.bytes_per_s);
    upi.data_credits = grain.count(upi.data_credits);
    upi.request_credits = grain.count(upi.request_credits);
}
