//! The parts of machines.

pub mod params;
