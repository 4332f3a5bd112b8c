//! Builds a world from a plan, runs it, hands back results: the one boundary between the simulator and its users.
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
//! [`Options`] asks for a time series, readings of all counters ([`Run::units`]), a trace ([`Run::take_trace`]) or a
//! checkpoint; [`Run::checkpoint`] hands the checkpoint out, and [`Run::resume`] goes on from it. [`predict`] tells the
//! same without a run, roughly. [`Report::tables`] are the tables of a run directory. [`run_many`] runs plans on all
//! cores.
//!
//! A run keeps a hash of its state every [`EPOCH_PS`]. [`first_deviation`] runs a plan again and finds the first epoch
//! that is not as recorded; [`first_divergence`] runs two plans side by side and finds the first event that differs.

mod attach;
pub mod build;
mod cluster;
pub mod coarse;
mod counters;
mod divergence;
#[cfg(test)]
mod divergence_tests;
mod epochs;
mod error;
mod events;
mod feeds;
pub mod filter;
mod fingerprint;
mod fluid;
pub mod frames;
mod limits;
pub mod memory;
mod reading;
mod report;
mod run;
pub mod sample;
mod table;
mod trace;
mod units;
mod view;
mod warm_up;
#[cfg(test)]
mod warm_up_tests;
mod watch;

pub use build::Preparation;
pub use divergence::{first_deviation, first_divergence, Again, Deviation, Divergence, Lockstep};
pub use epochs::Epoch;
pub use error::SimulationError;
pub use events::{EventRecord, Line, Part};
pub use feeds::check_traces;
pub use hostnet_kernel::checkpoint::CheckpointError;
pub use report::{epochs::table as epochs_table, predict, Report};
pub use run::{epoch_ps, run_many, Finished, HostError, Many, Options, Run, Status, EPOCH_PS};
pub use table::{Cell, Kind, Table};
pub use trace::{lanes, Counter, Crossing, Hop, Trace};
pub use units::{ChannelUnit, CoreUnit, Pool, Units};
pub use warm_up::{Filling, TURNOVERS};

impl Run {
    /// The epochs so far as a table.
    #[must_use]
    pub fn epochs_table(&self) -> Table {
        epochs_table(self.epochs())
    }
}

/// The example of a controller compiles and does what the page says.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/models/control.md")]
#[doc = include_str!("../../../docs/controllers.md")]
struct ControllerOfYourOwn;
