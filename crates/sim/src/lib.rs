//! Builds a world from a plan, runs it and returns results: the one boundary between the simulator and its users.
//!
//! ```no_run
//! use hostnet_sim::{Options, Run};
//! # fn example(plan: &hostnet_config::Plan) {
//! let mut run = Run::new(plan, Options::default());
//! let complete = run.run(|status| { println!("{} ps", status.simulated_ps); true }).expect("nothing is stuck");
//! let report = run.report();
//! println!("{complete} {}", report.summary);
//! # }
//! ```
//!
//! [`Options`] requests a time series, readings of all counters ([`Run::units`]), a trace ([`Run::take_trace`]) or a
//! checkpoint. [`Run::checkpoint`] returns the checkpoint, and [`Run::resume`] continues from it. [`predict`]
//! estimates the same results without a run. [`Report::tables`] are the tables of a run directory. [`run_many`] runs
//! plans on all cores.
//!
//! A run keeps a hash of its state every [`EPOCH_PS`]. [`first_deviation`] repeats the run of a plan and finds the
//! first epoch that differs from the recorded one. [`first_divergence`] runs two plans side by side and finds the
//! first event that differs.

pub mod build;
pub mod chip;
mod compare;
mod error;
pub mod filter;
mod forward;
pub mod frames;
pub mod memory;
pub mod noc;
mod read;
mod report;
mod run;
mod watch;

pub use build::feeds::check_traces;
pub use build::warm_up::{FillProgress, TURNOVERS};
pub use build::{PartitionShares, Preparation, RateTables};
pub use compare::{first_deviation, first_divergence, Deviation, Divergence, LockstepResult, ReplayVerdict};
pub use error::{HostError, MissingComponent, SimulationError};
pub use hostnet_kernel::checkpoint::CheckpointError;
pub use read::crossed::UpiTraffic;
pub use read::sample;
pub use read::units::{ChannelUnit, CoreUnit, PoolUnit, SocketUnit, Units};
pub use report::info::table_info;
pub use report::table::{Cell, ColumnKind, Table, TableContent, TableInfo};
pub use report::{epochs::table as epochs_table, predict, Report};
pub use run::{
    epoch_ps, latest_end_ps, run_many, CheckpointPiece, FinishedRun, Forecast, ManyStatus, Options, Run, RunStatus,
    SharedExchange, EPOCH_PS,
};
pub use watch::epochs::Epoch;
pub use watch::events::{EventLine, EventRecord, Part};
pub use watch::trace::{lanes, passage_lanes, Crossing, DatagramPassage, Hop, OccupancyCounter, Trace};

/// Doctests of the documentation pages: the examples of a controller and of a governor compile and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/models/control.md")]
#[doc = include_str!("../../../docs/controllers.md")]
#[doc = include_str!("../../../docs/governors.md")]
struct DocExamples;
