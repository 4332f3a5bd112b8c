//! The table `mcn`: traffic of the interfaces of memory channel networks, and data still in them.

use crate::report::table::{Cell, Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::mcn::{Mcn, McnCounts};

/// One interface of a machine to another one.
struct InterfaceRow<'a> {
    host: &'a str,
    to: &'a str,
    counts: &'a McnCounts,
    /// Packets that wait in the interface.
    waiting: u64,
    /// Lines in use of the ring of the interface.
    lines: u32,
}

/// Rows of the table: [`InterfaceRow`].
struct InterfaceRows;

impl TableRows for InterfaceRows {
    type Row<'a> = InterfaceRow<'a>;
}

const INTERFACES: &[Column<InterfaceRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::text("to", |row| row.to.into())),
    Column::integer("offered", |row| row.counts.offered.into()),
    Column::integer("sent", |row| row.counts.sent.into()),
    Column::integer("sent_bytes", |row| row.counts.sent_bytes.into()),
    Column::integer("dropped", |row| row.counts.dropped.into()),
    Column::integer("waiting", |row| row.waiting.into()),
    Column::integer("busy", |row| row.counts.busy.into()),
    Column::integer("ring_lines", |row| row.lines.into()),
    Column::integer("arrived", |row| row.counts.arrived.into()),
    Column::integer("read", |row| row.counts.read.into()),
    Column::integer("early", |row| row.counts.early.into()),
    Column::number("fence_ns", |row| {
        let McnCounts { fences, fence_ps, .. } = *row.counts;
        if fences == 0 {
            return Cell::Empty;
        }
        (fence_ps as f64 / fences as f64 / 1000.0).into()
    }),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("mcn", INTERFACES)
}

/// Builds the table, with two rows per DIMM with processors: the interface of its host and its own. Returns `None`
/// without such DIMMs.
pub(super) fn interface_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("mcn", INTERFACES);
    let name = |host: usize| view.plan.cluster.hosts[host].name.as_str();
    for (host, machine) in view.servers() {
        let Some(mcn) = machine.first::<Mcn>() else { continue };
        for ((peer, counts), (waiting, lines)) in mcn.counts().zip(mcn.waiting().zip(mcn.used())) {
            table.add(INTERFACES, &InterfaceRow { host: name(host), to: name(peer.into()), counts, waiting, lines });
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
