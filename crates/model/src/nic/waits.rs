//! Intervals in which the NIC waited for PCIe, or for the path behind it.

use super::Nic;
use hostnet_kernel::Time;
use hostnet_measure::Waits;
use serde::{Deserialize, Serialize};

/// Intervals in which a NIC waited for PCIe.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NicWaits {
    /// Intervals in which the packet at the head of the receive buffer waited for posted credits.
    pub credits: Waits,
    /// Intervals in which requested data was outstanding and no packet waited at the port.
    pub reads: Waits,
}

impl Nic {
    /// Returns the intervals in which the NIC waited for PCIe, if they are recorded.
    #[must_use]
    pub fn waits(&self) -> Option<&NicWaits> {
        self.waits.as_deref()
    }

    pub(super) fn note_waits(&mut self, now: Time) {
        let Some(waits) = &mut self.waits else { return };
        waits.credits.set(now, self.common.counters.credit_wait.value() > 0);
        // Data is missing and the port has nothing else to send: PCIe holds sending up.
        waits.reads.set(now, self.transmit.window_used() > 0 && self.common.port.waiting_packets() == 0);
    }
}
