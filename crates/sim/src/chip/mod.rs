//! Runs a chip, or a rack of chips, from its plan to its results: a warm-up, and then windows until two consecutive
//! ones hardly differ.

mod links;
mod machine;
mod parts;
mod rack;
mod report;
mod run;
mod units;
mod window;

pub use report::ChipReport;
pub use run::{ChipPhase, ChipRunStatus, ChipSimulation};
