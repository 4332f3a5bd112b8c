//! Switches that sum up vectors of jobs: what they did, and whether the engine of one is full.

use super::limits::{worst, Class, Limit};
use super::working::MOST;
use crate::report::table::{Column, Rows, Table, TableInfo};
use crate::report::view::WorldView;
use hostnet_model::flow::Reducer;
use hostnet_model::params::ReducerParams;
use std::collections::BTreeSet;

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

impl WorldView<'_> {
    /// A row for each switch that sums up and each job that it does so for; no table where there are none.
    pub(super) fn sums(&self) -> Option<Table> {
        let mut table = Table::of("sums", SUMS);
        let mut any = false;
        for (number, job) in self.plan.cluster.jobs.iter().enumerate() {
            for (params, reducer) in job.reducers.iter().zip(self.reducers_of(number)) {
                let load = (self.window_ps() > 0.0).then(|| self.load_of(reducer));
                let (inputs, bytes) = (reducer.inputs() as u64, reducer.summed_bytes());
                table.add(SUMS, &Sum { switch: self.switch_of(params), job: &job.name, inputs, bytes, load });
                any = true;
            }
        }
        any.then_some(table)
    }

    /// What is full of the way of a class: a cable, an engine that sums up, or one of a NIC.
    pub(super) fn full_way(&self, class: &Class) -> Option<Limit> {
        let sums = self.busy_sums(class, MOST);
        sums.or_else(|| self.full_cable(class)).or_else(|| self.full_engine(class))
    }

    /// The engine that works the most of those that sum up for a class, from some share of the time on, if it works
    /// more than any cable on its way: else what comes by that keeps it busy.
    pub(super) fn busy_sums(&self, class: &Class, from: f64) -> Option<Limit> {
        let jobs = self.plan.cluster.jobs.iter();
        let all = jobs.flat_map(|job| job.reducers.iter().map(move |reducer| (job, reducer)));
        let own = all.filter(|(_, reducer)| class.hosts[0].contains(&reducer.host));
        let sums = worst(own.filter_map(|(job, params)| {
            let place = self.switch_of(params).to_owned();
            let load: f64 = self.reducers_at(params.host).map(|reducer| self.load_of(reducer)).sum();
            let why =
                format!("the engine of {place} that sums up for {} works {:.0} % of the time", job.name, load * 100.0);
            (load >= from).then_some(Limit { limit: "switch sums", place, load: Some(load), why })
        }))?;
        let cables = self
            .ports_of(class)
            .filter_map(|(port, before)| Some(self.sent_gbps(&port, before) / self.rate_gbps(&port)?));
        let fullest = cables.fold(0.0, f64::max);
        (sums.load > Some(fullest)).then_some(sums)
    }

    /// The hosts that stand for engines of switches.
    pub(super) fn engines_of_switches(&self) -> BTreeSet<u16> {
        self.plan.cluster.jobs.iter().flat_map(|job| &job.reducers).map(|reducer| reducer.host).collect()
    }

    fn load_of(&self, reducer: &Reducer) -> f64 {
        reducer.busy_ps(self.now) as f64 / self.window_ps()
    }

    fn switch_of(&self, params: &ReducerParams) -> &str {
        &self.plan.cluster.switches[usize::from(params.switch)].name
    }

    /// The reducers that the engine at a host is for.
    fn reducers_at(&self, host: u16) -> impl Iterator<Item = &Reducer> {
        self.endpoints().filter(move |&(at, ..)| at == host).flat_map(|(_, _, endpoint)| endpoint.reducers())
    }

    /// The reducers of a job, in their order.
    fn reducers_of(&self, job: usize) -> Vec<&Reducer> {
        let all = self.endpoints().flat_map(|(_, _, endpoint)| endpoint.reducers());
        let mut own: Vec<&Reducer> = all.filter(|reducer| reducer.number().0 as usize == job).collect();
        own.sort_unstable_by_key(|reducer| reducer.number());
        own
    }
}
