//! What cores, NIC and power management tell each other.

use serde::{Deserialize, Serialize};

/// What cores, NIC and power management tell each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PowerEvent {
    /// To the power management from itself: it is time to look at the load, or a transition goes on.
    Wake,
    /// To a core: how busy has it been since the last time?
    Look,
    /// From a core: so busy.
    Load {
        /// Time that it was not idle, in ns.
        busy_ns: u32,
        /// Time that it was idle and storage was waited for, in ns.
        waiting_ns: u32,
        /// Its utilisation in units of 1/1024 of what the highest frequency lets it do.
        util: u16,
    },
    /// To a core: its voltage is that of a P-state from now on.
    Voltage(u16),
    /// To a core: its clock stands still for so long, in ps.
    Halt(u32),
    /// To a core or the NIC: its frequency, or that of the cores, is that of a P-state from now on.
    Frequency(u16),
    /// To a core: the kernel has this to do, in ns at the reference clock.
    Work(u32),
    /// To a core: a timer of the kernel has come, which has this to do, in ns at the reference clock.
    Timer(u32),
    /// To a core: whether its idle governor may let it sleep.
    Sleep(bool),
    /// From the NIC to the core that it interrupts: a burst of requests has come (IT_HIGH), or is over (IT_LOW).
    Announce {
        /// Whether it has come.
        high: bool,
    },
    /// From a core to the power management: what its driver was told.
    Announced {
        /// Whether a burst has come.
        high: bool,
    },
    /// From a core to itself: the tick of the scheduler.
    Tick,
    /// From a core to itself: it has polled for long enough.
    Doze,
}
