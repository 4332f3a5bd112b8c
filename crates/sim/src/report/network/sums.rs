//! The table `sums`, of switches that sum up the vectors of jobs, and the limits of their engines.

use super::class::{ports_on_path, TrafficClass};
use super::engines::full_engine;
use super::full_cables::full_cable;
use super::limit::{worst_limit, TrafficLimit, MOST};
use crate::report::table::{Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::flow::Reducer;
use hostnet_model::params::ReducerParams;

/// Work of a switch for a job.
struct SumRow<'a> {
    switch: &'a str,
    job: &'a str,
    /// Ranks and switches whose vectors the switch adds.
    inputs: u64,
    /// Bytes of the sums.
    bytes: u64,
    /// Share of the window that the engine works for the job, 0 to 1; `None` if the window has no length.
    load: Option<f64>,
}

/// Rows of the table: [`SumRow`].
struct SumRows;

impl TableRows for SumRows {
    type Row<'a> = SumRow<'a>;
}

const SUMS: &[Column<SumRows>] = &[
    Column::key(Column::text("switch", |row| row.switch.into())),
    Column::key(Column::text("job", |row| row.job.into())),
    Column::integer("inputs", |row| row.inputs.into()),
    Column::integer("bytes", |row| row.bytes.into()),
    Column::number("load", |row| row.load.into()),
];

/// Returns the description of the table.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("sums", SUMS)
}

/// Builds the table, with a row per switch that sums up and per job that it does so for. Returns `None` without rows.
pub(super) fn sum_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("sums", SUMS);
    let mut any = false;
    for (number, job) in view.plan.cluster.jobs.iter().enumerate() {
        for (params, reducer) in job.reducers.iter().zip(reducers_of(view, number)) {
            let load = (view.window_ps() > 0.0).then(|| load_of(view, reducer));
            let (inputs, bytes) = (reducer.inputs() as u64, reducer.summed_bytes());
            table.add(SUMS, &SumRow { switch: switch_of(view, params), job: &job.name, inputs, bytes, load });
            any = true;
        }
    }
    any.then_some(table)
}

/// Names the full resource on the path of a class: an engine of a switch that sums up, a cable, or an engine of a
/// NIC.
pub(super) fn full_resource(view: &WorldView, class: &TrafficClass) -> Option<TrafficLimit> {
    let sums = busy_sums(view, class, MOST);
    sums.or_else(|| full_cable(view, class)).or_else(|| full_engine(view, class))
}

/// Names the busiest engine that sums up for a class, if it works at least a share `from` of the time and more than
/// any cable on the path of the class. If a cable is busier, its traffic is what keeps the engine busy.
pub(super) fn busy_sums(view: &WorldView, class: &TrafficClass, from: f64) -> Option<TrafficLimit> {
    let jobs = view.plan.cluster.jobs.iter();
    let all = jobs.flat_map(|job| job.reducers.iter().map(move |reducer| (job, reducer)));
    let own = all.filter(|(_, reducer)| class.hosts[0].contains(&reducer.host));
    let sums = worst_limit(own.filter_map(|(job, params)| {
        let place = switch_of(view, params).to_owned();
        // One engine may sum up for several jobs, so their times add up.
        let load: f64 = reducers_at(view, params.host).map(|reducer| load_of(view, reducer)).sum();
        let why =
            format!("the engine of {place} that sums up for {} works {:.0} % of the time", job.name, load * 100.0);
        (load >= from).then_some(TrafficLimit { limit: "switch sums", place, load: Some(load), why })
    }))?;
    let cables = ports_on_path(view, class)
        .filter_map(|(port, before)| Some(view.sent_gbps(&port, before) / view.rate_gbps(&port)?));
    let fullest = cables.fold(0.0, f64::max);
    (sums.load > Some(fullest)).then_some(sums)
}

/// Returns the share of the window that a reducer was busy, 0 to 1.
fn load_of(view: &WorldView, reducer: &Reducer) -> f64 {
    reducer.busy_ps(view.now) as f64 / view.window_ps()
}

/// Returns the name of the switch of a reducer.
fn switch_of<'a>(view: &'a WorldView<'a>, params: &ReducerParams) -> &'a str {
    &view.plan.cluster.switches[usize::from(params.switch)].name
}

/// Returns the reducers that share the engine at a host.
fn reducers_at<'a>(view: &'a WorldView<'a>, host: u16) -> impl Iterator<Item = &'a Reducer> {
    view.endpoints().filter(move |&(at, ..)| at == host).flat_map(|(_, _, endpoint)| endpoint.reducers())
}

/// Returns the reducers of a job, in their order.
fn reducers_of<'a>(view: &'a WorldView<'a>, job: usize) -> Vec<&'a Reducer> {
    let all = view.endpoints().flat_map(|(_, _, endpoint)| endpoint.reducers());
    let mut own: Vec<&Reducer> = all.filter(|reducer| reducer.number().0 as usize == job).collect();
    own.sort_unstable_by_key(|reducer| reducer.number());
    own
}
