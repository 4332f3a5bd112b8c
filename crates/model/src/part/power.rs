//! Messages between cores, NIC and power management.

use serde::{Deserialize, Serialize};

/// Message between cores, NIC and power management.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PowerEvent {
    /// To the power management or the NIC, from itself: it is time to sample the load, or a transition continues.
    Wake,
    /// To a core, from the power management: the load since the last report is requested.
    Look,
    /// To the power management, from a core: its load since the last report.
    Load {
        /// Time that the core was not idle, in ns.
        busy_ns: u32,
        /// Time that the core was idle and waited for storage, in ns.
        waiting_ns: u32,
        /// Utilization of the core, in units of 1/1024 of its work at the highest frequency.
        util: u16,
    },
    /// To a core: its voltage is that of the P-state with this index from now on.
    Voltage(u16),
    /// To a core: its clock stops for this time, in ps.
    Halt(u32),
    /// To a core: its frequency is that of the P-state with this index from now on. To the NIC: that of the cores is.
    Frequency(u16),
    /// To a core: the kernel has work of this length, in ns at the reference clock. It does not end sleep.
    Work(u32),
    /// To a core: a timer of the kernel has expired, with work of this length, in ns at the reference clock.
    Timer(u32),
    /// To a core: its idle governor may (true) or must not (false) let it sleep.
    Sleep(bool),
    /// To the core that the NIC interrupts: a burst of requests begins (IT_HIGH) or ends (IT_LOW).
    Announce {
        /// True if the burst begins.
        high: bool,
    },
    /// To the power management, from a core: the driver has learned that a burst begins or ends.
    Announced {
        /// True if the burst begins.
        high: bool,
    },
    /// To a core, from itself: the tick of the scheduler.
    Tick,
    /// To a core, from itself: it has polled long enough and asks its idle governor again.
    Doze,
}
