//! Frequencies, voltages and sleep of cores, the governors that decide on them, and the power that cores draw.
//!
//! All are pure state machines: times and counters go in, decisions come out, and the owner of the cores applies
//! them. The only component is the power management of a server.

mod clock;
pub mod dvfs;
pub mod governor;
pub mod idle;
mod manager;
pub mod meter;
pub mod ncap;
pub mod util;

pub(crate) use clock::scaled;
pub use clock::{Clock, ClockChange};
pub use dvfs::{Dvfs, DvfsChange};
pub use governor::{Governor, GovernorSlot, Load, Look};
pub use idle::IdleGovernor;
pub use manager::{ManagedCore, PowerManager};
pub use meter::{core_power_uw, CoreActivity, CoreMeter, Residency};
pub use ncap::{DriverOrders, InterruptCause, Ncap};
pub use util::UtilTracker;

#[cfg(test)]
pub(crate) mod tables;
#[cfg(test)]
mod tests;
