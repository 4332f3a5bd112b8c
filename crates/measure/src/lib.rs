//! How hostnet measures itself.
//!
//! * [`Domain`] is a pool of credits over a path of hops: it limits, and it measures what it limits.
//! * [`Histogram`] keeps latencies at 1.6% resolution without allocating.
//! * [`Bins`] tell how busy something was over time, [`Waits`] when something waited.
//! * [`batch`] turns the values of equal slices of a run into a mean with a confidence interval, and finds the warm-up.

pub mod batch;
mod bins;
mod domain;
mod histogram;

pub use bins::{Bins, Waits};
pub use domain::{Domain, Usage};
pub use histogram::Histogram;
