//! Why a run cannot go on.

use hostnet_traffic::TraceError;
use thiserror::Error;

/// Why a run cannot go on.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum SimulationError {
    /// Credits are held and nothing moves.
    #[error(
        "nothing has moved for {idle_us} us at {at_us} us of simulated time: {domain} holds {in_use} of \
        {capacity} credits{part}"
    )]
    Stuck {
        /// The domain with the largest share of its credits in use.
        domain: String,
        /// Where it is.
        part: String,
        /// Credits in use.
        in_use: u32,
        /// Credits in all.
        capacity: u32,
        /// Simulated time in us.
        at_us: u64,
        /// Time without progress in us.
        idle_us: u64,
    },
    /// Pauses (PFC) wait for each other.
    #[error("deadlock at {at_us} us of simulated time: each of these ports is paused until packets leave by the next, \
        and the last waits for the first: {}", .cycle.join(" -> "))]
    Deadlock {
        /// The ports in the order in which they wait: the switch, the number of the port among those of the switch, the
        /// host or switch that it leads to, and the priority.
        cycle: Vec<String>,
        /// Simulated time at which it was found, in us.
        at_us: u64,
    },
    /// A trace that a core replays is wrong: file, line and rule.
    #[error("{0}")]
    Trace(#[from] TraceError),
    /// A controller from outside is missing: the host and what it needs.
    #[error("{0}")]
    Controller(String),
    /// Another process that takes part in the run has come to an error.
    #[error("{0}")]
    Told(String),
    /// No core of a chip goes on.
    #[error("at {at_us} us of simulated time nothing is left to do on the chip")]
    IdleChip {
        /// Simulated time in us.
        at_us: u64,
    },
    /// Events happen, and time stands still.
    #[error("time stands still at {at_ps} ps: events follow each other without end")]
    Livelock {
        /// Simulated time in ps.
        at_ps: u64,
    },
}
