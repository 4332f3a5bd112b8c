//! The memory system without a server around it: one source of requests, and controllers.
//!
//! The source is in order. It hands over at most one request per clock and controller, is blocked at its head while that
//! request is refused, and holds back reads while as many as allowed are outstanding. Within a clock the source comes
//! first, then data that is complete, then the commands.

mod run;
mod tally;

pub use run::{MemoryParts, MemoryRun};
pub use tally::Tally;
