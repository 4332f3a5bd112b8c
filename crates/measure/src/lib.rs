//! Measurement primitives of hostnet.
//!
//! * [`Domain`] is a pool of credits over a path of hops. It limits a flow and measures what it limits.
//! * [`Histogram`] records latencies at a resolution of 1.6% without allocation.
//! * [`Bins`] record how busy a component was over time, and [`Waits`] when it waited.
//! * [`batch`] computes means with confidence intervals from equal slices of a run, and finds the end of the warm-up.

pub mod batch;
mod bins;
mod domain;
mod histogram;

pub use bins::{Bins, Waits};
pub use domain::{Domain, Usage};
pub use histogram::Histogram;
