//! Converts between text and values: quantities with units, lists of cores and ways of a cache. Defines the errors of
//! user input and their codes.

pub mod code;
pub mod cores;
pub mod error;
pub mod units;
pub mod ways;
