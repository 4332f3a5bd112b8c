//! Builds the result tables and the summary of a cluster.

mod cable_check;
mod class;
mod completions;
mod compute_bottleneck;
mod control;
mod core_time;
mod cores;
mod critical_path;
mod dimm;
mod energy;
mod engines;
mod fair_share;
mod faults;
mod flow_paths;
mod flows;
mod forwarding_bottleneck;
mod full_cables;
mod functions;
mod hosts;
mod interfaces;
mod job_bottleneck;
mod jobs;
mod latencies;
pub(crate) mod limit;
mod limits;
mod load;
mod pcie;
mod pool;
mod power;
mod power_series;
mod queues;
mod rank_bottleneck;
mod reverse_path;
mod rings;
mod segment;
mod segment_bottleneck;
mod senders;
mod server_tables;
mod services;
mod stages;
mod sums;
mod switches;
mod timeline;

pub(super) use control::rule_name;
pub(super) use limit::ClassLimit;

use crate::forward::{self, RunLength};
use crate::read;
use crate::read::ends::{machines, network};
use crate::read::flows::FlowTotals;
use crate::report::idle::network::find_network_idle_keys;
use crate::report::idle::{ClusterIdleKeys, ClusterUse, IdleKeys};
use crate::report::table::{Table, TableInfo};
use crate::report::view::{line_bytes, ServerView, WorldView};
use crate::report::{build_server_results, rows, ServerResults};
use completions::completion_table;
use control::control_table;
use dimm::dimm_table;
use energy::{efficiency_table, metered_switches};
use engines::engine_table;
use flows::{class_table, completion_times, flow_table};
use functions::function_table;
use hostnet_model::ether::Endpoint;
use hostnet_model::flow::Rank;
use hostnet_model::params::{HostKind, HostParams};
use hostnet_model::Machine;
use hosts::{host_table, memory_table, series_table};
use interfaces::interface_table;
use job_bottleneck::job_paths;
use jobs::job_tables;
use latencies::{class_latencies, histogram_table, latency_table};
use limits::{class_limits, limit_table};
use pool::pool_table;
use power::power_tables;
use power_series::power_series_table;
use queues::{drop_table, queue_table};
use serde_json::{json, Map, Value};
use server_tables::ServerTables;
use services::service_table;
use stages::stage_table;
use std::collections::BTreeSet;
use sums::sum_table;
use switches::switch_table;
use timeline::timeline_tables;

impl WorldView<'_> {
    /// Returns the length of the measurement window, in ps.
    pub(crate) fn window_ps(&self) -> f64 {
        self.now.since(self.window_start) as f64
    }

    /// Returns the share of the window, 0 to 1, that a span of time in ps takes.
    pub(crate) fn share_of_window(&self, (from, to): (u64, u64)) -> f64 {
        // A span may begin before the window or end after it.
        let [from, to] = [from, to].map(|at| at.clamp(self.window_start.ps(), self.now.ps()));
        (to - from) as f64 / self.window_ps()
    }

    /// Returns the throughput of `bytes` bytes in the window, in Gbit/s.
    pub(crate) fn gbps(&self, bytes: u64) -> f64 {
        // 1 B/ps is 8000 Gbit/s.
        bytes as f64 * 8000.0 / self.window_ps()
    }

    /// Returns the throughput of `bytes` bytes in the window, in GB/s.
    pub(crate) fn gb_per_s(&self, bytes: u64) -> f64 {
        bytes as f64 * 1000.0 / self.window_ps()
    }

    /// Builds the summary and the tables of the run.
    pub(crate) fn build_results(&self) -> (Value, Vec<Table>) {
        let mut summary = self.summary_heading();
        let (tables, summary_part) = match self.plan.server() {
            None => {
                let flows = self.flow_totals();
                // Keys of a cluster are judged over all of its hosts, so they are added after the tables.
                self.with_idle_keys(&flows, self.build_host_tables(&flows))
            }
            Some(_) => self.with_power(build_server_tables(self.results(&[]))),
        };
        if let (Value::Object(summary), Value::Object(summary_part)) = (&mut summary, summary_part) {
            summary.extend(summary_part);
        }
        (summary, tables)
    }

    /// Returns the results of each server with its number as a host. `limits` are those of the traffic classes.
    fn results(&self, limits: &[ClassLimit]) -> Vec<(usize, ServerResults)> {
        self.server_views(limits).map(|(host, view)| (host, build_server_results(&view))).collect()
    }

    /// Adds the idle keys of all hosts and of the network to the summary of a cluster.
    fn with_idle_keys(
        &self,
        flows: &[FlowTotals],
        (tables, mut summary_part): (Vec<Table>, Value),
    ) -> (Vec<Table>, Value) {
        let mut keys = ClusterIdleKeys::default();
        self.server_views(&[]).for_each(|(_, view)| keys.add(&view));
        let IdleKeys { mut no_effect, mut never_met } = keys.all();
        let network_keys = find_network_idle_keys(self, flows);
        no_effect.extend(network_keys.no_effect);
        never_met.extend(network_keys.never_met);
        if let Some(entries) = summary_part.as_object_mut() {
            entries.extend(
                [("no_effect", no_effect), ("never_met", never_met)].map(|(key, paths)| (key.to_owned(), json!(paths))),
            );
        }
        (tables, summary_part)
    }

    /// Adds the tables of power management to those of a single server and to its summary.
    fn with_power(&self, (mut tables, mut summary_part): (Vec<Table>, Value)) -> (Vec<Table>, Value) {
        for table in power_tables(self) {
            if let Some(entries) = summary_part.as_object_mut() {
                entries.insert(table.name.to_owned(), rows(&table));
            }
            tables.push(table);
        }
        (tables, summary_part)
    }

    /// Returns the entries of the summary that describe the run.
    fn summary_heading(&self) -> Value {
        let mut heading = json!({
            "format": 1,
            "engine": if self.plan.server().is_some() { "run" } else { "cluster" },
            "name": self.plan.name,
            "config_hash": self.plan.hash,
            "seed": self.plan.run.seed,
            "complete": self.complete,
            "warm_up_ns": self.window_start.ns(),
            "window_ns": self.window_ps() / 1000.0,
            "events": self.simulation.progress().events,
            "ignored": self.plan.ignored,
            "unvalidated": self.plan.unvalidated,
        });
        // A run that was stopped says nothing about what it would have skipped.
        let length = RunLength {
            batches: self.batches,
            skips: &self.skips.skips,
            refusal: &self.skips.refusal,
            window_ps: self.window_ps(),
            now_ps: self.now.ps(),
        };
        let forward = forward::outcome(self.plan, &length).filter(|_| self.complete);
        if let (Some(heading), Some(forward)) = (heading.as_object_mut(), forward) {
            heading.insert("forward".to_owned(), forward);
        }
        heading
    }

    /// Returns the totals of each flow over the window.
    fn flow_totals(&self) -> Vec<FlowTotals> {
        self.flows.flows.iter().zip(&self.before.flows).map(|(now, before)| now.since(before)).collect()
    }

    /// Builds the tables of hosts on a network and their part of the summary.
    fn build_host_tables(&self, flows: &[FlowTotals]) -> (Vec<Table>, Value) {
        let classes = class_table(self, flows);
        let hosts = host_table(self, flows);
        let queues = queue_table(self);
        let of_requests = class_latencies(self);
        let latencies = latency_table(&of_requests);
        let memory = memory_table(self);
        let control = control_table(self);
        let completed = completion_times(self);
        let paths = job_paths(self);
        let of_classes = class_limits(self, flows, &completed, &paths);
        let limits = limit_table(&of_classes);
        let mut server_tables = ServerTables::new();
        let mut summary_part = Map::new();
        for (host, results) in self.results(&of_classes) {
            let name = &self.plan.cluster.hosts[host].name;
            summary_part.insert(name.clone(), server_tables.add(name, results));
        }
        for (name, energy, all) in metered_switches(self) {
            server_tables.add_switch(name, energy, all);
        }
        let functions = function_table(self);
        let completions = completion_table(self, &completed);
        let always = [&classes, &limits, &latencies, &hosts, &memory, &queues, &control];
        let mut summary = Map::from_iter(always.map(|table| (table.name.to_owned(), rows(table))));
        summary.insert("servers".to_owned(), Value::Object(summary_part));
        let of_devices = [
            drop_table(self),
            dimm_table(self),
            interface_table(self),
            switch_table(self),
            pool_table(self),
            engine_table(self),
            sum_table(self),
        ];
        let of_flows = [functions, completions, service_table(self), stage_table(self)];
        let mut sometimes: Vec<Table> = of_flows.into_iter().chain(of_devices).flatten().collect();
        sometimes.extend(job_tables(self, &paths));
        sometimes.extend(power_tables(self));
        summary.extend(sometimes.iter().map(|table| (table.name.to_owned(), rows(table))));
        let mut all = vec![classes, flow_table(self, flows, &completed), latencies, hosts, memory, queues];
        let ServerTables { workloads, domains, channels, caches, series, energy, consumed } = server_tables;
        all.extend([workloads, domains, channels, caches, control, limits, series_table(self), series]);
        all.extend(sometimes);
        all.extend(power_series_table(self));
        all.extend(timeline_tables(self, &paths));
        all.extend(histogram_table(&of_requests));
        if let Some(attojoules) = consumed {
            let efficiency = efficiency_table(self, flows, attojoules);
            let metered = [("energy", &energy), ("efficiency", &efficiency)];
            summary.extend(metered.map(|(key, table)| (key.to_owned(), rows(table))));
            all.extend([energy, efficiency]);
        }
        (all, Value::Object(summary))
    }

    /// Returns the name of a traffic class.
    pub(crate) fn class_name(&self, class: u8) -> &str {
        &self.plan.cluster.classes[usize::from(class)]
    }

    /// Returns the servers with their numbers as hosts, in the order of the partitions.
    pub(crate) fn servers(&self) -> impl Iterator<Item = (usize, &Machine)> {
        let hosts = self.plan.cluster.hosts.iter().enumerate();
        let servers = hosts.filter(|(_, host)| matches!(host.kind, HostKind::Server(_)));
        servers.map(|(index, _)| index).zip(machines(self.simulation).map(|(_, machine)| machine))
    }

    /// Returns the endpoints with their numbers as hosts.
    pub(super) fn endpoints(&self) -> impl Iterator<Item = (u16, &HostParams, &Endpoint)> {
        let hosts = (0..).zip(&self.plan.cluster.hosts);
        let hosts = hosts.filter(|(_, host)| matches!(host.kind, HostKind::Endpoint(_)));
        let endpoints: Vec<&Endpoint> = network(self.simulation).endpoints().map(|(_, endpoint)| endpoint).collect();
        hosts.zip(endpoints).map(|((number, host), endpoint)| (number, host, endpoint))
    }

    /// Returns the hosts that model the summing engines of switches.
    pub(super) fn engines_of_switches(&self) -> BTreeSet<u16> {
        self.plan.cluster.jobs.iter().flat_map(|job| &job.reducers).map(|reducer| reducer.host).collect()
    }

    /// Returns the ranks of a job, in their order.
    pub(super) fn ranks_of(&self, job: usize) -> Vec<&Rank> {
        let at_endpoints = self.endpoints().flat_map(|(_, _, endpoint)| endpoint.ranks());
        let ranks = at_endpoints.chain(self.servers().flat_map(|(_, machine)| read::ranks(machine)));
        let mut own: Vec<&Rank> = ranks.filter(|rank| rank.number().0 as usize == job).collect();
        // Endpoints come before servers here, but ranks of a job may be on both.
        own.sort_unstable_by_key(|rank| rank.number());
        own
    }

    /// Returns a view of each server as if it had run alone, with its number as a host.
    fn server_views<'a>(&'a self, limits: &'a [ClassLimit<'a>]) -> impl Iterator<Item = (usize, ServerView<'a>)> {
        self.servers().enumerate().filter_map(move |(number, (host, machine))| {
            let server = self.servers[host].as_ref()?;
            let view = ServerView {
                name: &self.plan.cluster.hosts[host].name,
                limits,
                server,
                line_server: self.undivided[host].as_ref().unwrap_or(server),
                given: self.plan.given_of(&self.plan.cluster.hosts[host].name),
                cluster_use: ClusterUse::of(&self.plan.cluster, host),
                machine,
                total: self.samples.get(number)?,
                batches: self.batches.of_server(number),
                series: self.series.of_server(number),
                window_start: self.window_start,
                now: self.now,
                line_bytes: line_bytes(self.plan.cluster.hosts[host].fidelity),
            };
            Some((host, view))
        })
    }
}

/// Lists the tables of traffic.
pub(super) fn table_info_of_traffic() -> Vec<TableInfo> {
    flows::table_info().into_iter().chain(latencies::table_info()).collect()
}

/// Lists the other tables of hosts on a network.
pub(super) fn table_info() -> Vec<TableInfo> {
    let [hosts, memory] = hosts::table_info();
    let mut all = jobs::table_info().to_vec();
    all.extend(timeline::table_info());
    all.extend([services::table_info(), completions::table_info(), job_bottleneck::table_info(), stages::table_info()]);
    all.extend([hosts, control::table_info(), memory]);
    all.extend(queues::table_info());
    all.push(switches::table_info());
    all.extend(power::table_info());
    all.extend([functions::table_info(), dimm::table_info(), interfaces::table_info(), pool::table_info()]);
    all.extend([engines::table_info(), sums::table_info(), limits::table_info()]);
    all
}

/// Builds the tables of a server without a network and its part of the summary.
fn build_server_tables(servers: Vec<(usize, ServerResults)>) -> (Vec<Table>, Value) {
    let mut all = Vec::new();
    let mut summary_part = Value::Null;
    for (_, results) in servers {
        let ServerResults { workloads, domains, channels, caches, upi, mesh, tiering, metered, series, summary } =
            results;
        let mesh = mesh.into_iter().flat_map(|mesh| [mesh.ports, mesh.ways]);
        let metered = metered.into_iter().flat_map(|metered| [metered.energy, metered.efficiency]);
        all.extend(
            [workloads, domains, channels, series]
                .into_iter()
                .chain(caches)
                .chain(upi)
                .chain(mesh)
                .chain(tiering)
                .chain(metered),
        );
        summary_part = summary;
    }
    (all, summary_part)
}
