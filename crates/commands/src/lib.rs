//! Commands that every front end of hostnet has: Python and the command line call them through `crates/python`, and
//! a browser through `crates/web`.
//!
//! * [`resolve`], [`check_predictable`], [`check_series`], [`server_of`]: plans of servers and clusters.
//! * [`trace_error`]: the mistake in a trace.
//! * [`predict`]: a prediction in the form of a finished run. [`results_json`]: a finished run as JSON.
//! * [`Status`]: the progress of any run or of its preparation.
//! * [`explain`]: the explanation of a server from its counters.
//! * [`raised_plans`], [`remedies`]: the limits of a server, raised one by one, and the gain of each workload.

mod explain;
mod plan;
pub mod remedies;
mod results;
mod status;

pub use explain::{explain, explain_run};
pub use plan::{
    check_predictable, check_series, raised_plans, resolve, server_number, server_of, trace_error, RaisedPlan,
    SERIES_STEPS_MAX,
};
pub use results::{predict, results_json};
pub use status::Status;
