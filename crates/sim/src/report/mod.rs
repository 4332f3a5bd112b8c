//! Builds the result tables and the summary of a run.

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
mod memory_pool;
mod mesh;
mod network;
mod occupancy;
pub(crate) mod pool_sites;
mod predicted;
pub(crate) mod series;
mod stages;
pub(crate) mod table;
mod throttle;
pub(crate) mod tiering;
pub(crate) mod upi;
pub(crate) mod view;
pub(crate) mod workloads;

pub use predicted::predict;

use crate::read::sample::{increases, DomainTotals, PoolGroup, Sample};
use crate::read::CONFIDENCE_GROUPS;
use crate::report::caches::{build_caches, describe_llc};
use crate::report::channels::{build_channels, describe_channels_of_sockets};
use crate::report::counters::read_counters;
use crate::report::domains::build_domains;
use crate::report::energy::{build_energy, EnergyTables};
use crate::report::idle::IdleKeys;
use crate::report::mesh::{build_mesh, describe_dies, MeshTables};
use crate::report::series::build_series;
use crate::report::table::{Cell, Table};
use crate::report::tiering::build_tiering;
use crate::report::upi::build_upi;
use crate::report::view::ServerView;
use crate::report::workloads::build_workloads;
use hostnet_analysis::explain::{self, WorkloadFacts};
use hostnet_measure::batch::{estimate, Estimate};
use hostnet_measure::Histogram;
use serde_json::{json, Value};

const PS_PER_S: f64 = 1e12;

/// Results of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Summary as JSON. It is identical for any number of threads, across a checkpoint and on any machine.
    pub summary: Value,
    /// Tables of the servers, and of the network between the hosts.
    pub tables: Vec<Table>,
    /// Hexadecimal SHA-256 of the measurements, without the configuration and the number of events.
    pub result_hash: String,
}

impl Report {
    /// Creates the report of a run from its summary and its tables.
    pub(crate) fn new(summary: Value, tables: Vec<Table>) -> Self {
        let result_hash = hash::hash_results(&summary, &tables);
        Self { summary, tables, result_hash }
    }

    /// Returns the table with this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// Estimates the ratio of two running totals, as a mean over the batches. Batches in which `under` does not grow are
/// left out.
fn ratio_estimate(samples: &[Sample], over: impl Fn(&Sample) -> f64, under: impl Fn(&Sample) -> f64) -> Estimate {
    let (over, under) = (increases(samples, over), increases(samples, under));
    let ratios: Vec<f64> = over.iter().zip(&under).filter(|(_, &under)| under > 0.0).map(|(a, b)| a / b).collect();
    estimate(&ratios, CONFIDENCE_GROUPS)
}

/// Returns the half-width of the 95 % confidence interval of the ratio of two running totals, if it is finite.
fn ratio_ci95(samples: &[Sample], over: impl Fn(&Sample) -> f64, under: impl Fn(&Sample) -> f64) -> Option<f64> {
    let half_width = ratio_estimate(samples, over, under).half_width;
    // With too few batches the interval is infinite, which is no value of a table.
    half_width.is_finite().then_some(half_width)
}

/// Tables and summary of one server.
pub(crate) struct ServerResults {
    pub(crate) workloads: Table,
    pub(crate) domains: Table,
    pub(crate) channels: Table,
    pub(crate) caches: Option<Table>,
    pub(crate) upi: Option<Table>,
    pub(crate) mesh: Option<MeshTables>,
    pub(crate) tiering: Option<Table>,
    pub(crate) metered: Option<EnergyTables>,
    pub(crate) series: Table,
    /// Part of the summary that describes this server.
    pub(crate) summary: Value,
}

/// Builds the tables of the server and its part of the summary.
pub(crate) fn build_server_results(view: &ServerView) -> ServerResults {
    let limits = limits::collect_facts(view, view.total);
    let workloads = build_workloads(view, view.total, &limits);
    let (domains, channels, caches) = (build_domains(view), build_channels(view), build_caches(view, view.total));
    let mut summary = build_summary(view, &limits, &[&workloads, &domains, &channels]);
    if let Some(entries) = summary.as_object_mut().filter(|_| view.machine.fluids().next().is_some()) {
        // A fluid memory has no lines, so statistics of lines do not exist.
        entries.retain(|name, _| !LINE_KEYS.contains(&name.as_str()));
    }
    if let (Some(caches), Some(entries)) = (&caches, summary.as_object_mut()) {
        entries.insert("llc".to_owned(), describe_llc(view));
        entries.insert("caches".to_owned(), rows(caches));
    }
    // A server of one socket is one place, which the rows of all parts describe.
    if let Some(entries) = summary.as_object_mut().filter(|_| view.server.sockets.len() > 1) {
        entries.insert("places".to_owned(), json!(socket_domain_rows(&domains)));
        entries.insert("channels_of_sockets".to_owned(), json!(describe_channels_of_sockets(view)));
    }
    let upi = build_upi(view);
    if let (Some(upi), Some(entries)) = (&upi, summary.as_object_mut()) {
        entries.insert("upi".to_owned(), rows(upi));
    }
    let mesh = build_mesh(view);
    if let (Some(mesh), Some(entries)) = (&mesh, summary.as_object_mut()) {
        entries.insert("dies".to_owned(), describe_dies(view));
        entries.insert("mesh".to_owned(), rows(&mesh.ports));
        entries.insert("mesh_ways".to_owned(), rows(&mesh.ways));
    }
    let tiering = build_tiering(view);
    if let (Some(tiering), Some(entries)) = (&tiering, summary.as_object_mut()) {
        entries.insert("tiering".to_owned(), rows(tiering));
    }
    let metered = build_energy(view);
    if let (Some(metered), Some(entries)) = (&metered, summary.as_object_mut()) {
        entries.extend(metered.summary().map(|(name, rows)| (name.to_owned(), rows)));
    }
    ServerResults {
        workloads,
        domains,
        channels,
        caches,
        upi,
        mesh,
        tiering,
        metered,
        series: build_series(view),
        summary,
    }
}

/// Builds the summary from the limits of the workloads and from the tables of workloads, domains and channels.
fn build_summary(view: &ServerView, limits: &[WorkloadFacts], tables: &[&Table; 3]) -> Value {
    let [workloads, domains, channels] = tables;
    let whole = |row: &&Vec<Cell>| domains.text(row, "part") == Some("all");
    let idle = IdleKeys::of(view);
    let whole: Vec<Value> = domains.rows.iter().filter(whole).map(|row| domains.row_json(row)).collect();
    json!({
        "lines": view.total.lines() * view.lines_each(),
        "workloads": rows(workloads),
        "domains": whole,
        "channels": rows(channels),
        "counters": read_counters(view),
        "binding": limits,
        "regime": explain::regime_of(view.line_server.socket(), limits),
        "limits": limits.iter().map(WorkloadFacts::sentence).collect::<Vec<_>>(),
        "no_effect": idle.no_effect,
        "never_met": idle.never_met,
    })
}

/// Keys of the summary of a server that exist only if its lines are simulated.
const LINE_KEYS: [&str; 5] = ["lines", "counters", "binding", "regime", "limits"];
/// Returns the rows of the table of domains whose part is a socket or a direction between two sockets.
fn socket_domain_rows(domains: &Table) -> Vec<Value> {
    let is_place = |row: &&Vec<Cell>| {
        domains.text(row, "part").is_some_and(|part| part.starts_with("socket ") || part.starts_with("upi "))
    };
    domains.rows.iter().filter(is_place).map(|row| domains.row_json(row)).collect()
}

/// Returns the rows of a table as a list of JSON objects. It belongs into a map as it is: the macro `json!` would copy
/// it.
pub(crate) fn rows(table: &Table) -> Value {
    Value::Array(table.rows.iter().map(|row| table.row_json(row)).collect())
}

/// Sums a counter of a domain group, for one workload or, with `None`, for all.
fn sum(sample: &Sample, group: PoolGroup, class: Option<usize>, pick: impl Fn(&DomainTotals) -> u64) -> f64 {
    match class {
        Some(class) => pick(&sample.of(group, class)) as f64,
        None => sample.totals[group as usize].iter().map(pick).sum::<u64>() as f64,
    }
}

/// Returns the quantile at `share`, 0 to 1, of times in ps as a cell in ns.
pub(crate) fn quantile_ns(histogram: &Histogram, share: f64) -> Cell {
    histogram.quantile(share).map(|ps| ps / 1000.0).into()
}

/// Returns the ratio of two counts, or an empty cell if `under` is 0.
fn ratio(over: u64, under: u64) -> Cell {
    if under > 0 {
        Cell::from(over as f64 / under as f64)
    } else {
        Cell::Empty
    }
}
