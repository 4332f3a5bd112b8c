//! The table `tiering`: pages that migrate to and from memory behind a link.

use crate::report::table::{Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_model::tiering::{Tiering, TieringCounts};

/// Migration of the pages of a server.
pub(crate) struct TieringRow<'a> {
    workload: &'a str,
    pages: u32,
    tiering: &'a Tiering,
    counts: &'a TieringCounts,
}

/// Rows of the table: [`TieringRow`].
pub(crate) struct TieringRows;

impl TableRows for TieringRows {
    type Row<'a> = TieringRow<'a>;
}

pub(crate) const TIERING: &[Column<TieringRows>] = &[
    Column::key(Column::text("workload", |row| row.workload.into())),
    Column::integer("pages", |row| u64::from(row.pages).into()),
    Column::integer("local_pages_end", |row| u64::from(row.tiering.local_pages()).into()),
    Column::integer("moved_to_local", |row| row.counts.moved[0].into()),
    Column::integer("moved_behind_link", |row| row.counts.moved[1].into()),
    Column::integer("refused", |row| row.counts.refused.into()),
    Column::integer("decisions", |row| row.counts.decisions.into()),
    Column::integer("local_samples", |row| row.counts.samples[0].into()),
    Column::integer("link_samples", |row| row.counts.samples[1].into()),
    Column::number("local_latency_ns", |row| row.latency_ns(0).into()),
    Column::number("link_latency_ns", |row| row.latency_ns(1).into()),
];

impl TieringRow<'_> {
    /// Returns the mean latency of the sampled accesses to a node, if there were any.
    fn latency_ns(&self, node: usize) -> Option<f64> {
        let samples = self.counts.samples[node];
        (samples > 0).then(|| self.counts.latency_ns[node] as f64 / samples as f64)
    }
}

/// Builds the table, or returns `None` for a server whose pages stay.
pub(crate) fn build_tiering(view: &ServerView) -> Option<Table> {
    let (class, params) = view.server.tiering()?;
    let tiering = view.machine.first::<Tiering>()?;
    let workload = view.server.workloads[usize::from(class)].name.as_str();
    let mut table = Table::of("tiering", TIERING);
    table.add(TIERING, &TieringRow { workload, pages: params.pages, tiering, counts: tiering.counts() });
    Some(table)
}
