//! Applications: what their threads load, store and compute, as an endless sequence of steps.

mod step;

pub use step::Step;
