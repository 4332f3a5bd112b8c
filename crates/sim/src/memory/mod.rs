//! The memory system without a server around it: one source of requests, and controllers.
//!
//! The source is in order. It hands over at most one request per clock and controller, is blocked at its head while
//! that request is refused, and holds back reads while as many as allowed are outstanding. Within a clock the source
//! comes first, then data that is complete, then the commands.
//!
//! [`MemorySimulation`] does all of it for a [`MemoryPlan`](hostnet_config::MemoryPlan): it opens the requests, runs
//! them, and reports; [`MemoryRun`] is the memory system under it, for any requests.

mod report;
mod requests;
mod run;
mod simulation;
mod tally;

pub use requests::MemoryError;
pub use run::{MemoryParts, MemoryRun};
pub use simulation::{MemoryPhase, MemoryReport, MemorySimulation, MemoryStatus};
pub use tally::Tally;
