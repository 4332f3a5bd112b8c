//! The tables of a server: their rows, chosen once for the screen and for the page of a run.

use super::channels::{channel_row, fold_channels, is_idle};
use super::columns::{
    Column, APPLICATIONS, CACHES, CHANNELS, DDIO, DOMAINS, LINKS, LLC, MESH, REQUESTS, TIERING, WORKLOADS,
};
use super::links::fold_idle_links;
use super::pools::{fold_idle_pools, partial_pool_rows, row_label, rows_by_place};
use crate::row::{with_values, Fields, Row, ALL};
use serde::Serialize;
use serde_json::{json, Value};

/// Maximum number of legs over a mesh on the screen: those with most messages.
const MESH_ROWS_MAX: usize = 12;

/// A table of a server.
#[derive(Clone, Debug, Serialize)]
pub struct ServerTable {
    pub(crate) title: &'static str,
    /// Result table that defines its columns.
    pub(crate) source: &'static str,
    #[serde(skip)]
    pub(crate) columns: &'static [Column],
    pub(crate) rows: Vec<Row>,
    /// Rows on the screen, if they are fewer. An `idle` row stands for several of which nothing was used.
    pub(crate) screen_rows: Option<Vec<Row>>,
    /// Index of the column on the screen that says "idle" in such a row; negative from the end.
    pub(crate) idle_index: i32,
}

impl ServerTable {
    fn new(kind: &TableKind, rows: Vec<Row>) -> Self {
        Self { title: kind.title, source: kind.source, columns: kind.columns, rows, screen_rows: None, idle_index: 1 }
    }

    /// Returns true if any row has a value of a column, or all are idle; other columns are not shown.
    pub(crate) fn is_filled(&self, column: &Column) -> bool {
        let has_value = |row: &Row| row.value(column.key).is_some_and(|value| value != "");
        self.rows.iter().any(has_value) || self.rows.iter().all(|row| row.is_set("idle"))
    }
}

/// A table without its rows.
#[derive(Debug, Serialize)]
pub struct TableKind {
    title: &'static str,
    source: &'static str,
    columns: &'static [Column],
}

impl TableKind {
    const fn new(title: &'static str, source: &'static str, columns: &'static [Column]) -> Self {
        Self { title, source, columns }
    }
}

const WORKLOAD_TABLE: TableKind = TableKind::new("Workloads", "workloads", WORKLOADS);
const REQUEST_TABLE: TableKind = TableKind::new("I/O requests", "workloads", REQUESTS);
const APPLICATION_TABLE: TableKind = TableKind::new("Applications", "workloads", APPLICATIONS);
const CACHE_TABLE: TableKind = TableKind::new("Caches", "caches", CACHES);
const DDIO_TABLE: TableKind = TableKind::new("DDIO", "caches", DDIO);
const LLC_TABLE: TableKind = TableKind::new("LLC", "caches", LLC);
const DOMAIN_TABLE: TableKind = TableKind::new("Domains", "domains", DOMAINS);
const CHANNEL_TABLE: TableKind = TableKind::new("Memory channels", "channels", CHANNELS);
const LINK_TABLE: TableKind = TableKind::new("UPI", "upi", LINKS);
const MESH_TABLE: TableKind = TableKind::new("Ways", "mesh_ways", MESH);
const TIERING_TABLE: TableKind = TableKind::new("Page migration", "tiering", TIERING);

/// Returns every table, without its rows.
#[must_use]
pub fn table_kinds() -> [TableKind; 11] {
    [
        WORKLOAD_TABLE,
        REQUEST_TABLE,
        APPLICATION_TABLE,
        CACHE_TABLE,
        DDIO_TABLE,
        LLC_TABLE,
        DOMAIN_TABLE,
        CHANNEL_TABLE,
        LINK_TABLE,
        MESH_TABLE,
        TIERING_TABLE,
    ]
}

/// Returns the tables of a group of the summary of a server: `workloads`, `caches`, `domains`, `channels`, `total`,
/// `upi`, `mesh` or `tiering`. Another group has none.
#[must_use]
pub fn tables_of(group: &str, summary: &Row) -> Vec<ServerTable> {
    match group {
        "workloads" => workload_tables(summary),
        "caches" => cache_tables(summary),
        "domains" => vec![domain_table(summary)],
        "channels" => vec![channel_table(summary)],
        "total" => vec![total_table(summary)],
        "upi" => vec![link_table(summary)],
        "mesh" => vec![mesh_table(summary)],
        "tiering" => vec![tiering_table(summary)],
        _ => Vec::new(),
    }
}

/// Returns the rows of a table that the summary has.
fn summary_rows(summary: &Row, table: &str) -> Vec<Row> {
    summary.rows(table).into_iter().cloned().collect()
}

/// Returns the tables of workloads, of their storage I/O and of their applications; the latter two only if any.
pub(crate) fn workload_tables(summary: &Row) -> Vec<ServerTable> {
    let with = |key: &str| -> Vec<Row> {
        summary_rows(summary, "workloads").into_iter().filter(|row| row.value(key).is_some()).collect()
    };
    let more = [
        ServerTable::new(&REQUEST_TABLE, with("io_completed")),
        ServerTable::new(&APPLICATION_TABLE, with("operations_per_s")),
    ];
    let more = more.into_iter().filter(|table| !table.rows.is_empty());
    [ServerTable::new(&WORKLOAD_TABLE, summary_rows(summary, "workloads"))].into_iter().chain(more).collect()
}

/// Returns the tables of cache accesses of cores and of devices, and of the LLC of each of several sockets.
pub(crate) fn cache_tables(summary: &Row) -> Vec<ServerTable> {
    let caches = summary.rows("caches");
    let llc = summary.value("llc").and_then(Value::as_object);
    let sockets = llc.map(|llc| llc.rows("sockets")).unwrap_or_default();
    // With several sockets, the total capacity of the LLCs says nothing about the one that is full.
    let size = |key: &str| llc.filter(|_| sockets.is_empty()).and_then(|llc| llc.value(key)).cloned();
    let is_shown = |row: &&&Row| row.text("workload") != ALL || caches.len() > 2;
    let shown: Vec<Row> = caches.iter().filter(is_shown).map(|row| cache_row(row)).collect();
    let is_of_cores = |row: &&Row| row.nonzero("l2_lookups").is_some() || row.text("workload") == ALL;
    let is_of_devices = |row: &&Row| row.value("ddio_hit_ratio").is_some() || row.nonzero("io_reads").is_some();
    let mut cores: Vec<Row> = shown.iter().filter(is_of_cores).cloned().collect();
    if cores.is_empty() {
        cores.extend(shown.first().cloned());
    }
    let mut devices: Vec<Row> = shown.iter().filter(is_of_devices).cloned().collect();
    for (rows, key, size) in [(&mut cores, "llc_mib", size("mib")), (&mut devices, "ddio_mib", size("ddio_mib"))] {
        // The first row is the whole server, or its only workload.
        if let Some(first) = rows.first_mut() {
            first.insert(key.to_owned(), size.unwrap_or_default());
        }
    }
    let sockets = sockets.into_iter().enumerate().map(|(index, row)| llc_row(index, row)).collect();
    let tables = [(&CACHE_TABLE, cores), (&DDIO_TABLE, devices), (&LLC_TABLE, sockets)];
    let tables = tables.into_iter().map(|(kind, rows)| ServerTable::new(kind, rows));
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Returns a row of `caches` with the shares and sums that the table shows.
fn cache_row(row: &Row) -> Row {
    let share = |part: &str, whole: &str| Some(row.number(part)? / row.nonzero(whole)?);
    let sum = |one: &str, other: &str| Some(row.number(one)? + row.number(other)?);
    let count = |one: &str, other: &str| Some(row.whole(one)? + row.whole(other)?);
    let shares = json!({
        "prefetched_share": share("prefetch_filled", "l2_lookups"),
        // Above 1 if lines that were prefetched during the warm-up are used in the window.
        "used_share": share("prefetch_used", "prefetch_filled"),
        "held_mib": sum("llc_mib_core", "llc_mib_io"),
        "written": count("ddio_updates", "ddio_allocations"),
        "read_hit_share": share("io_read_hits", "io_reads"),
    });
    with_values(row, shares)
}

/// Returns the occupancy and the misses of the LLC of a socket.
fn llc_row(socket: usize, row: &Row) -> Row {
    let misses = row.number("misses").zip(row.nonzero("lookups")).map(|(misses, lookups)| misses / lookups);
    with_values(row, json!({"socket": socket, "name": format!("socket {socket}"), "miss_ratio": misses}))
}

/// Returns the table of credits, latency and throughput by domain, with a row per place. `label` names both.
pub(crate) fn domain_table(summary: &Row) -> ServerTable {
    let rows = rows_by_place(summary).into_iter().chain(partial_pool_rows(summary));
    let rows = fold_idle_pools(rows.filter(|row| row.text("workload") == ALL).collect());
    let labelled = rows.iter().map(|row| with_values(row, json!({"label": row_label(row)})));
    ServerTable::new(&DOMAIN_TABLE, labelled.collect())
}

/// Returns a table of domains with further rows and a column that says what they are of.
pub(crate) fn table_of_domains(title: &'static str, columns: &'static [Column], rows: Vec<Row>) -> ServerTable {
    ServerTable::new(&TableKind::new(title, DOMAIN_TABLE.source, columns), rows)
}

/// Returns the table of memory channels and their total; with several sockets, the total of each.
pub(crate) fn channel_table(summary: &Row) -> ServerTable {
    let (mut channels, all): (Vec<Row>, Vec<Row>) = summary
        .rows("channels")
        .into_iter()
        .map(channel_row)
        .partition(|row| row.whole("channel").is_some_and(|channel| channel >= 0));
    channels.sort_by_key(|row| row.whole("channel"));
    // A mean over sockets without traffic says nothing about the one that is busy.
    let sockets: Vec<Row> = summary.rows("channels_of_sockets").into_iter().map(socket_row).collect();
    let totals = if sockets.is_empty() { all } else { sockets };
    let shown = fold_channels(&channels).into_iter().chain(totals.iter().cloned()).collect();
    let rows = channels.into_iter().chain(totals).collect();
    ServerTable { screen_rows: Some(shown), idle_index: -1, ..ServerTable::new(&CHANNEL_TABLE, rows) }
}

/// Returns the row of the channels of a socket together.
fn socket_row(row: &Row) -> Row {
    let name = format!("socket {}", row.whole("socket").unwrap_or_default());
    with_values(&channel_row(row), json!({"name": name, "idle": is_idle(row)}))
}

/// Returns the table of the total of the memory channels.
pub(crate) fn total_table(summary: &Row) -> ServerTable {
    let rows = summary.rows("channels").into_iter().filter(|row| row.whole("channel").is_some_and(|all| all < 0));
    ServerTable::new(&CHANNEL_TABLE, rows.map(channel_row).collect())
}

/// Returns the table of UPI traffic by direction.
pub(crate) fn link_table(summary: &Row) -> ServerTable {
    ServerTable::new(&LINK_TABLE, fold_idle_links(&summary.rows("upi")))
}

/// Returns the table of the distances and waiting times of messages on the mesh, by workload.
pub(crate) fn mesh_table(summary: &Row) -> ServerTable {
    let ways = summary.rows("mesh_ways");
    let are_several = ways.iter().any(|row| row.value("socket") != ways[0].value("socket"));
    let row = |row: &&Row| {
        let (workload, socket) = (row.text("workload"), row.whole("socket").unwrap_or_default());
        let whose = if are_several { format!("{workload}, socket {socket}") } else { workload.to_owned() };
        with_values(row, json!({"whose": whose}))
    };
    let rows: Vec<Row> = ways.iter().map(row).collect();
    let mut most = rows.clone();
    most.sort_by(|one, other| {
        let messages = |row: &Row| row.number("messages").unwrap_or_default();
        messages(other).total_cmp(&messages(one))
    });
    most.truncate(MESH_ROWS_MAX);
    ServerTable { screen_rows: Some(most), ..ServerTable::new(&MESH_TABLE, rows) }
}

/// Returns the table of pages that migrate to and from memory behind a link.
pub(crate) fn tiering_table(summary: &Row) -> ServerTable {
    ServerTable::new(&TIERING_TABLE, summary_rows(summary, "tiering"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::row;

    #[test]
    fn more_prefetched_lines_may_be_used_than_were_prefetched() {
        let shown = cache_row(&row(json!({"prefetch_filled": 100, "prefetch_used": 130, "l2_lookups": 0})));
        assert_eq!(shown.number("used_share"), Some(1.3));
        assert_eq!(shown.value("prefetched_share"), None);
    }

    #[test]
    fn every_column_of_a_table_has_a_key_of_its_own() {
        for kind in table_kinds() {
            let mut keys: Vec<&str> = kind.columns.iter().map(|column| column.key).collect();
            keys.sort_unstable();
            keys.dedup();
            assert_eq!(keys.len(), kind.columns.len(), "{}", kind.title);
        }
    }

    #[test]
    fn legs_with_most_messages_are_on_the_screen() {
        let ways: Vec<Value> = (0..20)
            .map(|number| json!({"workload": format!("w{number}"), "socket": number / 10, "messages": number}))
            .collect();
        let table = mesh_table(&row(json!({"mesh_ways": ways})));
        assert_eq!(table.rows.len(), 20);
        let screen = table.screen_rows.expect("the screen has fewer");
        assert_eq!(screen.len(), MESH_ROWS_MAX);
        assert_eq!(screen[0].text("whose"), "w19, socket 1");
    }

    #[test]
    fn columns_without_values_are_not_filled() {
        let table = domain_table(&row(json!({"domains": [
            {"domain": "LFB", "part": "all", "workload": "all", "in_use_mean": 1.0, "shares_capacity_with": ""},
        ]})));
        let filled: Vec<&str> =
            table.columns.iter().filter(|column| table.is_filled(column)).map(|column| column.key).collect();
        assert_eq!(filled, ["domain", "in_use_mean"]);
    }
}
