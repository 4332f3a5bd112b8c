//! The table `upi`: the directions between the sockets of a server.

use crate::read::crossed::{crossed, UpiTraffic};
use crate::report::table::{Column, Rows, Table};
use crate::report::view::ServerView;
use hostnet_model::params::UpiParams;

/// One direction between two sockets.
pub(crate) struct WayRow<'a> {
    view: &'a ServerView<'a>,
    upi: &'a UpiParams,
    way: UpiTraffic,
}

/// Rows of the table: [`WayRow`].
pub(crate) struct Ways;

impl Rows for Ways {
    type Row<'a> = WayRow<'a>;
}

pub(crate) const UPI: &[Column<Ways>] = &[
    Column::key(Column::integer("from", |row| u32::from(row.way.from).into())),
    Column::key(Column::integer("to", |row| u32::from(row.way.to).into())),
    Column::number("gb_per_s", |row| row.gb_per_s().into()),
    Column::number("busy_share", |row| (row.gb_per_s() * 1e9 / row.upi.bytes_per_s as f64).into()),
    Column::number("line_gb_per_s", |row| row.view.gb_per_s(row.way.lines).into()),
    Column::integer("lines", |row| row.way.lines.into()),
    Column::integer("messages", |row| (row.way.lines + row.way.others).into()),
];

impl WayRow<'_> {
    /// Returns the rate of all bytes on the wire, in GB/s: messages with a line and without.
    fn gb_per_s(&self) -> f64 {
        let bytes =
            self.way.lines * u64::from(self.upi.data_bytes) + self.way.others * u64::from(self.upi.request_bytes);
        bytes as f64 * 1000.0 / self.view.window_ps()
    }
}

impl ServerView<'_> {
    /// Builds the table, or returns `None` for a server of one socket.
    pub(crate) fn upi(&self) -> Option<Table> {
        let upi = &self.server.upi.as_ref()?.upi;
        let mut table = Table::of("upi", UPI);
        for way in crossed(self.machine, self.server.sockets.len()) {
            table.add(UPI, &WayRow { view: self, upi, way });
        }
        Some(table)
    }
}
