//! TCP.

mod segment;

pub use segment::{SackBlock, Segment};
