//! Applications: what their threads load, store and compute, as an endless sequence of steps.

mod step;

pub use step::Step;

use crate::params::AppParams;

/// Operations of a whole run of an application on all its cores; nothing of one without end.
#[must_use]
pub fn operations_in_all(app: &AppParams) -> Option<u64> {
    let _ = app;
    None
}
