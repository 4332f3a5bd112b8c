//! Accesses of cores to device registers, as TLPs on the downstream lane.

use super::{Iio, IioLink};
use crate::link::REGISTER_BYTES;
use crate::part::{Context, Payload, RegisterAccess};

impl Iio {
    /// Sends an access of a core to a register of the device at `link`, behind the completions that are on the lane.
    pub(super) fn on_register(&mut self, link: u8, access: RegisterAccess, context: &mut Context) {
        let IioLink { device, pcie, down, .. } = &mut self.links[usize::from(link)];
        let bytes = match access {
            RegisterAccess::Status { .. } => u64::from(pcie.read_overhead_bytes),
            RegisterAccess::Doorbell { .. } | RegisterAccess::Tail { .. } => {
                u64::from(pcie.write_overhead_bytes) + REGISTER_BYTES
            }
        };
        let delay = down.send(context.now(), bytes);
        context.send(*device, delay, Payload::Register { link, access });
    }
}
