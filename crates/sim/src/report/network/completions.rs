//! The table `completions`: completion times of flows, and their slowdown relative to an idle network.

use super::flow_paths::FlowPaths;
use crate::report::table::{Column, Table, TableContent, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_kernel::Time;
use hostnet_model::params::{FlowParams, Traffic};

/// Names of the size groups, and the largest flow of each, in bytes.
const SIZES: [(&str, u64); 6] = [
    ("all", u64::MAX),
    ("up to 10 kB", 10_000),
    ("up to 100 kB", 100_000),
    ("up to 1 MB", 1_000_000),
    ("up to 10 MB", 10_000_000),
    ("above 10 MB", u64::MAX),
];

/// Flows of a class and of a size group.
#[derive(Default)]
struct SizeGroup {
    /// Number of flows, completed or not.
    flows: u64,
    /// Completion times, in us, sorted by [`SizeGroup::sort`].
    times: Vec<f64>,
    /// Completion times relative to an idle network, sorted likewise.
    slowdowns: Vec<f64>,
}

impl SizeGroup {
    fn add(&mut self, took: Option<(f64, Option<f64>)>) {
        self.flows += 1;
        if let Some((time, slowdown)) = took {
            self.times.push(time);
            self.slowdowns.extend(slowdown);
        }
    }

    fn sort(&mut self) {
        self.times.sort_unstable_by(f64::total_cmp);
        self.slowdowns.sort_unstable_by(f64::total_cmp);
    }
}

/// One row of the table.
struct CompletionRow<'a> {
    class: &'a str,
    size: &'static str,
    group: &'a SizeGroup,
}

/// Rows of the table: [`CompletionRow`].
struct CompletionRows;

impl TableRows for CompletionRows {
    type Row<'a> = CompletionRow<'a>;
}

const COMPLETIONS: &[Column<CompletionRows>] = &[
    Column::key(Column::text("class", |row| row.class.into())),
    Column::key(Column::text("size", |row| row.size.into())),
    Column::given(Column::integer("flows", |row| row.group.flows.into())),
    Column::integer("completed", |row| (row.group.times.len() as u64).into()),
    Column::number("mean_us", |row| mean(&row.group.times).into()),
    Column::number("p50_us", |row| quantile(&row.group.times, 0.5).into()),
    Column::number("p99_us", |row| quantile(&row.group.times, 0.99).into()),
    Column::number("max_us", |row| quantile(&row.group.times, 1.0).into()),
    Column::number("slowdown_mean", |row| mean(&row.group.slowdowns).into()),
    Column::number("slowdown_p50", |row| quantile(&row.group.slowdowns, 0.5).into()),
    Column::number("slowdown_p99", |row| quantile(&row.group.slowdowns, 0.99).into()),
    Column::number("slowdown_max", |row| quantile(&row.group.slowdowns, 1.0).into()),
];

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the smallest of some sorted values that at least a share of them does not exceed.
fn quantile(values: &[f64], share: f64) -> Option<f64> {
    let rank = (share * values.len() as f64).ceil() as usize;
    values.get(rank.max(1) - 1).copied()
}

/// Returns the bytes of a flow, if it has an end.
pub(super) fn bytes_of(flow: &FlowParams) -> Option<u64> {
    match flow.traffic {
        Traffic::Bulk { bytes } | Traffic::Read { bytes } if bytes < u64::MAX => Some(bytes),
        _ => None,
    }
}

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("completions", COMPLETIONS).with_content(TableContent::Derived)
}

/// Builds the table, with the completion times of flows by class and size. It covers the flows that begin in the
/// window or, for a class without any, all of its flows. Returns `None` if no flow has an end.
pub(super) fn completion_table(view: &WorldView, completed: &[Option<Time>]) -> Option<Table> {
    let cluster = &view.plan.cluster;
    if !cluster.flows.iter().any(|flow| bytes_of(flow).is_some()) {
        return None;
    }
    let flow_paths = FlowPaths::new(view)?;
    let begun = |flow: &FlowParams| flow.start_ps < view.now.ps();
    let inside = |flow: &FlowParams| begun(flow) && flow.start_ps >= view.window_start.ps();
    let mut any_inside = vec![false; cluster.classes.len()];
    for flow in cluster.flows.iter().filter(|flow| bytes_of(flow).is_some() && inside(flow)) {
        any_inside[usize::from(flow.class)] = true;
    }
    let mut groups: Vec<[SizeGroup; SIZES.len()]> = cluster.classes.iter().map(|_| Default::default()).collect();
    for (number, flow) in (0..).zip(&cluster.flows) {
        let class = usize::from(flow.class);
        // A class whose flows all begin in the warm-up would otherwise have no row.
        let counts = if any_inside[class] { inside(flow) } else { begun(flow) };
        let Some(bytes) = bytes_of(flow).filter(|_| counts) else { continue };
        let took = completed[number as usize].map(|at| {
            let ps = at.ps().saturating_sub(flow.start_ps) as f64;
            (ps / 1e6, flow_paths.ideal_ps(number, flow).map(|ideal| ps / ideal as f64))
        });
        // Group 0 holds all sizes, so the search begins behind it.
        let size = (1..SIZES.len()).find(|&size| bytes <= SIZES[size].1).unwrap_or(0);
        groups[class][0].add(took);
        groups[class][size].add(took);
    }
    let mut table = Table::of("completions", COMPLETIONS);
    for (class, sizes) in cluster.classes.iter().zip(&mut groups) {
        for (group, (size, _)) in sizes.iter_mut().zip(SIZES).filter(|(group, _)| group.flows > 0) {
            group.sort();
            table.add(COMPLETIONS, &CompletionRow { class, size, group });
        }
    }
    Some(table)
}
