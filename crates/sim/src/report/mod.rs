//! From a run to its tables and its summary.

pub(crate) mod caches;
pub(crate) mod channels;
mod counters;
pub(crate) mod domains;
pub(crate) mod energy;
pub(crate) mod epochs;
pub(crate) mod hash;
mod idle;
pub(crate) mod info;
mod limits;
mod mesh;
mod network;
mod occupancy;
pub(crate) mod places;
mod pooled;
mod predicted;
pub(crate) mod series;
mod stages;
pub(crate) mod table;
mod throttle;
pub(crate) mod upi;
pub(crate) mod view;
pub(crate) mod workloads;

pub use predicted::predict;

use crate::read::sample::{increases, DomainTotals, Group, Sample};
use crate::report::energy::Metered;
use crate::report::idle::Idle;
use crate::report::mesh::MeshTables;
use crate::report::table::{Cell, Table};
use crate::report::view::{ServerView, CONFIDENCE_GROUPS};
use hostnet_analysis::explain::{self, WorkloadFacts};
use hostnet_measure::batch::{estimate, Estimate};
use hostnet_measure::{Domain, Histogram};
use hostnet_model::memory::{Channel, Controller};
use hostnet_model::params::AppParams;
use serde_json::{json, Value};

const PS_PER_S: f64 = 1e12;

/// The results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The summary: the same for any number of threads, across a checkpoint and on any machine.
    pub summary: Value,
    /// The tables: of servers, and of what is between hosts.
    pub tables: Vec<Table>,
    /// Hexadecimal SHA-256 of what was measured: neither of the configuration, nor of the number of events.
    pub result_hash: String,
}

impl Report {
    /// Makes the report of a run from its summary and its tables.
    pub(crate) fn new(summary: Value, tables: Vec<Table>) -> Self {
        let result_hash = hash::of_results(&summary, &tables);
        Self { summary, tables, result_hash }
    }

    /// The table of that name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// The mean of the ratio of two running totals over batches.
fn ratio_estimate(samples: &[Sample], over: impl Fn(&Sample) -> f64, under: impl Fn(&Sample) -> f64) -> Estimate {
    let (over, under) = (increases(samples, over), increases(samples, under));
    let ratios: Vec<f64> = over.iter().zip(&under).filter(|(_, &under)| under > 0.0).map(|(a, b)| a / b).collect();
    estimate(&ratios, CONFIDENCE_GROUPS)
}

/// Half-width of its confidence interval.
fn ratio_ci95(samples: &[Sample], over: impl Fn(&Sample) -> f64, under: impl Fn(&Sample) -> f64) -> Option<f64> {
    let half_width = ratio_estimate(samples, over, under).half_width;
    half_width.is_finite().then_some(half_width)
}

/// What a server did.
pub(crate) struct ServerResults {
    pub(crate) workloads: Table,
    pub(crate) domains: Table,
    pub(crate) channels: Table,
    pub(crate) caches: Option<Table>,
    pub(crate) upi: Option<Table>,
    pub(crate) mesh: Option<MeshTables>,
    pub(crate) metered: Option<Metered>,
    pub(crate) series: Table,
    /// What a summary says of it.
    pub(crate) summary: Value,
}

impl ServerView<'_> {
    pub(crate) fn window_ps(&self) -> f64 {
        self.now.since(self.window_start) as f64
    }

    pub(crate) fn gb_per_s(&self, lines: u64) -> f64 {
        self.gb_per_s_of(lines * self.line_bytes)
    }

    fn gb_per_s_of(&self, bytes: u64) -> f64 {
        bytes as f64 * 1000.0 / self.window_ps()
    }

    fn classes(&self) -> usize {
        self.server.workloads.len()
    }

    /// The domains that a workload is measured by: those of its kind that it used.
    pub(crate) fn own_groups(&self, class: usize) -> &'static [Group] {
        if self.server.workloads[class].kind.is_of_devices() {
            &[Group::P2mWrite, Group::P2mRead]
        } else {
            &[Group::C2mRead, Group::C2mWrite, Group::Prefetch]
        }
    }

    /// The application that a workload is, if it is one.
    fn app(&self, class: usize) -> Option<&AppParams> {
        self.server.workloads[class].kind.app()
    }

    /// The controllers of all channels.
    pub(crate) fn controllers(&self) -> Vec<&Controller> {
        self.machine.each().map(Channel::controller).collect()
    }

    /// The tables, and what a summary says beside their rows.
    pub(crate) fn results(&self) -> ServerResults {
        let limits = limits::all(self, self.total);
        let workloads = self.workloads(self.total, &limits);
        let (domains, channels, caches) = (self.domains(), self.channels(), self.caches(self.total));
        let mut summary = self.summary(&limits, &[&workloads, &domains, &channels]);
        if let Some(entries) = summary.as_object_mut().filter(|_| self.machine.fluids().next().is_some()) {
            // A memory of rates has no lines that could tell.
            entries.retain(|name, _| !OF_LINES.contains(&name.as_str()));
        }
        if let (Some(caches), Some(entries)) = (&caches, summary.as_object_mut()) {
            entries.insert("llc".to_owned(), self.llc());
            entries.insert("caches".to_owned(), json!(rows(caches)));
        }
        if let Some(entries) = summary.as_object_mut().filter(|_| self.server.sockets.len() > 1) {
            entries.insert("places".to_owned(), json!(at_places(&domains)));
            entries.insert("channels_of_sockets".to_owned(), json!(self.channels_of_sockets()));
        }
        let upi = self.upi();
        if let (Some(upi), Some(entries)) = (&upi, summary.as_object_mut()) {
            entries.insert("upi".to_owned(), json!(rows(upi)));
        }
        let mesh = self.mesh();
        if let (Some(mesh), Some(entries)) = (&mesh, summary.as_object_mut()) {
            entries.insert("dies".to_owned(), self.dies());
            entries.insert("mesh".to_owned(), json!(rows(&mesh.ports)));
            entries.insert("mesh_ways".to_owned(), json!(rows(&mesh.ways)));
        }
        let metered = self.metered();
        if let (Some(metered), Some(entries)) = (&metered, summary.as_object_mut()) {
            entries.extend(metered.summary().map(|(name, rows)| (name.to_owned(), rows)));
        }
        ServerResults { workloads, domains, channels, caches, upi, mesh, metered, series: self.series(), summary }
    }

    fn summary(&self, limits: &[WorkloadFacts], tables: &[&Table; 3]) -> Value {
        let [workloads, domains, channels] = tables;
        let whole = |row: &&Vec<Cell>| domains.text(row, "part") == Some("all");
        let idle = Idle::of(self);
        let whole: Vec<Value> = domains.rows.iter().filter(whole).map(|row| domains.row_json(row)).collect();
        json!({
            "lines": self.total.lines(),
            "workloads": rows(workloads),
            "domains": whole,
            "channels": rows(channels),
            "counters": self.counters(),
            "binding": limits,
            "regime": explain::regime_of(self.server.socket(), limits),
            "limits": limits.iter().map(WorkloadFacts::sentence).collect::<Vec<_>>(),
            "no_effect": idle.no_effect,
            "never_met": idle.never_met,
        })
    }

    /// A share of time, as the mean over some domains.
    fn share(&self, parts: &[&Domain], time_ps: impl Fn(&Domain) -> u64) -> Cell {
        let sum: u64 = parts.iter().map(|domain| time_ps(domain)).sum();
        (sum as f64 / parts.len() as f64 / self.window_ps()).into()
    }
}

/// Keys that the summary of a server has only where its lines are simulated.
const OF_LINES: [&str; 5] = ["lines", "counters", "binding", "regime", "limits"];
/// The rows of the table of domains that are of a socket, or of a direction between two.
fn at_places(domains: &Table) -> Vec<Value> {
    let is_place = |row: &&Vec<Cell>| {
        domains.text(row, "part").is_some_and(|part| part.starts_with("socket ") || part.starts_with("upi "))
    };
    domains.rows.iter().filter(is_place).map(|row| domains.row_json(row)).collect()
}

/// The rows of a table as JSON.
pub(crate) fn rows(table: &Table) -> Vec<Value> {
    table.rows.iter().map(|row| table.row_json(row)).collect()
}

fn sum(sample: &Sample, group: Group, class: Option<usize>, pick: impl Fn(&DomainTotals) -> u64) -> f64 {
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
