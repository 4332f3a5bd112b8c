//! From a run to its tables and its summary.

pub(crate) mod caches;
pub(crate) mod channels;
pub(crate) mod epochs;
pub(crate) mod hash;
mod predicted;
mod series;
mod workloads;

pub use predicted::predict;

use crate::limits;
use crate::sample::{differences, domains, Group, Sample, Totals};
use crate::table::{Cell, Kind, Table};
use crate::view::{View, CONFIDENCE_GROUPS};
use hostnet_analysis::explain::{self, WorkloadFacts};
use hostnet_measure::batch::estimate;
use hostnet_measure::{Domain, Histogram};
use hostnet_model::memory::{Channel, Controller};
use hostnet_model::params::{AppParams, WorkloadKind};
use serde_json::{json, Value};

const PS_PER_S: f64 = 1e12;

pub(crate) const DOMAINS: &[(&str, Kind)] = &[
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

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The summary: the same for any number of threads, across a checkpoint and on any machine.
    pub summary: Value,
    /// The tables `workloads`, `domains`, `channels`, `series` and, of a server with caches, `caches`.
    pub tables: Vec<Table>,
    /// Hexadecimal SHA-256 of what was measured: neither of the configuration, nor of the number of events.
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
        (lines * self.line_bytes) as f64 * 1000.0 / self.window_ps()
    }

    fn classes(&self) -> usize {
        self.plan.server.workloads.len()
    }

    /// The domains that a workload is measured by: those of its kind that it used.
    pub(crate) fn own_groups(&self, class: usize) -> &'static [Group] {
        match self.plan.server.workloads[class].kind {
            WorkloadKind::Stream(_) | WorkloadKind::App(_) => &[Group::C2mRead, Group::C2mWrite, Group::Prefetch],
            WorkloadKind::Fio(_) | WorkloadKind::Network => &[Group::P2mWrite, Group::P2mRead],
        }
    }

    /// The application that a workload is, if it is one.
    fn app(&self, class: usize) -> Option<&AppParams> {
        match &self.plan.server.workloads[class].kind {
            WorkloadKind::App(app) => Some(app),
            WorkloadKind::Stream(_) | WorkloadKind::Fio(_) | WorkloadKind::Network => None,
        }
    }

    /// The controllers of all channels.
    pub(crate) fn controllers(&self) -> Vec<&Controller> {
        self.machine.each().map(Channel::controller).collect()
    }

    pub(crate) fn report(&self) -> Report {
        let total = Sample::read(self.machine, self.classes(), self.now);
        let limits = limits::all(self, &total);
        let workloads = self.workloads(&total, &limits);
        let domains = self.domains();
        let channels = self.channels();
        let caches = self.caches(&total);
        let series = self.series();
        let mut summary = self.summary(&total, &limits, &[&workloads, &domains, &channels]);
        if let (Some(caches), Some(entries)) = (&caches, summary.as_object_mut()) {
            entries.insert("llc".to_owned(), self.llc());
            entries.insert("caches".to_owned(), json!(rows(caches)));
        }
        let tables: Vec<Table> = [workloads, domains, channels, series].into_iter().chain(caches).collect();
        let result_hash = hash::of_results(&summary, &tables);
        Report { summary, tables, result_hash }
    }

    fn summary(&self, total: &Sample, limits: &[WorkloadFacts], tables: &[&Table; 3]) -> Value {
        let [workloads, domains, channels] = tables;
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

    pub(crate) fn domains(&self) -> Table {
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
}

/// The rows of a table as JSON.
pub(crate) fn rows(table: &Table) -> Vec<Value> {
    table.rows.iter().map(|row| table.row_json(row)).collect()
}

fn sum(sample: &Sample, group: Group, class: Option<usize>, pick: impl Fn(&Totals) -> u64) -> f64 {
    match class {
        Some(class) => pick(&sample.of(group, class)) as f64,
        None => sample.totals[group as usize].iter().map(pick).sum::<u64>() as f64,
    }
}

pub(crate) fn quantile_ns(histogram: &Histogram, share: f64) -> Cell {
    histogram.quantile(share).map(|ps| ps / 1000.0).into()
}

/// A share of two counts; nothing of nothing.
fn ratio(over: u64, under: u64) -> Cell {
    if under > 0 {
        Cell::from(over as f64 / under as f64)
    } else {
        Cell::Empty
    }
}
