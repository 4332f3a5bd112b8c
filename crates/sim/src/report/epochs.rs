//! The table `epochs`. It describes the course of a run and measures nothing, so it has no part in the results and
//! their hash.

use crate::report::table::{Column, Table, TableRows};
use crate::watch::epochs::Epoch;

/// Rows of the table: [`Epoch`].
struct EpochRows;

impl TableRows for EpochRows {
    type Row<'a> = Epoch;
}

const EPOCHS: &[Column<EpochRows>] = &[
    Column::number("time_ns", |epoch| (epoch.end_ps as f64 / 1000.0).into()),
    Column::text("hash", |epoch| format!("{:016x}", epoch.hash).into()),
];

/// Builds the table of `epochs`. It is empty for a run that was not simulated event by event.
#[must_use]
pub fn table(epochs: &[Epoch]) -> Table {
    let mut table = Table::of("epochs", EPOCHS);
    epochs.iter().for_each(|epoch| table.add(EPOCHS, epoch));
    table
}
