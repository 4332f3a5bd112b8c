//! The table of workloads.

use super::{quantile_ns, ratio_ci95, PS_PER_S};
use crate::sample::{residences, Group, Sample, Totals};
use crate::table::{Cell, Kind, Table};
use crate::view::View;
use hostnet_analysis::explain::WorkloadFacts;
use hostnet_measure::Histogram;
use hostnet_model::app::operations_in_all;
use hostnet_model::core::CachedCore;
use hostnet_model::nvme::Ssd;
use hostnet_model::params::{AppParams, WorkloadKind};

/// Fewest completed commands or operations that their latency is told for.
const COMMANDS_MIN: u64 = 100;

pub(super) const WORKLOADS: &[(&str, Kind)] = &[
    ("workload", Kind::Text),
    ("kind", Kind::Text),
    ("throughput_gb_per_s", Kind::Number),
    ("throughput_ci95", Kind::Number),
    ("read_gb_per_s", Kind::Number),
    ("write_gb_per_s", Kind::Number),
    ("app_gb_per_s", Kind::Number),
    ("latency_mean_ns", Kind::Number),
    ("latency_ci95", Kind::Number),
    ("latency_p50_ns", Kind::Number),
    ("latency_p99_ns", Kind::Number),
    ("lines", Kind::Integer),
    ("io_completed", Kind::Integer),
    ("io_latency_mean_ns", Kind::Number),
    ("io_latency_p50_ns", Kind::Number),
    ("io_latency_p99_ns", Kind::Number),
    ("limited_by", Kind::Text),
    ("operations", Kind::Integer),
    ("operations_per_s", Kind::Number),
    ("operations_ci95", Kind::Number),
    ("operation_latency_mean_ns", Kind::Number),
    ("operation_latency_p50_ns", Kind::Number),
    ("operation_latency_p99_ns", Kind::Number),
    ("execution_time_s", Kind::Number),
];

/// The first column that only applications have.
pub(super) const OF_APPLICATIONS: usize = 17;

impl View<'_> {
    pub(super) fn workloads(&self, total: &Sample, limits: &[WorkloadFacts]) -> Table {
        let mut table = Table::new("workloads", WORKLOADS).with_optional(OF_APPLICATIONS);
        let counters: Vec<_> = self.controllers().iter().map(|channel| channel.counters(self.now)).collect();
        for (class, limit) in limits.iter().enumerate() {
            let name = self.plan.server.workloads[class].name.as_str();
            let groups = self.own_groups(class);
            let lines = total.moved(groups, class);
            let throughput = self.gb_per_s(lines);
            let own_lines = |sample: &Sample| sample.moved(groups, class) as f64;
            let throughput_ci95 =
                ratio_ci95(self.batches, own_lines, |sample| sample.at.since(self.window_start) as f64);
            let latency = self.line_latency(class);
            let residence = |sample: &Sample| self.entry_totals(sample, class).residence_ps as f64;
            let entries = |sample: &Sample| self.entry_totals(sample, class).lines as f64;
            let (kind, app, io) = match self.plan.server.workloads[class].kind {
                WorkloadKind::Stream(_) => ("stream", throughput, None),
                WorkloadKind::App(_) => ("app", throughput, None),
                WorkloadKind::Network => ("network", throughput, None),
                WorkloadKind::Fio(_) => {
                    ("fio", total.app_bytes[class] as f64 * 1000.0 / self.window_ps(), Some(self.commands(class)))
                }
            };
            let told = io.as_ref().filter(|commands| commands.count() >= COMMANDS_MIN);
            let read: u64 = counters.iter().map(|channel| channel.reads[class]).sum();
            let written: u64 = counters.iter().map(|channel| channel.writes[class]).sum();
            let mut row = vec![
                name.into(),
                kind.into(),
                throughput.into(),
                throughput_ci95.map(|per_ps| per_ps * 64_000.0).into(),
                self.gb_per_s(read).into(),
                self.gb_per_s(written).into(),
                app.into(),
                latency.mean().map(|ps| ps / 1000.0).into(),
                ratio_ci95(self.batches, residence, entries).map(|ps| ps / 1000.0).into(),
                quantile_ns(&latency, 0.5),
                quantile_ns(&latency, 0.99),
                lines.into(),
                io.as_ref().map_or(Cell::Empty, |commands| commands.count().into()),
                told.and_then(Histogram::mean).map(|ps| ps / 1000.0).into(),
                told.map_or(Cell::Empty, |commands| quantile_ns(commands, 0.5)),
                told.map_or(Cell::Empty, |commands| quantile_ns(commands, 0.99)),
                limit.binding.join(" / ").into(),
            ];
            row.extend(self.operations(class, total));
            table.push(row);
        }
        table
    }

    /// The groups whose entries hold a workload's line from its start to its end.
    fn entry_groups(&self, class: usize) -> &'static [Group] {
        match self.plan.server.workloads[class].kind {
            WorkloadKind::Stream(_) | WorkloadKind::App(_) => &[Group::Lfb],
            WorkloadKind::Fio(_) | WorkloadKind::Network => &[Group::P2mWrite, Group::P2mRead],
        }
    }

    pub(super) fn entry_totals(&self, sample: &Sample, class: usize) -> Totals {
        let mut sum = Totals::default();
        for &group in self.entry_groups(class) {
            let totals = sample.of(group, class);
            sum.lines += totals.lines;
            sum.residence_ps += totals.residence_ps;
        }
        sum
    }

    /// Latency of one line of a workload: of the LFB entry, or in the IIO.
    pub(crate) fn line_latency(&self, class: usize) -> Histogram {
        let mut latency = Histogram::default();
        for &group in self.entry_groups(class) {
            latency.merge(&residences(self.machine, group, Some(class)));
        }
        latency
    }

    fn commands(&self, class: usize) -> Histogram {
        let mut commands = Histogram::default();
        for drive in self.machine.each::<Ssd>() {
            commands.merge(&drive.services()[class].commands);
        }
        commands
    }

    /// The columns of an application.
    fn operations(&self, class: usize, total: &Sample) -> Vec<Cell> {
        let Some(app) = self.app(class) else { return vec![Cell::Empty; WORKLOADS.len() - OF_APPLICATIONS] };
        let ended = total.operations(&app.cores);
        let per_ps = ended as f64 / self.window_ps();
        let ci95 = ratio_ci95(
            self.batches,
            |sample| sample.operations(&app.cores) as f64,
            |sample| sample.at.since(self.window_start) as f64,
        );
        let latency = self.operation_latency(app);
        let told = Some(&latency).filter(|latency| latency.count() >= COMMANDS_MIN);
        vec![
            ended.into(),
            (per_ps * PS_PER_S).into(),
            ci95.map(|per_ps| per_ps * PS_PER_S).into(),
            told.and_then(Histogram::mean).map(|ps| ps / 1000.0).into(),
            told.map_or(Cell::Empty, |latency| quantile_ns(latency, 0.5)),
            told.map_or(Cell::Empty, |latency| quantile_ns(latency, 0.99)),
            operations_in_all(app).map(|all| all as f64 / per_ps / PS_PER_S).into(),
        ]
    }

    fn operation_latency(&self, app: &AppParams) -> Histogram {
        let mut latency = Histogram::default();
        for core in self.machine.each::<CachedCore>().filter(|core| app.cores.contains(&core.index())) {
            latency.merge(core.operations().1);
        }
        latency
    }
}
