//! Predictions in the form of a run's results.

use super::channels::CHANNELS;
use super::domains::DOMAINS;
use super::idle::predicted::list_keys_without_effect;
use super::series::SERIES;
use super::workloads::WORKLOADS;
use super::{hash, rows, Report};
use crate::read::sample::PoolGroup;
use crate::report::table::{Cell, Table};
use hostnet_analysis::binding::{stream_otherwise, OFFERED_LOAD};
use hostnet_analysis::explain::{Kind, WorkloadFacts};
use hostnet_analysis::offered::offered_gb_per_s;
use hostnet_analysis::predict::{Domain, Memory, PredictedServer, Workload as Found};
use hostnet_analysis::{limits, Prediction};
use hostnet_config::Plan;
use hostnet_model::params::{ServerParams, Workload};
use serde_json::{json, Map, Value};

/// Predicts the server of a plan, in the tables of a run. Values that a prediction does not give are empty. Returns
/// `None` for hosts on a network.
#[must_use]
pub fn predict(plan: &Plan) -> Option<Report> {
    let server = plan.server()?;
    let base = PredictedServer::new(server);
    let prediction = base.prediction();
    let limited = limited(&base, &prediction.workloads);
    let workloads = workloads(server, &prediction.workloads, &limited);
    let domains = domains(server, &prediction.domains);
    let channels = channels(&prediction.memory);
    let summary = json!({
        "format": 1,
        "engine": "predict",
        "name": plan.name,
        "config_hash": plan.hash,
        "seed": plan.run.seed,
        "complete": true,
        "workloads": rows(&workloads),
        "offered_gb_per_s": offered(server),
        "domains": rows(&domains),
        "channels": rows(&channels),
        "regime": prediction.regime,
        "limits": limited.iter().map(WorkloadFacts::sentence).collect::<Vec<_>>(),
        "uncertainty": uncertainty(&prediction),
        "no_effect": list_keys_without_effect(server, &plan.given_of("")),
        "never_met": [],
        "ignored": plan.ignored,
        "unvalidated": plan.unvalidated,
    });
    let tables = vec![workloads, domains, channels, Table::of("series", SERIES)];
    let result_hash = hash::hash_results(&summary, &tables);
    Some(Report { summary, tables, result_hash })
}

/// Returns the load that each storage workload offers, in GB/s of data.
fn offered(server: &ServerParams) -> Map<String, Value> {
    let offers = |(class, workload): (usize, &Workload)| {
        offered_gb_per_s(server, class).map(|offered| (workload.name.clone(), offered.into()))
    };
    server.workloads.iter().enumerate().filter_map(offers).collect()
}

fn uncertainty(prediction: &Prediction) -> Value {
    let [mean, most] = prediction.error;
    json!({ "throughput_mean": mean, "throughput_95": most, "outside": prediction.outside })
}

/// Returns the limit of each workload, with the pools on its path as evidence.
fn limited(base: &PredictedServer, predicted: &[Found]) -> Vec<WorkloadFacts> {
    let server = base.server();
    let mut limits = limits::limits_of_base(base).unwrap_or_default().into_iter();
    let (workloads, issue_ps) = (server.workloads.iter().zip(predicted), server.socket().core.issue_ps);
    workloads.map(|(workload, found)| facts(workload, found, issue_ps).with_limits(limits.next())).collect()
}

fn facts(workload: &Workload, found: &Found, issue_ps: u64) -> WorkloadFacts {
    let kind = if workload.kind.is_of_devices() { Kind::Fio } else { Kind::Stream };
    let otherwise = match (workload.kind.stream(), found.pools.first()) {
        // A pool moves 64 B per access, so GB/s over 64e3 are accesses per ps.
        (Some(stream), Some(pool)) => {
            let accesses_per_ps = pool.gb_per_s / 64e3 / stream.cores.len() as f64;
            stream_otherwise(stream.gap_ps, issue_ps, accesses_per_ps)
        }
        _ => OFFERED_LOAD,
    };
    WorkloadFacts::new(&workload.name, kind, found.gb_per_s, found.pools.clone(), otherwise)
}

/// Adds a row with the given cells; all others are empty.
fn add(table: &mut Table, cells: Vec<(&str, Cell)>) {
    let told = |name: &str| cells.iter().find(|(column, _)| *column == name).map(|(_, cell)| cell.clone());
    table.push(table.columns.iter().map(|(name, _)| told(name).unwrap_or(Cell::Empty)).collect());
}

fn workloads(server: &ServerParams, predicted: &[Found], limited: &[WorkloadFacts]) -> Table {
    let mut table = Table::of("workloads", WORKLOADS);
    for ((workload, found), facts) in server.workloads.iter().zip(predicted).zip(limited) {
        add(
            &mut table,
            vec![
                ("workload", workload.name.as_str().into()),
                ("kind", workload.kind.name().into()),
                ("throughput_gb_per_s", found.gb_per_s.into()),
                ("read_gb_per_s", found.read_gb_per_s.into()),
                ("write_gb_per_s", found.write_gb_per_s.into()),
                ("app_gb_per_s", found.gb_per_s.into()),
                ("latency_mean_ns", found.latency_ns.into()),
                ("limited_by", facts.limited_by().into()),
            ],
        );
    }
    table
}

fn domains(server: &ServerParams, predicted: &[Domain]) -> Table {
    let mut table = Table::of("domains", DOMAINS);
    for domain in predicted {
        add(
            &mut table,
            vec![
                ("domain", domain.name.into()),
                ("part", "all".into()),
                ("workload", domain.workload.map_or("all", |class| server.workloads[class].name.as_str()).into()),
                ("capacity", (domain.capacity as u64).into()),
                ("in_use_mean", domain.in_use.into()),
                ("full_share", domain.full_share.into()),
                ("latency_mean_ns", domain.latency_ns.into()),
                ("throughput_gb_per_s", domain.gb_per_s.into()),
                ("shares_capacity_with", shares_with(domain.name).into()),
            ],
        );
    }
    table
}

/// Returns the pool that a domain shares its credits with, or an empty string.
fn shares_with(domain: &str) -> &'static str {
    PoolGroup::ALL.into_iter().find(|group| group.name() == domain).map_or("", PoolGroup::shares_with)
}

/// Builds the table of channels: a row for all, and one for each. A prediction takes them as equally loaded.
fn channels(memory: &Memory) -> Table {
    let mut table = Table::of("channels", CHANNELS);
    // Row -1 stands for all channels, as in a run.
    for channel in -1..i64::from(memory.controllers) {
        let part = if channel < 0 { 1.0 } else { 1.0 / f64::from(memory.controllers) };
        add(
            &mut table,
            vec![
                ("channel", channel.into()),
                ("read_gb_per_s", (part * memory.read_gb_per_s).into()),
                ("write_gb_per_s", (part * memory.write_gb_per_s).into()),
                ("row_miss_ratio", memory.row_miss_ratio.into()),
                ("write_row_miss_ratio", memory.write_row_miss_ratio.into()),
                ("rpq_mean", memory.rpq.into()),
                ("wpq_mean", memory.wpq.into()),
                ("write_mode_share", memory.write_mode_share.into()),
                ("bus_busy_share", memory.bus_busy_share.into()),
            ],
        );
    }
    table
}
