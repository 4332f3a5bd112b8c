//! Tables of all servers of a cluster.

use crate::report::caches::CACHES;
use crate::report::channels::CHANNELS;
use crate::report::domains::DOMAINS;
use crate::report::energy::ENERGY;
use crate::report::series::SERIES;
use crate::report::table::{headings, Cell, Column, ColumnKind, Table, TableRows};
use crate::report::workloads::WORKLOADS;
use crate::report::ServerResults;
use serde_json::Value;

/// Tables of several servers: those of a single server, with a column `host` before the others.
pub(super) struct ServerTables {
    pub(super) workloads: Table,
    pub(super) domains: Table,
    pub(super) channels: Table,
    pub(super) caches: Table,
    pub(super) series: Table,
    pub(super) energy: Table,
    /// Energy of the servers and switches, in aJ; `None` if none has a meter.
    pub(super) consumed: Option<u128>,
}

/// Creates an empty table with a column `host` before the given ones.
fn with_host<T: TableRows>(name: &'static str, columns: &[Column<T>]) -> Table {
    let own = Table::of(name, columns);
    let all = Table::new(name, std::iter::once(("host", ColumnKind::Text)).chain(headings(columns)));
    // The column `host` comes first, so all others move up by one.
    Table { optional_from: own.optional_from + 1, ..all }
}

impl ServerTables {
    pub(super) fn new() -> Self {
        Self {
            workloads: with_host("workloads", WORKLOADS),
            domains: with_host("domains", DOMAINS),
            channels: with_host("channels", CHANNELS),
            caches: with_host("caches", CACHES),
            series: with_host("host_series", SERIES),
            energy: with_host("energy", ENERGY),
            consumed: None,
        }
    }

    /// Adds the rows of a server, and returns its summary.
    pub(super) fn add(&mut self, host: &str, results: ServerResults) -> Value {
        // Clusters have no tables of UPI and mesh: both stay in the summary of their server.
        let ServerResults {
            workloads,
            domains,
            channels,
            caches,
            series,
            summary,
            metered,
            upi: _,
            mesh: _,
            tiering: _,
        } = results;
        if let Some(metered) = &metered {
            *self.consumed.get_or_insert(0) += metered.all;
        }
        let energy = metered.map(|metered| metered.energy);
        let own = [Some(workloads), Some(domains), Some(channels), caches, Some(series), energy];
        let Self { workloads, domains, channels, caches, series, energy, consumed: _ } = self;
        let all = [workloads, domains, channels, caches, series, energy];
        for (table, own) in all.into_iter().zip(own) {
            append_rows(table, host, own.map_or_else(Vec::new, |own| own.rows));
        }
        summary
    }

    /// Adds the energy of a switch.
    pub(super) fn add_switch(&mut self, name: &str, energy: Table, attojoules: u128) {
        *self.consumed.get_or_insert(0) += attojoules;
        append_rows(&mut self.energy, name, energy.rows);
    }
}

/// Adds the rows of a host or a switch, each with its name in the first column.
fn append_rows(table: &mut Table, name: &str, rows: Vec<Vec<Cell>>) {
    for row in rows {
        table.push(std::iter::once(Cell::from(name)).chain(row).collect());
    }
}
