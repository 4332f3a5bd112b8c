//! The table `functions`: functions of NICs with several PCIe links.

use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::nic::Nic;

/// One function of the NIC of a host.
struct FunctionRow<'a> {
    view: &'a WorldView<'a>,
    host: &'a str,
    number: u32,
    /// Socket that the function is attached to.
    socket: u8,
    nic: &'a Nic,
}

/// Rows of the table: [`FunctionRow`].
struct FunctionRows;

impl TableRows for FunctionRows {
    type Row<'a> = FunctionRow<'a>;
}

const FUNCTIONS: &[Column<FunctionRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::integer("function", |row| row.number.into())),
    Column::given(Column::integer("socket", |row| u32::from(row.socket).into())),
    Column::number("written_gbps", |row| row.gbps(0).into()),
    Column::number("read_gbps", |row| row.gbps(1).into()),
    Column::number("posted_share", |row| {
        let posted = row.nic.posted(row.number as usize);
        (posted.area_ps() as f64 / posted.window_ps() as f64 / f64::from(posted.capacity())).into()
    }),
    Column::integer("flows_steered", |row| row.nic.steered_to(row.number as usize).into()),
];

impl FunctionRow<'_> {
    /// Returns the throughput of writes to memory (`direction` 0) or of reads (1), in Gbit/s.
    fn gbps(&self, direction: usize) -> f64 {
        self.view.gbps(self.nic.moved_bytes(self.number as usize)[direction])
    }
}

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("functions", FUNCTIONS)
}

/// Builds the table, with the NICs of servers with several sockets. Returns `None` if there are none.
pub(super) fn function_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("functions", FUNCTIONS);
    for (host, machine) in view.servers() {
        let several = view.servers[host].as_ref().filter(|server| server.sockets.len() > 1);
        let (Some(server), Some(nic)) = (several, machine.first::<Nic>()) else { continue };
        for (number, (socket, _)) in (0..).zip(server.nic_links()) {
            let host = &view.plan.cluster.hosts[host].name;
            table.add(FUNCTIONS, &FunctionRow { view, host, number, socket, nic });
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
