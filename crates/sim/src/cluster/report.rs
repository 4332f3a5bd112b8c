//! From a run of a cluster to its tables and its summary.

mod flows;
mod hosts;

use super::ends::machines;
use super::moment::Moment;
use super::queues::PortTotals;
use super::read::{FlowTotals, Received, Totals};
use crate::report::caches::CACHES;
use crate::report::channels::CHANNELS;
use crate::report::domains::DOMAINS;
use crate::report::{hash, rows, Report};
use crate::table::{headings, Cell, Column, Kind, Rows, Table};
use crate::view;
use hostnet_config::{ClusterPlan, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_model::ether::World;
use hostnet_model::params::{Fidelity, HostKind, ServerParams};
use hostnet_model::Machine;
use serde_json::{json, Value};

/// What a report is made of: a run as it stands, read only.
pub(super) struct View<'a> {
    pub(super) plan: &'a ClusterPlan,
    pub(super) servers: &'a [Option<ServerParams>],
    pub(super) simulation: &'a Simulation<World>,
    pub(super) before: &'a Totals,
    pub(super) ports_before: &'a [PortTotals],
    pub(super) batches: &'a [Received],
    pub(super) series: &'a [Moment],
    pub(super) window_start: Time,
    pub(super) now: Time,
    pub(super) complete: bool,
}

impl View<'_> {
    pub(super) fn window_ps(&self) -> f64 {
        self.now.since(self.window_start) as f64
    }

    /// Bytes in the window as Gbit/s.
    pub(super) fn gbps(&self, bytes: u64) -> f64 {
        bytes as f64 * 8000.0 / self.window_ps()
    }

    pub(super) fn gb_per_s(&self, bytes: u64) -> f64 {
        bytes as f64 * 1000.0 / self.window_ps()
    }

    pub(super) fn report(&self) -> Report {
        let total = Totals::read(self.simulation, &self.plan.cluster);
        let flows: Vec<FlowTotals> =
            total.flows.iter().zip(&self.before.flows).map(|(now, before)| now.since(before)).collect();
        let classes = self.classes(&flows);
        let hosts = self.hosts(&flows);
        let queues = self.queues();
        let latencies = self.latencies();
        let memory = self.memory();
        let control = self.control();
        let limits = self.limits(&flows);
        let summary = json!({
            "format": 1,
            "engine": "cluster",
            "name": self.plan.name,
            "config_hash": self.plan.hash,
            "seed": self.plan.run.seed,
            "complete": self.complete,
            "warm_up_ns": self.window_start.ns(),
            "window_ns": self.window_ps() / 1000.0,
            "events": self.simulation.progress().events,
            "classes": rows(&classes),
            "limits": rows(&limits),
            "latencies": rows(&latencies),
            "hosts": rows(&hosts),
            "memory": rows(&memory),
            "queues": rows(&queues),
            "control": rows(&control),
            "ignored": self.plan.ignored,
            "unvalidated": self.plan.unvalidated,
        });
        let mut all =
            vec![classes, self.flows(&flows), latencies, hosts, memory, queues, self.domains(), self.channels()];
        all.extend([self.caches(), control, limits, self.series()]);
        let result_hash = hash::of_results(&summary, &all);
        Report { summary, tables: all, result_hash }
    }

    pub(super) fn class_name(&self, class: u8) -> &str {
        &self.plan.cluster.classes[usize::from(class)]
    }

    /// The servers with their numbers as hosts, in the order of the partitions.
    pub(super) fn servers(&self) -> impl Iterator<Item = (usize, &Machine)> {
        let hosts = self.plan.cluster.hosts.iter().enumerate();
        let servers = hosts.filter(|(_, host)| matches!(host.kind, HostKind::Server(_)));
        servers.map(|(index, _)| index).zip(machines(self.simulation))
    }

    /// A server as a run of its own would show it, for the tables that both have.
    fn with_server<T>(&self, host: usize, machine: &Machine, read: impl FnOnce(&view::View) -> T) -> Option<T> {
        let params = &self.plan.cluster.hosts[host];
        let plan = Plan {
            name: params.name.clone(),
            server: self.servers[host].clone()?,
            run: self.plan.run,
            hash: String::new(),
            effective: Value::Null,
            ignored: Vec::new(),
            unvalidated: None,
            given: Vec::new(),
        };
        let view = view::View {
            plan: &plan,
            machine,
            batches: &[],
            series: &[],
            window_start: self.window_start,
            now: self.now,
            complete: self.complete,
            events: 0,
            line_bytes: line_bytes(params.fidelity),
        };
        Some(read(&view))
    }

    /// The domains of every server, with the name of the host before the columns of a single server's.
    fn domains(&self) -> Table {
        self.of_hosts("domains", DOMAINS, |view| Some(view.domains()))
    }

    fn channels(&self) -> Table {
        self.of_hosts("channels", CHANNELS, |view| Some(view.channels()))
    }

    /// What the caches of every server that has some counted, in the same way.
    fn caches(&self) -> Table {
        self.of_hosts("caches", CACHES, |view| view.caches_now())
    }

    fn of_hosts<T: Rows>(
        &self,
        name: &'static str,
        columns: &[Column<T>],
        read: impl Fn(&view::View) -> Option<Table>,
    ) -> Table {
        let mut table = Table::new(name, std::iter::once(("host", Kind::Text)).chain(headings(columns)));
        for (host, machine) in self.servers() {
            let own =
                self.with_server(host, machine, |view| read(view)).flatten().map_or_else(Vec::new, |own| own.rows);
            for row in own {
                let name = Cell::from(self.plan.cluster.hosts[host].name.as_str());
                table.push(std::iter::once(name).chain(row).collect());
            }
        }
        table
    }
}

/// Bytes that a line of a server stands for.
pub(super) fn line_bytes(fidelity: Fidelity) -> u64 {
    match fidelity {
        Fidelity::Line | Fidelity::Fluid => 64,
        Fidelity::Burst => 64 << super::build::BURST_SHIFT,
    }
}
