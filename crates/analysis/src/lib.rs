//! Predicts and explains: works on configurations and counters, not on events.
//!
//! * [`Counters`] are what a server's counters tell about a window, whether the server is simulated or real.

pub mod counters;

pub use counters::{Counters, Flow};
