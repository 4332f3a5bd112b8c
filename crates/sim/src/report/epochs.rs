//! The table of epochs. It says how a run went, not what it measured, so it is no part of the results and their hash.

use crate::report::table::{Column, Rows, Table};
use crate::watch::epochs::Epoch;

/// The rows of the table.
struct Epochs;

impl Rows for Epochs {
    type Row<'a> = Epoch;
}

const EPOCHS: &[Column<Epochs>] = &[
    Column::number("time_ns", |epoch| (epoch.end_ps as f64 / 1000.0).into()),
    Column::text("hash", |epoch| format!("{:016x}", epoch.hash).into()),
];

/// The table of `epochs`; of none for what was not simulated event by event.
#[must_use]
pub fn table(epochs: &[Epoch]) -> Table {
    let mut table = Table::of("epochs", EPOCHS);
    epochs.iter().for_each(|epoch| table.add(EPOCHS, epoch));
    table
}
