//! Lists all tables of runs, with their content and their key columns.

use crate::report::table::{TableContent, TableInfo};
use crate::report::{caches, channels, domains, energy, mesh, network, tiering, upi, workloads};

/// Lists every table of any run, the most important first.
#[must_use]
pub fn table_info() -> Vec<TableInfo> {
    let mut all = network::table_info_of_traffic();
    all.push(TableInfo::of("workloads", workloads::WORKLOADS));
    all.extend(network::table_info());
    all.extend([
        TableInfo::of("domains", domains::DOMAINS),
        TableInfo::of("channels", channels::CHANNELS),
        TableInfo::of("caches", caches::CACHES),
        TableInfo::of("upi", upi::UPI),
        TableInfo::of("mesh_ways", mesh::MESH_WAYS),
        TableInfo::of("mesh", mesh::MESH),
        TableInfo::of("tiering", tiering::TIERING),
        TableInfo::of("energy", energy::ENERGY).with_content(TableContent::Derived),
        TableInfo::of("efficiency", energy::EFFICIENCY).with_content(TableContent::Derived),
    ]);
    let series = ["series", "host_series", "power_series"];
    all.extend(series.map(|name| TableInfo::new(name, std::iter::empty()).with_content(TableContent::Series)));
    all
}

/// Returns the content of the table with this name.
///
/// # Panics
/// Panics if [`table_info`] does not list the table.
pub(crate) fn holds(name: &str) -> TableContent {
    let found = table_info().into_iter().find(|info| info.name == name);
    found.unwrap_or_else(|| panic!("table {name} is not listed")).holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_table_is_listed_once_and_results_have_keys() {
        let all = table_info();
        let names: BTreeSet<&str> = all.iter().map(|info| info.name).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|info| info.holds == TableContent::Series || !info.keys.is_empty()));
    }
}
