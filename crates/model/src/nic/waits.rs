//! When a NIC waited for PCIe and what lies behind it.

use super::Nic;
use hostnet_kernel::Time;
use hostnet_measure::Waits;
use serde::{Deserialize, Serialize};

/// When a NIC waited for PCIe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NicWaits {
    /// The packet at the head of the receive buffer waited for posted credits.
    pub credits: Waits,
    /// Data that it had asked for was not there, and no packet waited at the port.
    pub reads: Waits,
}

impl Nic {
    /// When it waited for PCIe, if that is kept.
    #[must_use]
    pub fn waits(&self) -> Option<&NicWaits> {
        self.waits.as_deref()
    }

    pub(super) fn note_waits(&mut self, now: Time) {
        let Some(waits) = &mut self.waits else { return };
        waits.credits.set(now, self.common.counters.credit_wait.value() > 0);
        waits.reads.set(now, self.transmit.window_used() > 0 && self.common.port.waiting_packets() == 0);
    }
}
