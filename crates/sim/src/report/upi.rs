//! The table `upi`: the directions between the sockets of a server.

use crate::read::crossed::{crossed, UpiTraffic};
use crate::report::table::{Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_model::params::UpiParams;

/// One direction between two sockets.
pub(crate) struct UpiDirectionRow<'a> {
    view: &'a ServerView<'a>,
    upi: &'a UpiParams,
    direction: UpiTraffic,
}

/// Rows of the table: [`UpiDirectionRow`].
pub(crate) struct UpiDirectionRows;

impl TableRows for UpiDirectionRows {
    type Row<'a> = UpiDirectionRow<'a>;
}

pub(crate) const UPI: &[Column<UpiDirectionRows>] = &[
    Column::key(Column::integer("from", |row| u32::from(row.direction.from).into())),
    Column::key(Column::integer("to", |row| u32::from(row.direction.to).into())),
    Column::number("gb_per_s", |row| row.gb_per_s().into()),
    Column::number("busy_share", |row| (row.gb_per_s() * 1e9 / row.upi.bytes_per_s as f64).into()),
    Column::number("line_gb_per_s", |row| row.view.gb_per_s(row.direction.lines).into()),
    Column::integer("lines", |row| row.direction.lines.into()),
    Column::integer("messages", |row| (row.direction.lines + row.direction.others).into()),
];

impl UpiDirectionRow<'_> {
    /// Returns the rate of all bytes on the wire, in GB/s: messages with a line and without.
    fn gb_per_s(&self) -> f64 {
        let bytes = self.direction.lines * u64::from(self.upi.data_bytes)
            + self.direction.others * u64::from(self.upi.request_bytes);
        bytes as f64 * 1000.0 / self.view.window_ps()
    }
}

/// Builds the table, or returns `None` for a server of one socket.
pub(crate) fn build_upi(view: &ServerView) -> Option<Table> {
    let upi = &view.server.upi.as_ref()?.upi;
    let mut table = Table::of("upi", UPI);
    for direction in crossed(view.machine, view.server.sockets.len()) {
        table.add(UPI, &UpiDirectionRow { view, upi, direction });
    }
    Some(table)
}
