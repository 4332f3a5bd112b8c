//! The table `domains`.

use super::{quantile_ns, ratio_ci95, sum};
use crate::read::sample::{domains, PoolGroup, Sample};
use crate::report::pool_sites::find_pool_sites;
use crate::report::pool_sites::name_upi_directions;
use crate::report::pool_sites::UPI_GROUPS;
use crate::report::table::{Cell, Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_measure::{Domain, Histogram};
use hostnet_model::PartKind;

/// Domains of one group taken together, as used by one workload or by all.
pub(crate) struct DomainRow<'a> {
    view: &'a ServerView<'a>,
    group: PoolGroup,
    /// Part of the server that has the domains, or `all`.
    part: &'a str,
    /// Workload, or `None` for all.
    class: Option<usize>,
    parts: &'a [&'a Domain],
    latency: Histogram,
    /// Credits in use times ps.
    area_ps: u64,
}

/// Rows of the table: [`DomainRow`].
pub(crate) struct DomainRows;

impl TableRows for DomainRows {
    type Row<'a> = DomainRow<'a>;
}

pub(crate) const DOMAINS: &[Column<DomainRows>] = &[
    Column::key(Column::text("domain", |row| row.group.name().into())),
    Column::key(Column::text("part", |row| row.part.into())),
    Column::key(Column::text("workload", |row| row.workload().into())),
    Column::given(Column::integer("capacity", |row| row.sum(Domain::capacity).into())),
    Column::number("in_use_mean", |row| {
        (row.area_ps as f64 * row.view.lines_each() as f64 / row.view.window_ps()).into()
    }),
    Column::number("in_use_ci95", |row| row.for_all_parts(|| in_use_ci95(row.view, row.group, row.class)).into()),
    Column::integer("in_use_max", |row| row.for_all_workloads(|| row.sum(Domain::in_use_max).into())),
    Column::number("full_share", |row| row.for_all_workloads(|| row.view.share(row.parts, Domain::full_ps))),
    Column::number("over_threshold_share", |row| {
        row.for_all_workloads(|| row.view.share(row.parts, Domain::over_threshold_ps))
    }),
    Column::number("over_threshold_ci95", |row| {
        row.for_all_workloads(|| row.for_all_parts(|| row.over_threshold_ci95()).into())
    }),
    Column::number("latency_mean_ns", |row| row.latency.mean().map(ns).into()),
    Column::number("latency_ci95", |row| {
        row.for_all_parts(|| latency_ci95(row.view, row.group, row.class)).map(ns).into()
    }),
    Column::number("latency_p50_ns", |row| quantile_ns(&row.latency, 0.5)),
    Column::number("latency_p99_ns", |row| quantile_ns(&row.latency, 0.99)),
    Column::number("throughput_gb_per_s", |row| row.view.gb_per_s(row.latency.count()).into()),
    Column::integer("lines", |row| (row.latency.count() * row.view.lines_each()).into()),
    Column::given(Column::text("shares_capacity_with", |row| row.group.shares_with().into())),
];

fn ns(ps: f64) -> f64 {
    ps / 1000.0
}

/// Names the parts of a group. A UPI link has two pools of each UPI group: `upi 0-1` for what the first socket
/// requests from the second, and `upi 1-0` for the other direction.
fn name_parts(
    upi_directions: Vec<String>,
    group: PoolGroup,
    mut parts: Vec<(String, &Domain)>,
) -> Vec<(String, &Domain)> {
    if UPI_GROUPS.contains(&group) {
        parts.iter_mut().zip(upi_directions).for_each(|((name, _), way)| *name = way);
    }
    parts
}

impl DomainRow<'_> {
    /// Returns the name of the workload, or `all`.
    fn workload(&self) -> &str {
        self.class.map_or("all", |class| self.view.server.workloads[class].name.as_str())
    }

    /// Sums credits of the domains, in lines.
    fn sum(&self, pick: fn(&Domain) -> u32) -> u64 {
        self.parts.iter().map(|domain| u64::from(pick(domain))).sum::<u64>() * self.view.lines_each()
    }

    /// Reads a value that exists only for part `all`.
    fn for_all_parts(&self, read: impl FnOnce() -> Option<f64>) -> Option<f64> {
        (self.part == "all").then(read).flatten()
    }

    /// Reads a value that exists only for all workloads together.
    fn for_all_workloads(&self, read: impl FnOnce() -> Cell) -> Cell {
        self.class.map_or_else(read, |_| Cell::Empty)
    }

    fn over_threshold_ci95(&self) -> Option<f64> {
        over_threshold_ci95(self.view, self.group, self.parts.len())
    }
}

/// Builds the table. Groups that no workload used have no row.
pub(crate) fn build_domains(view: &ServerView) -> Table {
    let mut table = Table::of("domains", DOMAINS);
    for group in PoolGroup::ALL {
        let parts = domains(view.machine, group);
        if parts
            .iter()
            // A credit may be held since before the window, so credits in use count as well.
            .all(|(_, domain)| domain.classes().iter().all(|usage| usage.acquired() == 0 && usage.in_use() == 0))
        {
            continue;
        }
        let parts = name_parts(name_upi_directions(view), group, parts);
        let all: Vec<&Domain> = parts.iter().map(|(_, domain)| *domain).collect();
        add_domain_rows(view, &mut table, group, "all", &all);
        // A single part would only repeat the row `all`.
        if parts.len() > 1 || view.server.sockets.len() > 1 {
            // A drive with several PCIe links has a pool at each, and is one part.
            let of_a_drive = |one: &str, other: &str| one == other && one.starts_with(PartKind::Ssd.name());
            for part in parts.chunk_by(|(one, _), (other, _)| of_a_drive(one, other)) {
                let own: Vec<&Domain> = part.iter().map(|(_, domain)| *domain).collect();
                add_domain_rows(view, &mut table, group, &part[0].0, &own);
            }
        }
        if view.server.sockets.len() > 1 {
            for place in find_pool_sites(view, group).iter().filter(|place| place.socket.is_some() && place.is_used()) {
                add_domain_rows(view, &mut table, group, &place.name, &place.pools);
            }
        }
    }
    table
}

/// Adds the rows of domains taken together: one for all workloads and, if there are several, one for each.
fn add_domain_rows(view: &ServerView, table: &mut Table, group: PoolGroup, part: &str, parts: &[&Domain]) {
    let mut classes = vec![None];
    // A single workload would only repeat the row of all.
    if view.classes() > 1 {
        classes.extend((0..view.classes()).map(Some));
    }
    for class in classes {
        let mut row = DomainRow { view, group, part, class, parts, latency: Histogram::default(), area_ps: 0 };
        for usage in parts.iter().flat_map(|domain| group.usages(domain, class)) {
            row.latency.merge(usage.residence());
            row.area_ps += usage.area_ps();
        }
        if class.is_none() || row.area_ps > 0 {
            table.add(DOMAINS, &row);
        }
    }
}

fn in_use_ci95(view: &ServerView, group: PoolGroup, class: Option<usize>) -> Option<f64> {
    let area = |sample: &Sample| sum(sample, group, class, |totals| totals.area_ps);
    let in_use = ratio_ci95(view.batches, area, |sample| sample.at.since(view.window_start) as f64)?;
    Some(in_use * view.lines_each() as f64)
}

fn latency_ci95(view: &ServerView, group: PoolGroup, class: Option<usize>) -> Option<f64> {
    let residence = |sample: &Sample| sum(sample, group, class, |totals| totals.residence_ps);
    ratio_ci95(view.batches, residence, |sample| sum(sample, group, class, |totals| totals.lines))
}

fn over_threshold_ci95(view: &ServerView, group: PoolGroup, parts: usize) -> Option<f64> {
    let over = |sample: &Sample| sample.over_threshold_ps[group as usize] as f64 / parts as f64;
    ratio_ci95(view.batches, over, |sample| sample.at.since(view.window_start) as f64)
}
