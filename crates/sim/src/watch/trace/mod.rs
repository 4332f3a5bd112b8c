//! What a stretch of a run looked like, line by line: who held which credit from when to when, and how full every queue
//! was. It is kept in memory; whoever asked for it writes it.

mod counter;
mod crossing;
mod lanes;
mod passage;
mod recorder;

pub use counter::Counter;
pub use crossing::{Crossing, Hop};
pub use lanes::lanes;
pub use passage::{passage_lanes, Passage};
pub(crate) use recorder::Recorder;

/// A stretch of a run, line by line.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// When it begins, in ps.
    pub start_ps: u64,
    /// When it ends.
    pub end_ps: u64,
    /// Credits that came back in it, in the order in which they did.
    pub crossings: Vec<Crossing>,
    /// Of how many lines one was kept: the rest would not have fitted.
    pub one_in: u64,
    /// How many entries of each queue were in use.
    pub counters: Vec<Counter>,
    /// Datagrams that applications of the server read in it, in the order in which they set out.
    pub passages: Vec<Passage>,
}
