//! The table `control`: controllers that observe hosts and throttle their cores.

use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::control::{Control, ControlCounts, Signals};
use hostnet_model::params::ControlRule;

/// Units per line in which controllers count occupancy.
const LINE_PARTS: f64 = 1024.0;

/// Returns the smoothed occupancy, in lines, and the smoothed bandwidth, in Gbit/s.
pub(crate) fn smoothed(signals: &Signals) -> [f64; 2] {
    let Signals { occupancy_smoothed, bandwidth_smoothed, .. } = *signals;
    [occupancy_smoothed as f64 / LINE_PARTS, bandwidth_smoothed as f64 * 8e-9]
}

/// Controller of one host.
struct ControlRow<'a> {
    host: &'a str,
    control: &'a Control,
    counts: &'a ControlCounts,
    window_ps: f64,
}

/// Rows of the table: [`ControlRow`].
struct ControlRows;

impl TableRows for ControlRows {
    type Row<'a> = ControlRow<'a>;
}

const CONTROL: &[Column<ControlRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::given(Column::text("rule", |row| rule_name(row.control.rule()).into())),
    Column::number("occupancy_mean_lines", |row| (row.mean(0) / LINE_PARTS).into()),
    Column::number("bandwidth_mean_gbps", |row| (row.mean(1) * 8e-9).into()),
    Column::integer("level_end", |row| u64::from(row.control.level()).into()),
    Column::number("level_0_share", |row| row.share(row.counts.levels_ps[0]).into()),
    Column::number("level_1_share", |row| row.share(row.counts.levels_ps[1]).into()),
    Column::number("level_2_share", |row| row.share(row.counts.levels_ps[2]).into()),
    Column::number("level_3_share", |row| row.share(row.counts.levels_ps[3]).into()),
    Column::number("level_4_share", |row| row.share(row.counts.levels_ps[4]).into()),
    Column::number("regime_1_share", |row| row.share(row.counts.regimes_ps[0]).into()),
    Column::number("regime_2_share", |row| row.share(row.counts.regimes_ps[1]).into()),
    Column::number("regime_3_share", |row| row.share(row.counts.regimes_ps[2]).into()),
    Column::number("regime_4_share", |row| row.share(row.counts.regimes_ps[3]).into()),
    Column::number("echo_share", |row| row.share(row.counts.echo_ps).into()),
    Column::integer("level_changes", |row| row.counts.changes.into()),
    Column::integer("level_3_4_switches", |row| row.counts.stops.into()),
    Column::integer("register_writes", |row| row.counts.writes.into()),
    Column::integer("occupancy_samples", |row| row.counts.samples[0].into()),
    Column::integer("occupancy_discarded", |row| row.counts.discarded[0].into()),
    Column::integer("bandwidth_samples", |row| row.counts.samples[1].into()),
    Column::integer("bandwidth_discarded", |row| row.counts.discarded[1].into()),
];

impl ControlRow<'_> {
    fn share(&self, ps: u64) -> f64 {
        ps as f64 / self.window_ps
    }

    /// Returns the mean of a smoothed signal over the window.
    fn mean(&self, signal: usize) -> f64 {
        self.counts.smoothed_area[signal] as f64 / self.window_ps
    }
}

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("control", CONTROL)
}

/// Builds the table, with a row per host that has a controller.
pub(crate) fn control_table(view: &WorldView) -> Table {
    let mut table = Table::of("control", CONTROL);
    for (host, machine) in view.servers() {
        let Some(control) = machine.control() else { continue };
        let host = view.plan.cluster.hosts[host].name.as_str();
        let row = ControlRow { host, control, counts: control.counts(), window_ps: view.window_ps() };
        table.add(CONTROL, &row);
    }
    table
}

/// Returns the name of a rule in configurations.
pub(crate) fn rule_name(rule: &ControlRule) -> &str {
    match rule {
        ControlRule::Watch => "watch",
        ControlRule::HostCc(params) => match (params.echo, params.local) {
            (true, false) => "echo-only",
            (false, true) => "local-only",
            _ => "hostcc",
        },
        ControlRule::Fixed(_) => "fixed",
        ControlRule::User(_) => "user",
    }
}
