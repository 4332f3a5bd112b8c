//! Explains and predicts servers from their configurations and counters, without simulating events.
//!
//! * [`Counters`]: the hardware counters of a simulated or a real server over one window.
//! * [`energy`]: the energy that a server consumed, from the activity of its parts.
//! * [`formula`]: the published formula for the queueing delay at the memory controller, from counters.
//! * [`binding`] and [`regime`]: the fullest domain on the path of a workload, and how cores and devices contend.
//! * [`offered`]: the load that storage offers, i.e. its throughput if the host did not hold it back.
//! * [`evidence`]: the bottleneck of a workload, inferred from occupancy and utilization along its path.
//! * [`explain`]: combines all of these for a run or a counter file.
//! * [`limits`]: the limits that make a workload faster when they are raised.
//! * [`mod@predict`]: the steady state of a server, from its configuration alone.

pub mod binding;
pub mod counters;
pub mod energy;
pub mod evidence;
pub mod explain;
pub mod formula;
pub mod limits;
pub mod offered;
mod pool;
pub mod predict;
pub mod regime;

pub use counters::{Counters, Flow};
pub use predict::{predict, Prediction};
