//! The network on a chip without a server around it: packets from a description or a trace, and what became of them.
//!
//! [`NocSimulation`] does all of it for a [`NocPlan`](hostnet_config::NocPlan): it reads the packets, runs them, and
//! reports. The network itself is [`hostnet_noc`].

mod report;
mod simulation;
mod verdict;

pub use simulation::{NocFault, NocPhase, NocReport, NocSimulation, NocStatus};
