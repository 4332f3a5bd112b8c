//! Runs a memory system without a server: one source of requests, and controllers.
//!
//! The source is in order. It issues at most one request per clock and controller, is blocked while the request at
//! its head is refused, and holds back reads while the maximum number is outstanding. Within a clock the source comes
//! first, then completed data, then the commands.
//!
//! [`MemorySimulation`] runs a [`MemoryPlan`](hostnet_config::MemoryPlan): it opens the requests, serves them and
//! reports. [`MemoryRun`] is the memory system below it, for any requests.

mod report;
mod requests;
mod run;
mod simulation;
mod tally;

pub use report::MemoryReport;
pub use requests::MemoryError;
pub use run::{MemoryParts, MemoryRun};
pub use simulation::{MemoryPhase, MemorySimulation, MemoryStatus};
pub use tally::RequestTally;
