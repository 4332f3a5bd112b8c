//! The table `switches`: switches that learn addresses.

use crate::read::ends::network;
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::ether::{LearningCounts, LearningSwitch};

/// One switch that learns addresses.
struct SwitchRow<'a> {
    name: &'a str,
    switch: &'a LearningSwitch,
    /// Number of addresses in the table of the switch at present.
    known: u32,
    counts: LearningCounts,
}

/// Rows of the table: [`SwitchRow`].
struct SwitchRows;

impl TableRows for SwitchRows {
    type Row<'a> = SwitchRow<'a>;
}

const SWITCHES: &[Column<SwitchRows>] = &[
    Column::key(Column::text("switch", |row| row.name.into())),
    Column::integer("addresses", |row| row.known.into()),
    Column::given(Column::integer("table", |row| row.switch.params().table.into())),
    Column::integer("learned", |row| row.counts.addresses.learned.into()),
    Column::integer("forgotten", |row| row.counts.addresses.forgotten.into()),
    Column::integer("displaced", |row| row.counts.addresses.displaced.into()),
    Column::integer("flooded_packets", |row| row.counts.flooded_packets.into()),
    Column::integer("flooded_bytes", |row| row.counts.flooded_bytes.into()),
    Column::integer("filtered_packets", |row| row.counts.filtered_packets.into()),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("switches", SWITCHES)
}

/// Builds the table, with a row per switch that learns. Returns `None` without such switches.
pub(super) fn switch_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("switches", SWITCHES);
    for (number, switch) in network(view.simulation).learning_switches() {
        let name = &view.plan.cluster.switches[number as usize].name;
        let (known, counts) = (switch.known(view.now), switch.counts(view.now));
        table.add(SWITCHES, &SwitchRow { name, switch, known, counts });
    }
    (!table.rows.is_empty()).then_some(table)
}
