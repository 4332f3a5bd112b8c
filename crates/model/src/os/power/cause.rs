//! Cause register of the NIC (ICR), which the interrupt handler reads before anything else.

use serde::{Deserialize, Serialize};

/// Information that the interrupt handler must read from the cause register.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::os) struct CauseRead {
    /// Time that the handler waits for the register, in ps; 0 if it does not read it.
    pub(in crate::os) read_ps: u64,
    /// True if a read of the register is due.
    asked: bool,
    /// True if packets have arrived (IT_RX).
    received: bool,
    /// Begin (true) or end (false) of a burst, if the NIC announced one.
    high: Option<bool>,
}

impl CauseRead {
    /// Notes an interrupt for packets. Returns true if the handler reads the cause before it polls.
    pub(in crate::os) fn note_received(&mut self) -> bool {
        let asks = self.read_ps > 0;
        self.asked |= asks;
        self.received |= asks;
        asks
    }

    /// Notes an interrupt by which the NIC announces that a burst begins or ends.
    pub(super) fn announce(&mut self, high: bool) {
        self.asked = true;
        self.high = Some(high);
    }

    /// Begins the read of the register if one is due, and returns its time in ps.
    pub(super) fn take_read(&mut self) -> Option<u64> {
        std::mem::take(&mut self.asked).then_some(self.read_ps)
    }

    /// Returns true if a read of the register is due.
    pub(super) fn is_pending(&self) -> bool {
        self.asked
    }

    /// Ends the read. Returns the begin (true) or end (false) of a burst if the NIC announced one, and true if packets
    /// have arrived.
    pub(in crate::os) fn end_read(&mut self) -> (Option<bool>, bool) {
        (self.high.take(), std::mem::take(&mut self.received))
    }
}
