//! The table `power_series`: cores with power management over time, beside the traffic of their server.

use super::power::{KHZ_PER_GHZ, W_PER_AJ_PER_PS};
use crate::read::host_state::HostState;
use crate::read::meters::PowerTotals;
use crate::report::table::{Column, Table, TableRows};
use crate::report::view::WorldView;

/// One server in one step of the time series.
struct PowerStepRow<'a> {
    time_us: f64,
    span_ps: f64,
    host: &'a str,
    /// State of the server at the start of the step, and at its end.
    before: &'a HostState,
    now: &'a HostState,
    /// Totals of the cores of the server at the start of the step, and at the end of the step.
    cores: [PowerTotals; 2],
}

/// Rows of the table: [`PowerStepRow`].
struct PowerStepRows;

impl TableRows for PowerStepRows {
    type Row<'a> = PowerStepRow<'a>;
}

const STEPS: &[Column<PowerStepRows>] = &[
    Column::number("time_us", |row| row.time_us.into()),
    Column::text("host", |row| row.host.into()),
    Column::number("received_gbps", |row| row.gbps(row.now.taken_bytes - row.before.taken_bytes).into()),
    Column::number("sent_gbps", |row| row.gbps(row.now.sent_bytes - row.before.sent_bytes).into()),
    Column::number("power_w", |row| {
        ((row.cores[1].attojoules - row.cores[0].attojoules) as f64 / row.span_ps * W_PER_AJ_PER_PS).into()
    }),
    Column::number("ghz_mean", |row| {
        (row.per_core((row.cores[1].khz_ps - row.cores[0].khz_ps) as f64) / KHZ_PER_GHZ).into()
    }),
    Column::number("running_share", |row| row.share(|cores| cores.running_ps).into()),
    Column::number("polling_share", |row| row.share(|cores| cores.polling_ps).into()),
    Column::number("asleep_share", |row| row.share(|cores| cores.asleep_ps).into()),
    Column::integer("sleeps", |row| (row.cores[1].sleeps - row.cores[0].sleeps).into()),
];

impl PowerStepRow<'_> {
    fn gbps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8000.0 / self.span_ps
    }

    /// Divides a total over the cores and the step by the time and the number of cores.
    fn per_core(&self, total: f64) -> f64 {
        total / self.span_ps / self.cores[1].cores.max(1) as f64
    }

    fn share(&self, ps: fn(&PowerTotals) -> u64) -> f64 {
        self.per_core((ps(&self.cores[1]) - ps(&self.cores[0])) as f64)
    }
}

/// Builds the table. Returns `None` if no server has power management.
pub(super) fn power_series_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("power_series", STEPS);
    let mut any = false;
    let hosts: Vec<usize> = view.servers().map(|(host, _)| host).collect();
    let times = std::iter::once(&view.window_start).chain(&view.series.times);
    // The first state is that of the start of the window, which ends no step.
    let ends = view.series.times.iter().zip(view.series.host_states.iter().skip(1));
    for ((&last_at, last), (&at, host_states)) in times.zip(&view.series.host_states).zip(ends) {
        for ((before, now), &host) in last.iter().zip(host_states).zip(&hosts) {
            let (Some(begun), Some(done)) = (before.power, now.power) else { continue };
            any = true;
            let row = PowerStepRow {
                time_us: at.since(view.window_start) as f64 / 1e6,
                span_ps: at.since(last_at) as f64,
                host: &view.plan.cluster.hosts[host].name,
                before,
                now,
                cores: [begun, done],
            };
            table.add(STEPS, &row);
        }
    }
    any.then_some(table)
}
