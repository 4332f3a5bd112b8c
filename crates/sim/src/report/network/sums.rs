//! Switches that sum up vectors of jobs: what they did, and whether the engine of one is full.

use super::carried::full_cable;
use super::class::{ports_of, Class};
use super::engines::full_engine;
use super::limit::{worst, Limit, MOST};
use crate::report::table::{Column, Rows, Table, TableInfo};
use crate::report::view::WorldView;
use hostnet_model::flow::Reducer;
use hostnet_model::params::ReducerParams;

/// What a switch did for a job.
struct Sum<'a> {
    switch: &'a str,
    job: &'a str,
    inputs: u64,
    bytes: u64,
    load: Option<f64>,
}

/// The rows of the table of sums.
struct Sums;

impl Rows for Sums {
    type Row<'a> = Sum<'a>;
}

const SUMS: &[Column<Sums>] = &[
    Column::key(Column::text("switch", |row| row.switch.into())),
    Column::key(Column::text("job", |row| row.job.into())),
    Column::integer("inputs", |row| row.inputs.into()),
    Column::integer("bytes", |row| row.bytes.into()),
    Column::number("load", |row| row.load.into()),
];

/// Returns the roles of the table's columns.
pub(super) fn table_info() -> TableInfo {
    TableInfo::of("sums", SUMS)
}

/// A row for each switch that sums up and each job that it does so for; no table where there are none.
pub(super) fn sum_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("sums", SUMS);
    let mut any = false;
    for (number, job) in view.plan.cluster.jobs.iter().enumerate() {
        for (params, reducer) in job.reducers.iter().zip(reducers_of(view, number)) {
            let load = (view.window_ps() > 0.0).then(|| load_of(view, reducer));
            let (inputs, bytes) = (reducer.inputs() as u64, reducer.summed_bytes());
            table.add(SUMS, &Sum { switch: switch_of(view, params), job: &job.name, inputs, bytes, load });
            any = true;
        }
    }
    any.then_some(table)
}

/// What is full of the way of a class: a cable, an engine that sums up, or one of a NIC.
pub(super) fn full_way(view: &WorldView, class: &Class) -> Option<Limit> {
    let sums = busy_sums(view, class, MOST);
    sums.or_else(|| full_cable(view, class)).or_else(|| full_engine(view, class))
}

/// The engine that works the most of those that sum up for a class, from some share of the time on, if it works
/// more than any cable on its way: else what comes by that keeps it busy.
pub(super) fn busy_sums(view: &WorldView, class: &Class, from: f64) -> Option<Limit> {
    let jobs = view.plan.cluster.jobs.iter();
    let all = jobs.flat_map(|job| job.reducers.iter().map(move |reducer| (job, reducer)));
    let own = all.filter(|(_, reducer)| class.hosts[0].contains(&reducer.host));
    let sums = worst(own.filter_map(|(job, params)| {
        let place = switch_of(view, params).to_owned();
        let load: f64 = reducers_at(view, params.host).map(|reducer| load_of(view, reducer)).sum();
        let why =
            format!("the engine of {place} that sums up for {} works {:.0} % of the time", job.name, load * 100.0);
        (load >= from).then_some(Limit { limit: "switch sums", place, load: Some(load), why })
    }))?;
    let cables =
        ports_of(view, class).filter_map(|(port, before)| Some(view.sent_gbps(&port, before) / view.rate_gbps(&port)?));
    let fullest = cables.fold(0.0, f64::max);
    (sums.load > Some(fullest)).then_some(sums)
}

fn load_of(view: &WorldView, reducer: &Reducer) -> f64 {
    reducer.busy_ps(view.now) as f64 / view.window_ps()
}

fn switch_of<'a>(view: &'a WorldView<'a>, params: &ReducerParams) -> &'a str {
    &view.plan.cluster.switches[usize::from(params.switch)].name
}

/// The reducers that the engine at a host is for.
fn reducers_at<'a>(view: &'a WorldView<'a>, host: u16) -> impl Iterator<Item = &'a Reducer> {
    view.endpoints().filter(move |&(at, ..)| at == host).flat_map(|(_, _, endpoint)| endpoint.reducers())
}

/// The reducers of a job, in their order.
fn reducers_of<'a>(view: &'a WorldView<'a>, job: usize) -> Vec<&'a Reducer> {
    let all = view.endpoints().flat_map(|(_, _, endpoint)| endpoint.reducers());
    let mut own: Vec<&Reducer> = all.filter(|reducer| reducer.number().0 as usize == job).collect();
    own.sort_unstable_by_key(|reducer| reducer.number());
    own
}
