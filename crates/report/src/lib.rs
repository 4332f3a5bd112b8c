//! What reports of runs are made of. Nothing here reads a file or depends on the clock or the platform, so that a
//! browser can make reports, too.
//!
//! * [`numbers`]: formats of numbers, for pages and the screen.

pub mod numbers;
