//! The table of epochs. It says how a run went, not what it measured, so it is no part of the results and their hash.

use crate::epochs::Epoch;
use crate::table::{Cell, Kind, Table};

const EPOCHS: &[(&str, Kind)] = &[("time_ns", Kind::Number), ("hash", Kind::Text)];

/// The table of `epochs`; of none for what was not simulated event by event.
#[must_use]
pub fn table(epochs: &[Epoch]) -> Table {
    let mut table = Table::new("epochs", EPOCHS);
    for epoch in epochs {
        table.push(vec![Cell::from(epoch.end_ps as f64 / 1000.0), format!("{:016x}", epoch.hash).into()]);
    }
    table
}
