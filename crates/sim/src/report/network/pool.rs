//! The table `pool`: servers and switches of memory pools.

use crate::report::table::{Cell, Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_measure::Histogram;
use hostnet_model::ether::{Network, Switch};
use hostnet_model::line::PoolKind;
use hostnet_model::nic::Nic;
use hostnet_model::params::CableEnd;
use hostnet_model::pool::{PoolCounts, PoolPort};

/// One server of a pool, or one switch.
struct PoolRow<'a> {
    place: &'a str,
    counts: Option<&'a PoolCounts>,
    nic: Option<&'a Nic>,
    switch: Option<&'a Switch>,
    /// Requests for shared pages that were granted here, and orders to servers to give up a page or to stop writing
    /// it.
    decided: Option<[u64; 2]>,
}

/// Rows of the table: [`PoolRow`].
struct PoolRows;

impl TableRows for PoolRows {
    type Row<'a> = PoolRow<'a>;
}

const POOL: &[Column<PoolRows>] = &[
    Column::key(Column::text("place", |row| row.place.into())),
    Column::integer("reads", |row| row.count(|counts| counts.reads)),
    Column::integer("writes", |row| row.count(|counts| counts.writes)),
    Column::number("read_mean_ns", |row| row.latency(0, Histogram::mean)),
    Column::number("read_p50_ns", |row| row.latency(0, |latency| latency.quantile(0.5))),
    Column::number("read_p99_ns", |row| row.latency(0, |latency| latency.quantile(0.99))),
    Column::number("write_mean_ns", |row| row.latency(1, Histogram::mean)),
    Column::number("write_p50_ns", |row| row.latency(1, |latency| latency.quantile(0.5))),
    Column::number("write_p99_ns", |row| row.latency(1, |latency| latency.quantile(0.99))),
    Column::integer("prefetch_hits", |row| row.count(|counts| counts.prefetch_hits)),
    Column::integer("prefetch_late", |row| row.count(|counts| counts.prefetch_late)),
    Column::integer("prefetches", |row| row.count(|counts| counts.prefetches)),
    Column::integer("prefetch_full", |row| row.count(|counts| counts.prefetch_full)),
    Column::integer("stale", |row| row.count(|counts| counts.stale)),
    Column::integer("nacks", |row| row.nacks()),
    Column::integer("retries", |row| row.count(|counts| counts.retries)),
    Column::integer("demand_bytes", |row| {
        row.count(|counts| counts.bytes_of(&[PoolKind::Read, PoolKind::Data, PoolKind::Write, PoolKind::Written]))
    }),
    Column::integer("prefetch_bytes", |row| {
        let kinds = [PoolKind::Prefetch, PoolKind::Prefetched, PoolKind::Fetch, PoolKind::Fetched];
        row.count(|counts| counts.bytes_of(&kinds))
    }),
    Column::integer("lines_read_here", |row| row.count(|counts| counts.served[0])),
    Column::integer("lines_written_here", |row| row.count(|counts| counts.served[1])),
    Column::integer("dropped_demand", |row| row.dropped()[0].into()),
    Column::integer("dropped_prefetch", |row| row.dropped()[1].into()),
    Column::integer("cache_reads", |row| row.count(|counts| counts.cache_reads)),
    Column::integer("cache_writes", |row| row.count(|counts| counts.cache_writes)),
    Column::integer("cache_late", |row| row.count(|counts| counts.cache_late)),
    Column::integer("cache_full", |row| row.count(|counts| counts.cache_full)),
    Column::integer("pages_in", |row| row.count(|counts| counts.pages_in)),
    Column::integer("pages_out", |row| row.count(|counts| counts.pages_out)),
    Column::integer("lines_fetched", |row| row.count(|counts| counts.fetches)),
    Column::integer("lines_lost", |row| row.count(|counts| counts.fetches_lost)),
    Column::integer("lines_in", |row| row.count(|counts| counts.lines_in)),
    Column::integer("lines_out", |row| row.count(|counts| counts.lines_out)),
    Column::integer("write_back_bytes", |row| {
        row.count(|counts| counts.bytes_of(&[PoolKind::WriteBack, PoolKind::WrittenBack, PoolKind::Return]))
    }),
    Column::integer("read_grants", |row| row.count(|counts| counts.granted[0])),
    Column::integer("write_grants", |row| row.count(|counts| counts.granted[1])),
    Column::number("grant_mean_ns", |row| row.grant(Histogram::mean)),
    Column::number("grant_p99_ns", |row| row.grant(|latency| latency.quantile(0.99))),
    Column::integer("pages_taken", |row| row.count(|counts| counts.taken)),
    Column::integer("page_bytes", |row| row.count(PoolCounts::page_bytes)),
    Column::integer("grants_here", |row| row.decided.map(|[granted, _]| granted).into()),
    Column::integer("told_here", |row| row.decided.map(|[_, told]| told).into()),
];

impl PoolRow<'_> {
    /// Reads a counter of the pool port, which only servers have.
    fn count(&self, pick: impl FnOnce(&PoolCounts) -> u64) -> Cell {
        self.counts.map(pick).into()
    }

    /// Reads a statistic of the time until shared pages are granted, in ns.
    fn grant(&self, pick: impl FnOnce(&Histogram) -> Option<f64>) -> Cell {
        self.counts.and_then(|counts| pick(&counts.grant_latency)).map(|ps| ps / 1000.0).into()
    }

    /// Reads a latency of reads (`way` 0) or of writes (1), in ns.
    fn latency(&self, way: usize, pick: impl FnOnce(&Histogram) -> Option<f64>) -> Cell {
        self.counts.and_then(|counts| pick(&counts.latency[way])).map(|ps| ps / 1000.0).into()
    }

    /// Returns the NACKs that a server received or a switch sent.
    fn nacks(&self) -> Cell {
        let sent = self.switch.map(|switch| switch.drops().nacks());
        self.counts.map(|counts| counts.nacks).or(sent).into()
    }

    /// Returns the messages dropped here: on demand, and prefetched.
    fn dropped(&self) -> [u64; 2] {
        let at_port = self.nic.map(|nic| [0, nic.counters().pool_dropped]);
        self.switch.map(|switch| switch.drops().of_pool()).or(at_port).unwrap_or_default()
    }
}

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("pool", POOL)
}

/// Builds the table, with a row per server in a pool, then one per switch. Returns `None` without a pool.
pub(super) fn pool_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("pool", POOL);
    for (host, machine) in view.servers() {
        let Some(port) = machine.first::<PoolPort>() else { continue };
        let place = view.plan.cluster.hosts[host].name.as_str();
        let (counts, decided) = (Some(port.counts()), port.decided());
        table.add(POOL, &PoolRow { place, counts, nic: machine.first(), switch: None, decided });
    }
    // Without a server in the pool, switches have nothing to report about one.
    if table.rows.is_empty() {
        return None;
    }
    let network = crate::read::ends::network(view.simulation);
    for (number, switch) in Network::switches(&network) {
        let place = view.name_of(CableEnd::Switch(number as u16));
        let decided = switch.decided();
        table.add(POOL, &PoolRow { place, counts: None, nic: None, switch: Some(switch), decided });
    }
    Some(table)
}
