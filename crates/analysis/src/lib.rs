//! Predicts and explains: works on configurations and counters, not on events.
//!
//! * [`Counters`] are what a server's counters tell about a window, whether the server is simulated or real.
//! * [`formula`]: from counters to what queueing adds to latencies, as published.
//! * [`binding`] and [`regime`]: which domain binds a workload, and how cores and devices contend.
//! * [`explain`]: all of these together, for a run or a counter file.

pub mod binding;
pub mod counters;
pub mod explain;
pub mod formula;
pub mod offered;
pub mod regime;

pub use counters::{Counters, Flow};
