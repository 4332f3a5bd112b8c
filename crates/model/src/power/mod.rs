//! Frequencies, voltages and sleep of cores, who decides on them, and what they take: pure state machines. Times and
//! counters go in, decisions come out; whoever has the cores does what is decided. The one part is the power management
//! of a server.

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
pub use dvfs::{Change, Dvfs};
pub use governor::{Governor, Load, Look, Seat};
pub use idle::IdleGovernor;
pub use manager::{Managed, PowerManager};
pub use meter::{core_power_uw, CoreActivity, CoreMeter, Residency};
pub use ncap::{Cause, Ncap, Orders};
pub use util::Util;

#[cfg(test)]
pub(crate) mod tables;
#[cfg(test)]
mod tests;
