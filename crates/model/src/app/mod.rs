//! Applications: what their threads load, store and compute, as an endless sequence of steps.

mod step;
mod stub;
pub use stub::Generator;

pub use step::Step;
