//! From a run to its tables and its summary.

mod channels;
pub(crate) mod epochs;
mod predicted;

pub use predicted::predict;

use crate::limits;
use crate::sample::{differences, domains, residences, Group, Sample, Totals};
use crate::table::{Cell, Kind, Table};
use crate::view::{View, CONFIDENCE_GROUPS};
use hostnet_analysis::explain::{self, WorkloadFacts};
use hostnet_measure::batch::estimate;
use hostnet_measure::{Domain, Histogram};
use hostnet_model::memory::Controller;
use hostnet_model::params::WorkloadKind;
use hostnet_model::Component;
use serde_json::{json, Value};
use sha2::{Digest, Sha256};

/// Fewest completed commands that a completion latency is told for.
const COMMANDS_MIN: u64 = 100;

const WORKLOADS: &[(&str, Kind)] = &[
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
];

const DOMAINS: &[(&str, Kind)] = &[
    ("domain", Kind::Text),
    ("part", Kind::Text),
    ("workload", Kind::Text),
    ("capacity", Kind::Integer),
    ("in_use_mean", Kind::Number),
    ("in_use_ci95", Kind::Number),
    ("in_use_max", Kind::Integer),
    ("full_share", Kind::Number),
    ("over_threshold_share", Kind::Number),
    ("over_threshold_ci95", Kind::Number),
    ("latency_mean_ns", Kind::Number),
    ("latency_ci95", Kind::Number),
    ("latency_p50_ns", Kind::Number),
    ("latency_p99_ns", Kind::Number),
    ("throughput_gb_per_s", Kind::Number),
    ("lines", Kind::Integer),
    ("shares_capacity_with", Kind::Text),
];

const SERIES: &[(&str, Kind)] =
    &[("time_ns", Kind::Number), ("subject", Kind::Text), ("quantity", Kind::Text), ("value", Kind::Number)];

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The summary: the same for any number of threads, across a checkpoint and on any machine.
    pub summary: Value,
    /// The tables `workloads`, `domains`, `channels` and `series`.
    pub tables: Vec<Table>,
    /// Hexadecimal SHA-256 of summary and tables.
    pub result_hash: String,
}

impl Report {
    /// The table of that name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// Half-width of the confidence interval of the ratio of two running totals, per batch.
fn ratio_ci95(samples: &[Sample], over: impl Fn(&Sample) -> f64, under: impl Fn(&Sample) -> f64) -> Option<f64> {
    let (over, under) = (differences(samples, over), differences(samples, under));
    let ratios: Vec<f64> = over.iter().zip(&under).filter(|(_, &under)| under > 0.0).map(|(a, b)| a / b).collect();
    let half_width = estimate(&ratios, CONFIDENCE_GROUPS).half_width;
    half_width.is_finite().then_some(half_width)
}

impl View<'_> {
    pub(crate) fn window_ps(&self) -> f64 {
        self.now.since(self.window_start) as f64
    }

    pub(crate) fn gb_per_s(&self, lines: u64) -> f64 {
        lines as f64 * 64_000.0 / self.window_ps()
    }

    fn classes(&self) -> usize {
        self.plan.server.workloads.len()
    }

    /// The domains that a workload is measured by: those of its kind that it used.
    pub(crate) fn own_groups(&self, class: usize) -> [Group; 2] {
        match self.plan.server.workloads[class].kind {
            WorkloadKind::Stream(_) | WorkloadKind::App(_) => [Group::C2mRead, Group::C2mWrite],
            WorkloadKind::Fio(_) => [Group::P2mWrite, Group::P2mRead],
        }
    }

    /// The controllers of all channels.
    pub(crate) fn controllers(&self) -> Vec<&Controller> {
        let channels = self.machine.components().iter().filter_map(|component| match component {
            Component::Channel(channel) => Some(channel.controller()),
            _ => None,
        });
        channels.collect()
    }

    pub(crate) fn report(&self) -> Report {
        let total = Sample::read(self.machine, self.classes(), self.now);
        let limits = limits::all(self, &total);
        let workloads = self.workloads(&total, &limits);
        let domains = self.domains();
        let channels = self.channels();
        let series = self.series();
        let summary = self.summary(&total, &limits, &[&workloads, &domains, &channels]);
        let tables = vec![workloads, domains, channels, series];
        let result_hash = hash(&summary, &tables);
        Report { summary, tables, result_hash }
    }

    fn summary(&self, total: &Sample, limits: &[WorkloadFacts], tables: &[&Table; 3]) -> Value {
        let [workloads, domains, channels] = tables;
        let rows = |table: &Table| table.rows.iter().map(|row| table.row_json(row)).collect::<Vec<_>>();
        let whole = |row: &&Vec<Cell>| domains.text(row, "part") == Some("all");
        let whole: Vec<Value> = domains.rows.iter().filter(whole).map(|row| domains.row_json(row)).collect();
        json!({
            "format": 1,
            "engine": "run",
            "name": self.plan.name,
            "config_hash": self.plan.hash,
            "seed": self.plan.run.seed,
            "complete": self.complete,
            "warm_up_ns": self.window_start.ns(),
            "window_ns": self.window_ps() / 1000.0,
            "events": self.events,
            "lines": total.lines(),
            "workloads": rows(workloads),
            "domains": whole,
            "channels": rows(channels),
            "counters": self.counters(),
            "binding": limits,
            "regime": explain::regime_of(&self.plan.server, limits),
            "limits": limits.iter().map(WorkloadFacts::sentence).collect::<Vec<_>>(),
            "no_effect": limits::without_influence(self),
            "ignored": self.plan.ignored,
            "unvalidated": self.plan.unvalidated,
        })
    }

    fn workloads(&self, total: &Sample, limits: &[WorkloadFacts]) -> Table {
        let mut table = Table::new("workloads", WORKLOADS);
        let counters: Vec<_> = self.controllers().iter().map(|channel| channel.counters(self.now)).collect();
        for (class, limit) in limits.iter().enumerate() {
            let name = self.plan.server.workloads[class].name.as_str();
            let groups = self.own_groups(class);
            let lines: u64 = groups.iter().map(|&group| total.of(group, class).lines).sum();
            let throughput = self.gb_per_s(lines);
            let own_lines = |sample: &Sample| groups.iter().map(|&g| sample.of(g, class).lines as f64).sum::<f64>();
            let throughput_ci95 =
                ratio_ci95(self.batches, own_lines, |sample| sample.at.since(self.window_start) as f64);
            let latency = self.line_latency(class);
            let residence = |sample: &Sample| self.entry_totals(sample, class).residence_ps as f64;
            let entries = |sample: &Sample| self.entry_totals(sample, class).lines as f64;
            let (kind, app, io) = match self.plan.server.workloads[class].kind {
                WorkloadKind::Stream(_) => ("stream", throughput, None),
                WorkloadKind::App(_) => ("app", throughput, None),
                WorkloadKind::Fio(_) => {
                    ("fio", total.app_bytes[class] as f64 * 1000.0 / self.window_ps(), Some(self.commands(class)))
                }
            };
            let told = io.as_ref().filter(|commands| commands.count() >= COMMANDS_MIN);
            let read: u64 = counters.iter().map(|channel| channel.reads[class]).sum();
            let written: u64 = counters.iter().map(|channel| channel.writes[class]).sum();
            table.push(vec![
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
            ]);
        }
        table
    }

    /// The groups whose entries hold a workload's line from its start to its end.
    fn entry_groups(&self, class: usize) -> &'static [Group] {
        match self.plan.server.workloads[class].kind {
            WorkloadKind::Stream(_) | WorkloadKind::App(_) => &[Group::Lfb],
            WorkloadKind::Fio(_) => &[Group::P2mWrite, Group::P2mRead],
        }
    }

    fn entry_totals(&self, sample: &Sample, class: usize) -> Totals {
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
        for component in self.machine.components() {
            if let Component::Ssd(ssd) = component {
                commands.merge(&ssd.services()[class].commands);
            }
        }
        commands
    }

    fn domains(&self) -> Table {
        let mut table = Table::new("domains", DOMAINS);
        for group in Group::ALL {
            let parts = domains(self.machine, group);
            if parts
                .iter()
                .all(|(_, domain)| domain.classes().iter().all(|usage| usage.acquired() == 0 && usage.in_use() == 0))
            {
                continue;
            }
            let all: Vec<&Domain> = parts.iter().map(|(_, domain)| *domain).collect();
            self.domain_rows(&mut table, group, "all", &all);
            if parts.len() > 1 {
                for (part, domain) in &parts {
                    self.domain_rows(&mut table, group, part, &[domain]);
                }
            }
        }
        table
    }

    /// The rows of some domains taken together: of all workloads, and of each if there are several.
    fn domain_rows(&self, table: &mut Table, group: Group, part: &str, parts: &[&Domain]) {
        let mut classes = vec![None];
        if self.classes() > 1 {
            classes.extend((0..self.classes()).map(Some));
        }
        for class in classes {
            let mut latency = Histogram::default();
            let mut area_ps = 0;
            for usage in parts.iter().flat_map(|domain| group.usages(domain, class)) {
                latency.merge(usage.residence());
                area_ps += usage.area_ps();
            }
            if class.is_some() && area_ps == 0 {
                continue;
            }
            let whole = part == "all";
            let confidence = |found: Option<f64>| if whole { found } else { None };
            let in_use_max = parts.iter().map(|domain| domain.in_use_max()).sum::<u32>();
            table.push(vec![
                group.name().into(),
                part.into(),
                class.map_or("all", |class| self.plan.server.workloads[class].name.as_str()).into(),
                parts.iter().map(|domain| domain.capacity()).sum::<u32>().into(),
                (area_ps as f64 / self.window_ps()).into(),
                confidence(self.in_use_ci95(group, class)).into(),
                if class.is_none() { in_use_max.into() } else { Cell::Empty },
                if class.is_none() { self.share(parts, Domain::full_ps) } else { Cell::Empty },
                if class.is_none() { self.share(parts, Domain::over_threshold_ps) } else { Cell::Empty },
                confidence(class.map_or_else(|| self.over_threshold_ci95(group, parts.len()), |_| None)).into(),
                latency.mean().map(|ps| ps / 1000.0).into(),
                confidence(self.latency_ci95(group, class)).map(|ps| ps / 1000.0).into(),
                quantile_ns(&latency, 0.5),
                quantile_ns(&latency, 0.99),
                self.gb_per_s(latency.count()).into(),
                latency.count().into(),
                group.shares_with().into(),
            ]);
        }
    }

    /// A share of time, as the mean over some domains.
    fn share(&self, parts: &[&Domain], time_ps: impl Fn(&Domain) -> u64) -> Cell {
        let sum: u64 = parts.iter().map(|domain| time_ps(domain)).sum();
        (sum as f64 / parts.len() as f64 / self.window_ps()).into()
    }

    fn in_use_ci95(&self, group: Group, class: Option<usize>) -> Option<f64> {
        let area = |sample: &Sample| sum(sample, group, class, |totals| totals.area_ps);
        ratio_ci95(self.batches, area, |sample| sample.at.since(self.window_start) as f64)
    }

    fn latency_ci95(&self, group: Group, class: Option<usize>) -> Option<f64> {
        let residence = |sample: &Sample| sum(sample, group, class, |totals| totals.residence_ps);
        ratio_ci95(self.batches, residence, |sample| sum(sample, group, class, |totals| totals.lines))
    }

    fn over_threshold_ci95(&self, group: Group, parts: usize) -> Option<f64> {
        let over = |sample: &Sample| sample.over_threshold_ps[group as usize] as f64 / parts as f64;
        ratio_ci95(self.batches, over, |sample| sample.at.since(self.window_start) as f64)
    }

    /// The time series: per interval the throughput and latency of every workload, and the credits in use of every domain.
    fn series(&self) -> Table {
        let mut table = Table::new("series", SERIES);
        let mut before = Sample { at: self.window_start, ..Sample::read_empty(self.classes()) };
        for sample in self.series {
            let elapsed_ps = sample.at.since(before.at) as f64;
            let time = Cell::from(sample.at.since(self.window_start) as f64 / 1000.0);
            let mut push = |subject: &str, quantity: &str, value: f64| {
                table.push(vec![time.clone(), subject.into(), quantity.into(), value.into()]);
            };
            for class in 0..self.classes() {
                let name = self.plan.server.workloads[class].name.as_str();
                let grown = |pick: &dyn Fn(&Sample) -> u64| (pick(sample) - pick(&before)) as f64;
                let groups = self.own_groups(class);
                let lines = grown(&|sample| groups.iter().map(|&group| sample.of(group, class).lines).sum());
                push(name, "throughput_gb_per_s", lines * 64_000.0 / elapsed_ps);
                let entries = grown(&|sample| self.entry_totals(sample, class).lines);
                let residence = grown(&|sample| self.entry_totals(sample, class).residence_ps);
                push(name, "latency_mean_ns", residence / entries / 1000.0);
            }
            for group in Group::ALL {
                let area = sum(sample, group, None, |totals| totals.area_ps)
                    - sum(&before, group, None, |totals| totals.area_ps);
                push(group.name(), "in_use_mean", area / elapsed_ps);
            }
            before = sample.clone();
        }
        table
    }
}

fn sum(sample: &Sample, group: Group, class: Option<usize>, pick: impl Fn(&Totals) -> u64) -> f64 {
    match class {
        Some(class) => pick(&sample.of(group, class)) as f64,
        None => sample.totals[group as usize].iter().map(pick).sum::<u64>() as f64,
    }
}

fn quantile_ns(histogram: &Histogram, share: f64) -> Cell {
    histogram.quantile(share).map(|ps| ps / 1000.0).into()
}

fn hash(summary: &Value, tables: &[Table]) -> String {
    let mut hasher = Sha256::new();
    hasher.update(summary.to_string());
    for table in tables {
        hasher.update(table.name);
        for row in &table.rows {
            hasher.update(table.row_json(row).to_string());
        }
    }
    hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
