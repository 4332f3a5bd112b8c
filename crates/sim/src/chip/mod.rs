//! A chip or a rack of them, from its plan to its results: a warm-up, and windows until two of them differ little.

mod machine;
mod parts;
mod rack;
mod report;
mod run;

pub use report::ChipReport;
pub use run::{ChipPhase, ChipRunStatus, ChipSimulation};
