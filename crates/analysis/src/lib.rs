//! Predicts and explains: works on configurations and counters, not on events.
//!
//! * [`Counters`] are what a server's counters tell about a window, whether the server is simulated or real.
//! * [`energy`]: what a server consumed, from what its parts did.
//! * [`formula`]: from counters to what queueing adds to latencies, as published.
//! * [`binding`] and [`regime`]: which domain on its path is fullest, and how cores and devices contend.
//! * [`offered`]: what storage would move if nothing in the host held it back.
//! * [`evidence`]: what limits a workload, told from how full everything on its way is.
//! * [`explain`]: all of these together, for a run or a counter file.
//! * [`limits`]: what makes a workload faster when it is raised.
//! * [`predict`]: what a server does, from its configuration alone.

pub mod binding;
pub mod counters;
pub mod energy;
pub mod evidence;
pub mod explain;
pub mod formula;
pub mod limits;
pub mod offered;
pub mod predict;
pub mod regime;

pub use counters::{Counters, Flow};
pub use predict::{predict, Prediction};
