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
//! [`Options`] asks for a time series or a checkpoint; [`Run::checkpoint`] hands the checkpoint out, and [`Run::resume`] goes on
//! from it. [`predict`] tells the same without a run, roughly. [`Report::tables`] are the tables of a run directory. [`run_many`] runs plans on all cores.

pub mod build;
mod counters;
mod limits;
mod many;
pub mod memory;
mod report;
mod run;
pub mod sample;
mod table;
mod view;

pub use hostnet_kernel::checkpoint::CheckpointError;
pub use many::{run_many, Finished, Many};
pub use report::{predict, Report};
pub use run::{Options, Run, SimulationError, Status};
pub use table::{Cell, Kind, Table};

impl Run {
    /// The results so far.
    #[must_use]
    pub fn report(&mut self) -> Report {
        self.view().report()
    }
}
