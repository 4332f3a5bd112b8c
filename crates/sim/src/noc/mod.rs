//! Runs a network on a chip without a server: packets from a description or a trace, and their fates.
//!
//! [`NocSimulation`] runs a [`NocPlan`](hostnet_config::NocPlan): it reads the packets, sends them and reports. The
//! network itself is [`hostnet_noc`].

mod report;
mod simulation;
mod verdict;

pub use report::NocReport;
pub use simulation::{NocPhase, NocRunError, NocSimulation, NocStatus};
