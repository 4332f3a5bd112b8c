//! The table `stages`: time that datagrams spend in each stage between two applications.

use super::flows::us;
use crate::read::ends::datagram_ends;
use crate::report::table::{Column, Table, TableContent, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::transport::stage_times::{Stage, StageStats};

/// One stage of the datagrams of a class in one direction, or all stages.
struct StageRow<'a> {
    class: &'a str,
    way: &'static str,
    /// Stage, or `None` for the whole path.
    stage: Option<Stage>,
    stage_stats: &'a StageStats,
}

impl StageRow<'_> {
    /// Returns the share of the stage in the time of the whole path, 0 to 1.
    fn share(&self) -> f64 {
        self.stage.map_or(1.0, |stage| self.stage_stats.sum_ps(stage) as f64 / self.stage_stats.total().sum() as f64)
    }
}

/// Rows of the table: [`StageRow`].
struct StageRows;

impl TableRows for StageRows {
    type Row<'a> = StageRow<'a>;
}

const STAGES: &[Column<StageRows>] = &[
    Column::key(Column::text("class", |row| row.class.into())),
    Column::key(Column::text("way", |row| row.way.into())),
    Column::key(Column::text("stage", |row| row.stage.map_or("all", Stage::name).into())),
    Column::integer("datagrams", |row| row.stage_stats.total().count().into()),
    Column::number("mean_us", |row| us(row.stage_stats.total().mean().map(|mean| mean * row.share()))),
    Column::number("percent", |row| (100.0 * row.share()).into()),
    Column::number("p50_us", |row| us(row.stage_stats.total().quantile(0.5).filter(|_| row.stage.is_none()))),
    Column::number("p99_us", |row| us(row.stage_stats.total().quantile(0.99).filter(|_| row.stage.is_none()))),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("stages", STAGES).with_content(TableContent::Derived)
}

/// Builds the table, with a row per class, direction and stage of the datagrams that were read in the window. Returns
/// `None` without datagrams.
pub(super) fn stage_table(view: &WorldView) -> Option<Table> {
    let cluster = &view.plan.cluster;
    let mut stage_stats = vec![[StageStats::default(), StageStats::default()]; cluster.classes.len()];
    for (flow, host, application, _) in view.simulation.worlds().flat_map(datagram_ends) {
        let flow = &cluster.flows[flow as usize];
        // The reader counts stages: datagrams that the initiator reads have come back.
        let back = usize::from(host == flow.from);
        stage_stats[usize::from(flow.class)][back].merge(application.stage_stats());
    }
    let mut table = Table::of("stages", STAGES);
    for (class, both) in cluster.classes.iter().zip(&stage_stats) {
        for (way, stage_stats) in ["there", "back"].into_iter().zip(both).filter(|(_, own)| own.total().count() > 0) {
            let passed_stages = Stage::ALL.into_iter().filter(|&stage| stage_stats.sum_ps(stage) > 0).map(Some);
            for stage in passed_stages.chain([None]) {
                table.add(STAGES, &StageRow { class, way, stage, stage_stats });
            }
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
