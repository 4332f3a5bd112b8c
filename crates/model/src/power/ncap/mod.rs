//! NCAP: a NIC that detects bursts of requests and notifies power management.
//!
//! Source: chapter 2 of M. Alian, "A Cross-Stack, Network-Centric Architectural Design for Next-Generation
//! Datacenters" (2020), and HPCA 2017.

mod decision;
mod driver;
mod monitor;
#[cfg(test)]
mod tests;

pub use decision::DecisionEngine;
pub use driver::{driver_orders, DriverOrders};
pub use monitor::ReqMonitor;

use crate::params::NcapParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Bits set in the interrupt cause register (ICR) when NCAP interrupts. `InterruptCause::default()` has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InterruptCause {
    /// Packets have been received (IT_RX).
    pub rx: bool,
    /// A burst has started (IT_HIGH).
    pub high: bool,
    /// A burst has ended, or takes another step down (IT_LOW).
    pub low: bool,
}

/// Monitor of packets and decision engine. In hardware, the timer is the master timer of interrupts. In software, the
/// timer belongs to the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ncap {
    monitor: ReqMonitor,
    engine: DecisionEngine,
}

impl Ncap {
    /// Creates a state machine whose timer starts at `now`.
    #[must_use]
    pub fn new(params: &NcapParams, now: Time) -> Self {
        Self { monitor: ReqMonitor::new(params), engine: DecisionEngine::new(params, now) }
    }

    /// Handles a received packet whose payload begins with the two bytes `first`. Returns the cause of an immediate
    /// interrupt, if one is due.
    #[must_use]
    pub fn received(&mut self, now: Time, first: [u8; 2]) -> Option<InterruptCause> {
        if self.monitor.received(first) {
            self.engine.request(now, self.monitor.requests())
        } else {
            None
        }
    }

    /// Counts a sent packet of `bytes` bytes.
    pub fn sent(&mut self, bytes: u64) {
        self.monitor.sent(bytes);
    }

    /// Handles an expiry of the timer. `at_max` is true if the cores have the highest frequency. Returns the cause of
    /// an interrupt, if one is due.
    #[must_use]
    pub fn expired(&mut self, now: Time, at_max: bool) -> Option<InterruptCause> {
        // Taken at every expiry, so that counts are per period.
        let (requests, sent_bytes) = self.monitor.take();
        self.engine.expired(now, requests, sent_bytes, at_max)
    }

    /// Records that the NIC has interrupted for another reason.
    pub fn interrupted(&mut self, now: Time) {
        self.engine.interrupted(now);
    }

    /// Returns the number of steps down that are left (`level`): all of them after the start of a burst, 0 at its
    /// end.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.engine.level()
    }
}
