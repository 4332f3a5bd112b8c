//! The tables `latencies` and `latency_histogram`.

use super::flows::us;
use crate::read::ends::{datagram_ends, ends, rdma_ends};
use crate::report::table::{Column, Table, TableContent, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_measure::Histogram;

/// Latencies of the requests of a class.
pub(super) struct ClassLatency<'a> {
    class: &'a str,
    latency: Histogram,
}

/// Rows of the table `latencies`: [`ClassLatency`].
struct LatencyRows;

impl TableRows for LatencyRows {
    type Row<'a> = ClassLatency<'a>;
}

const LATENCIES: &[Column<LatencyRows>] = &[
    Column::key(Column::text("class", |row| row.class.into())),
    Column::integer("count", |row| row.latency.count().into()),
    Column::number("mean_us", |row| us(row.latency.mean())),
    Column::number("p50_us", |row| us(row.latency.quantile(0.5))),
    Column::number("p90_us", |row| us(row.latency.quantile(0.9))),
    Column::number("p99_us", |row| us(row.latency.quantile(0.99))),
    Column::number("p99_9_us", |row| us(row.latency.quantile(0.999))),
    Column::number("p99_99_us", |row| us(row.latency.quantile(0.9999))),
    Column::number("max_us", |row| us(row.latency.quantile(1.0))),
];

/// Rows of the table `latency_histogram`: a class, a latency in ps, and the number of requests with it.
struct BucketRows;

impl TableRows for BucketRows {
    type Row<'a> = (&'a str, f64, u64);
}

const BUCKETS: &[Column<BucketRows>] = &[
    Column::text("class", |&(class, ..)| class.into()),
    Column::number("latency_us", |&(_, ps, _)| us(Some(ps))),
    Column::integer("requests", |&(.., requests)| requests.into()),
];

/// Returns the descriptions of the tables.
pub(super) fn table_info() -> [TableInfo; 2] {
    let histogram = TableInfo::of("latency_histogram", BUCKETS).with_content(TableContent::Series);
    [TableInfo::of("latencies", LATENCIES), histogram]
}

/// Returns the latencies of each class that has requests.
pub(super) fn class_latencies<'a>(view: &'a WorldView) -> Vec<ClassLatency<'a>> {
    let classes = view.plan.cluster.classes.iter().enumerate();
    let all = classes.map(|(class, name)| ClassLatency { class: name, latency: latency_of(view, class) });
    all.filter(|row| row.latency.count() > 0).collect()
}

/// Builds the table of latencies.
pub(super) fn latency_table(rows: &[ClassLatency]) -> Table {
    let mut table = Table::of("latencies", LATENCIES);
    rows.iter().for_each(|row| table.add(LATENCIES, row));
    table
}

/// Builds the table of histograms. Returns `None` without requests.
pub(super) fn histogram_table(rows: &[ClassLatency]) -> Option<Table> {
    let mut table = Table::of("latency_histogram", BUCKETS);
    for row in rows {
        row.latency.buckets().for_each(|(ps, requests)| table.add(BUCKETS, &(row.class, ps, requests)));
    }
    (!table.rows.is_empty()).then_some(table)
}

/// Returns the latencies of the requests of a class, in ps.
pub(super) fn latency_of(view: &WorldView, class: usize) -> Histogram {
    let is_of = |flow: u32| usize::from(view.plan.cluster.flows[flow as usize].class) == class;
    let mut latency = Histogram::default();
    for (flow, _, _, application) in view.simulation.worlds().flat_map(ends) {
        application.latency().filter(|_| is_of(flow)).into_iter().for_each(|own| latency.merge(own));
    }
    for (flow, _, connection) in view.simulation.worlds().flat_map(rdma_ends) {
        connection.latency().filter(|_| is_of(flow)).into_iter().for_each(|own| latency.merge(own));
    }
    for (flow, _, application, _) in view.simulation.worlds().flat_map(datagram_ends) {
        application.latency().filter(|_| is_of(flow)).into_iter().for_each(|own| latency.merge(own));
    }
    latency
}
