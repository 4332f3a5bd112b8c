//! The time series of a server, table `series`.

use super::caches::mib;
use super::{sum, PS_PER_S};
use crate::read::sample::{PoolGroup, Sample};
use crate::report::table::{Column, Table, TableRows};
use crate::report::view::ServerView;
use crate::report::workloads::entry_totals;
use hostnet_model::cache::ClassCounts;

/// One value of the time series.
pub(crate) struct SeriesRow<'a> {
    time_ns: f64,
    /// Name of a workload or of a domain.
    subject: &'a str,
    quantity: &'a str,
    value: f64,
}

/// Rows of the table: [`SeriesRow`].
pub(crate) struct SeriesRows;

impl TableRows for SeriesRows {
    type Row<'a> = SeriesRow<'a>;
}

pub(crate) const SERIES: &[Column<SeriesRows>] = &[
    Column::number("time_ns", |row| row.time_ns.into()),
    Column::text("subject", |row| row.subject.into()),
    Column::text("quantity", |row| row.quantity.into()),
    Column::number("value", |row| row.value.into()),
];

/// Builds the time series. Each interval has the throughput and the latency of every workload, its cache
/// statistics and its operations, and the credits in use of every domain.
pub(super) fn build_series(view: &ServerView) -> Table {
    let mut table = Table::of("series", SERIES);
    let (caches, sockets) = (view.machine.has_caches(), view.server.upi.is_some());
    // Groups of absent parts would fill the series with zeros.
    let has = |group: &PoolGroup| match group {
        PoolGroup::Prefetch => caches || view.server.socket().core.stream_prefetches > 0,
        PoolGroup::UpiSnoop | PoolGroup::ChaUpi => sockets,
        PoolGroup::ChaExpander => view.server.socket().cha.tor_expander_entries.is_some(),
        PoolGroup::PoolRead | PoolGroup::PoolWrite => view.server.socket().pool.is_some(),
        PoolGroup::ExpanderRead | PoolGroup::ExpanderWrite => view.server.socket().expander.is_some(),
        PoolGroup::DimmRead | PoolGroup::DimmWrite | PoolGroup::DimmDmaWrite | PoolGroup::DimmDmaRead => {
            view.server.socket().dimm.is_some()
        }
        PoolGroup::IommuWalk => view.server.sockets.iter().any(|socket| socket.iommu.is_some()),
        _ => true,
    };
    let mut before = Sample { at: view.window_start, ..Sample::read_empty(view.classes()) };
    for sample in view.series {
        let elapsed_ps = sample.at.since(before.at) as f64;
        let time_ns = sample.at.since(view.window_start) as f64 / 1000.0;
        let mut push = |subject: &str, quantity: &str, value: f64| {
            table.add(SERIES, &SeriesRow { time_ns, subject, quantity, value });
        };
        for class in 0..view.classes() {
            let name = view.server.workloads[class].name.as_str();
            let grown = |pick: &dyn Fn(&Sample) -> u64| (pick(sample) - pick(&before)) as f64;
            let groups = view.throughput_groups(class);
            let lines = grown(&|sample| sample.moved(groups, class));
            push(name, "throughput_gb_per_s", view.gb_per_s_at(lines) / elapsed_ps);
            let entries = grown(&|sample| entry_totals(view, sample, class).lines);
            let residence = grown(&|sample| entry_totals(view, sample, class).residence_ps);
            push(name, "latency_mean_ns", residence / entries / 1000.0);
            for (quantity, value) in own_quantities(view, class, &before, sample) {
                push(name, quantity, value);
            }
        }
        for group in PoolGroup::ALL.into_iter().filter(has) {
            let area =
                sum(sample, group, None, |totals| totals.area_ps) - sum(&before, group, None, |totals| totals.area_ps);
            push(group.name(), "in_use_mean", area * view.lines_each() as f64 / elapsed_ps);
        }
        before = sample.clone();
    }
    table
}

/// Returns the values of a workload in an interval that only applications have, or only servers with caches.
fn own_quantities(view: &ServerView, class: usize, before: &Sample, sample: &Sample) -> Vec<(&'static str, f64)> {
    let mut found = Vec::new();
    if let Some(app) = view.app(class) {
        let ended = sample.operations(class, &app.cores) - before.operations(class, &app.cores);
        found.push(("operations_per_s", ended as f64 * PS_PER_S / sample.at.since(before.at) as f64));
    }
    if !view.machine.has_caches() {
        return found;
    }
    let (earlier, now) = (before.cached(class), sample.cached(class));
    let grown = |pick: fn(&ClassCounts) -> u64| (pick(&now) - pick(&earlier)) as f64;
    found.push(("llc_mib_core", mib(now.core_lines as f64)));
    found.push(("llc_miss_ratio", grown(|counts| counts.llc_misses) / grown(|counts| counts.llc_lookups)));
    if view.server.workloads[class].kind.is_of_devices() {
        let written = grown(|counts| counts.ddio_updates + counts.ddio_allocations);
        found.push(("llc_mib_io", mib(now.io_lines as f64)));
        found.push(("ddio_hit_ratio", grown(|counts| counts.ddio_updates) / written));
        found.push(("ddio_leak_ratio", grown(|counts| counts.ddio_leaks) / written));
    }
    found
}
