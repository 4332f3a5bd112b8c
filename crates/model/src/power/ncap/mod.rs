//! A NIC that sees bursts of requests come and end, and tells the power management (NCAP): chapter 2 of M. Alian, "A
//! Cross-Stack, Network-Centric Architectural Design for Next-Generation Datacenters" (2020), and HPCA 2017.

mod decision;
mod driver;
mod monitor;
#[cfg(test)]
mod tests;

pub use decision::DecisionEngine;
pub use driver::{orders, Orders};
pub use monitor::ReqMonitor;

use crate::params::NcapParams;
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// What is set in the interrupt cause register (ICR) when NCAP interrupts. `Cause::default()` is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// Packets have been received (IT_RX).
    pub rx: bool,
    /// A burst has come (IT_HIGH).
    pub high: bool,
    /// It is over, or goes on ending (IT_LOW).
    pub low: bool,
}

/// What watches packets, and what decides on interrupts. In the card its timer is the master timer of interrupts; in
/// software it is one of the driver.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ncap {
    monitor: ReqMonitor,
    engine: DecisionEngine,
}

impl Ncap {
    /// One whose timer begins at `now`.
    #[must_use]
    pub fn new(params: &NcapParams, now: Time) -> Self {
        Self { monitor: ReqMonitor::new(params), engine: DecisionEngine::new(params, now) }
    }

    /// A packet with payload that begins with these two bytes has been received. What to interrupt with at once, if it
    /// has to be.
    #[must_use]
    pub fn received(&mut self, now: Time, first: [u8; 2]) -> Option<Cause> {
        if self.monitor.received(first) {
            self.engine.request(now, self.monitor.requests())
        } else {
            None
        }
    }

    /// A packet of so many bytes has been sent.
    pub fn sent(&mut self, bytes: u64) {
        self.monitor.sent(bytes);
    }

    /// The timer has expired; `at_max` says whether cores have the highest frequency. What to interrupt with, if it has
    /// to be.
    #[must_use]
    pub fn expired(&mut self, now: Time, at_max: bool) -> Option<Cause> {
        let (requests, sent_bytes) = self.monitor.take();
        self.engine.expired(now, requests, sent_bytes, at_max)
    }

    /// The card has interrupted for another reason.
    pub fn interrupted(&mut self, now: Time) {
        self.engine.interrupted(now);
    }

    /// Steps down that are left (`level`): as many as there are after a burst has come, 0 at its end.
    #[must_use]
    pub fn level(&self) -> u32 {
        self.engine.level()
    }
}
