//! Intervals in which the NIC waited for PCIe, or for the path behind it.

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

impl NicWaits {
    /// Records that the head of the receive buffer waits for credits, and that the port waits for data, from `now` on.
    pub(super) fn note(&mut self, now: Time, credits: bool, reads: bool) {
        self.credits.set(now, credits);
        self.reads.set(now, reads);
    }
}
