//! Predicts and explains: works on configurations and counters, not on events.
//!
//! * [`Counters`] are what a server's counters tell about a window, whether the server is simulated or real.
//! * [`binding`] and [`regime`]: which domain binds a workload, and how cores and devices contend.
//! * [`predict`]: what a server does, from its configuration alone.

pub mod binding;
pub mod counters;
pub mod predict;
pub mod regime;

pub use counters::{Counters, Flow};
pub use predict::{predict, Prediction};
