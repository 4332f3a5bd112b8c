//! A chip, from its plan to its results: a warm-up, and windows until two of them differ little.

mod parts;
mod report;
mod run;

pub use report::ChipReport;
pub use run::{ChipPhase, ChipRunStatus, ChipSimulation};
