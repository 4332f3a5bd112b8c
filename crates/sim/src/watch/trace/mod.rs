//! Records a stretch of a run line by line: the holder of each credit over time, and the occupancy of every queue.
//! The trace is kept in memory, and the caller writes it.

mod counter;
mod crossing;
mod lanes;
mod passage;
mod recorder;

pub use counter::OccupancyCounter;
pub use crossing::{Crossing, Hop};
pub use lanes::lanes;
pub use passage::{passage_lanes, DatagramPassage};
pub(crate) use recorder::TraceRecorder;

/// Trace of a stretch of a run, line by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Start of the trace, in ps.
    pub start_ps: u64,
    /// End of the trace, in ps.
    pub end_ps: u64,
    /// Credits that were returned during the trace, in the order of their return.
    pub crossings: Vec<Crossing>,
    /// One line in this many was kept, to limit the size of the trace.
    pub one_in: u64,
    /// Entries in use of each queue.
    pub counters: Vec<OccupancyCounter>,
    /// Datagrams that applications of the server read during the trace, in the order in which they were sent.
    pub passages: Vec<DatagramPassage>,
}
