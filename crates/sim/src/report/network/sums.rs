//! Switches that sum up vectors of jobs: what they did, and whether the engine of one is full.

use super::limits::{worst, Class, Limit};
use super::working::MOST;
use crate::report::table::{Column, Rows, Table};
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
    Column::text("switch", |row| row.switch.into()),
    Column::text("job", |row| row.job.into()),
    Column::integer("inputs", |row| row.inputs.into()),
    Column::integer("bytes", |row| row.bytes.into()),
    Column::number("load", |row| row.load.into()),
];

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

    /// What is full of the way of a class: of cables and of engines that sum up what is the fullest, or an engine of a
    /// NIC.
    pub(super) fn full_way(&self, class: &Class) -> Option<Limit> {
        let sums = self.busiest_sums(class).filter(|limit| limit.load >= Some(MOST));
        let cable = self.full_cable(class);
        // A cable that is as full as the engine behind it waits for that.
        let full = match sums {
            Some(sums) if cable.as_ref().is_none_or(|cable| cable.load <= sums.load) => Some(sums),
            _ => cable,
        };
        full.or_else(|| self.full_engine(class))
    }

    /// The engine that works the most of those that sum up for a class.
    pub(super) fn busiest_sums(&self, class: &Class) -> Option<Limit> {
        let jobs: Vec<(usize, &ReducerParams)> = self
            .plan
            .cluster
            .jobs
            .iter()
            .enumerate()
            .flat_map(|(number, job)| job.reducers.iter().map(move |reducer| (number, reducer)))
            .filter(|(_, reducer)| class.hosts[0].contains(&reducer.host))
            .collect();
        worst(jobs.iter().filter_map(|&(number, params)| {
            let place = self.switch_of(params).to_owned();
            let name = self.plan.cluster.jobs[number].name.as_str();
            let load: f64 = self.reducers_at(params.host).map(|reducer| self.load_of(reducer)).sum();
            let why = format!("the engine of {place} that sums up for {name} works {:.0} % of the time", load * 100.0);
            Some(Limit { limit: "switch sums", place, load: Some(load), why })
        }))
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
