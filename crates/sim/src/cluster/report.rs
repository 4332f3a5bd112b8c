//! From a run of a cluster to its tables and its summary.

use super::control;
use super::queues::PortTotals;
use super::read::{ends, rdma_ends, FlowTotals, Moment, Totals};
use super::tables::{self, CLASSES, FLOWS, HOSTS, LATENCIES, MEMORY, SERIES};
use crate::report::{hash, rows, Report};
use crate::table::{Cell, Table};
use crate::view;
use hostnet_config::{ClusterPlan, Plan};
use hostnet_kernel::{Simulation, Time};
use hostnet_measure::batch::estimate;
use hostnet_measure::Histogram;
use hostnet_model::ether::World;
use hostnet_model::fluid::FluidCounts;
use hostnet_model::memory::Counters;
use hostnet_model::nic::Nic;
use hostnet_model::os::{CoreTimes, Spent};
use hostnet_model::params::{Fidelity, ServerParams};
use hostnet_model::{Component, Machine};
use serde_json::{json, Value};

/// Percentiles of the table of latencies.
const PERCENTILES: [f64; 5] = [0.5, 0.9, 0.99, 0.999, 0.9999];

/// What a report is made of: a run as it stands, read only.
pub(super) struct View<'a> {
    pub(super) plan: &'a ClusterPlan,
    pub(super) servers: &'a [Option<ServerParams>],
    pub(super) simulation: &'a Simulation<World>,
    pub(super) before: &'a Totals,
    pub(super) ports_before: &'a [PortTotals],
    pub(super) batches: &'a [Totals],
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

    fn gb_per_s(&self, bytes: u64) -> f64 {
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
        all.extend([control, limits, self.series()]);
        let result_hash = hash(&summary, &all);
        Report { summary, tables: all, result_hash }
    }

    pub(super) fn class_name(&self, class: u8) -> &str {
        &self.plan.cluster.classes[usize::from(class)]
    }

    fn classes(&self, flows: &[FlowTotals]) -> Table {
        let mut table = Table::new("classes", CLASSES);
        let cluster = &self.plan.cluster;
        for (class, name) in cluster.classes.iter().enumerate() {
            let own = flows.iter().zip(&cluster.flows).filter(|(_, flow)| usize::from(flow.class) == class);
            let sum = own.fold(FlowTotals::default(), |sum, (totals, _)| sum.plus(totals));
            let goodput = self.gbps(sum.received_bytes.iter().sum());
            let mut row = vec![name.as_str().into(), goodput.into(), self.goodput_ci95(class).into()];
            row.extend(counts(&sum));
            table.push(row);
        }
        table
    }

    fn goodput_ci95(&self, class: usize) -> Option<f64> {
        let cluster = &self.plan.cluster;
        let mut last = self.before.received(cluster, class);
        let batch = |totals: &Totals| {
            let now = totals.received(cluster, class);
            (now - std::mem::replace(&mut last, now)) as f64
        };
        let bytes: Vec<f64> = self.batches.iter().map(batch).collect();
        let found = estimate(&bytes, view::CONFIDENCE_GROUPS);
        let batch_ps = self.window_ps() / self.batches.len().max(1) as f64;
        let half_width = found.half_width * 8000.0 / batch_ps;
        half_width.is_finite().then_some(half_width)
    }

    fn flows(&self, flows: &[FlowTotals]) -> Table {
        let mut table = Table::new("flows", FLOWS);
        let cluster = &self.plan.cluster;
        let mut completed = vec![None; flows.len()];
        for (flow, _, _, application) in self.simulation.worlds().flat_map(ends) {
            if let Some(at) = application.completed_at() {
                completed[flow as usize] = Some(at);
            }
        }
        for (flow, _, connection) in self.simulation.worlds().flat_map(rdma_ends) {
            if let Some(at) = connection.completed_at() {
                completed[flow as usize] = Some(at);
            }
        }
        for (index, (totals, flow)) in flows.iter().zip(&cluster.flows).enumerate() {
            let name = |host: u16| Cell::from(cluster.hosts[usize::from(host)].name.as_str());
            let fct = completed[index].map(|at: Time| (at.ps().saturating_sub(flow.start_ps)) as f64 / 1e6);
            let mut row = vec![
                (index as u64).into(),
                self.class_name(flow.class).into(),
                name(flow.from),
                name(flow.to),
                self.gbps(totals.received_bytes.iter().sum()).into(),
                totals.received_bytes[0].into(),
                totals.received_bytes[1].into(),
                fct.into(),
            ];
            row.extend(counts(totals));
            table.push(row);
        }
        table
    }

    fn latencies(&self) -> Table {
        let mut table = Table::new("latencies", LATENCIES);
        let cluster = &self.plan.cluster;
        for (class, name) in cluster.classes.iter().enumerate() {
            let mut latency = Histogram::default();
            for (flow, _, _, application) in self.simulation.worlds().flat_map(ends) {
                if usize::from(cluster.flows[flow as usize].class) == class {
                    latency.merge(application.latency());
                }
            }
            for (flow, _, connection) in self.simulation.worlds().flat_map(rdma_ends) {
                if let Some(own) =
                    connection.latency().filter(|_| usize::from(cluster.flows[flow as usize].class) == class)
                {
                    latency.merge(own);
                }
            }
            if latency.count() == 0 {
                continue;
            }
            let us = |ps: Option<f64>| Cell::from(ps.map(|ps| ps / 1e6));
            let mut row = vec![name.as_str().into(), latency.count().into(), us(latency.mean())];
            row.extend(PERCENTILES.map(|share| us(latency.quantile(share))));
            row.push(us(latency.quantile(1.0)));
            table.push(row);
        }
        table
    }

    /// The servers with their numbers as hosts, in the order of the partitions.
    pub(super) fn servers(&self) -> impl Iterator<Item = (usize, &Machine)> {
        let hosts = self.plan.cluster.hosts.iter().enumerate();
        let servers = hosts.filter(|(_, host)| matches!(host.kind, hostnet_model::params::HostKind::Server(_)));
        let machines = self.simulation.worlds().filter_map(|world| match world {
            World::Server(machine) => Some(&**machine),
            World::Fabric(_) => None,
        });
        servers.map(|(index, _)| index).zip(machines)
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

    fn hosts(&self, flows: &[FlowTotals]) -> Table {
        let mut table = Table::new("hosts", HOSTS);
        for (host, machine) in self.servers() {
            let params = &self.plan.cluster.hosts[host];
            let line_bytes = line_bytes(params.fidelity);
            let mut row = vec![Cell::from(params.name.as_str())];
            row.extend(self.iio(machine, line_bytes));
            row.extend(self.nic(machine, flows));
            row.extend(self.cores(machine));
            table.push(row);
        }
        table
    }

    /// Occupancy, latency and bandwidth of writes and reads of devices.
    fn iio(&self, machine: &Machine, line_bytes: u64) -> Vec<Cell> {
        if let Some(memory) = machine.fluid() {
            return self.fluid_iio(&memory.counts(self.now));
        }
        let Some(iio) = machine.components().iter().find_map(|part| match part {
            Component::Iio(iio) => Some(iio),
            _ => None,
        }) else {
            return vec![Cell::Empty; 6];
        };
        let lines_each = (line_bytes / 64) as f64;
        let books = [iio.write(), iio.read()].map(|domain| {
            let lines: u64 = domain.classes().iter().map(|usage| usage.residence().count()).sum();
            let residence: u128 = domain.classes().iter().map(|usage| usage.residence().sum()).sum();
            let occupancy = domain.area_ps() as f64 / self.window_ps() * lines_each;
            let latency_ns = (lines > 0).then(|| residence as f64 / lines as f64 / 1000.0);
            [Cell::from(occupancy), latency_ns.into(), self.gbps(lines * line_bytes).into()]
        });
        books.concat()
    }

    /// The same of a memory of rates.
    fn fluid_iio(&self, counts: &FluidCounts) -> Vec<Cell> {
        let books = [0, 1].map(|way| {
            let (lines, area) = (counts.lines[way], counts.area[way] as f64);
            let latency_ns = (lines > 0).then(|| area / lines as f64 / 1000.0);
            [Cell::from(area / self.window_ps()), latency_ns.into(), self.gbps(lines * 64).into()]
        });
        books.concat()
    }

    fn nic(&self, machine: &Machine, flows: &[FlowTotals]) -> Vec<Cell> {
        let Some(nic) = machine.components().iter().find_map(|part| match part {
            Component::Nic(nic) => Some(nic),
            _ => None,
        }) else {
            return vec![Cell::Empty; 9];
        };
        let sum = |pick: fn(&FlowTotals) -> u64| flows.iter().map(pick).sum::<u64>();
        // With one server the totals of the flows are those of its NIC; with several a NIC's own are told by the flows table.
        let only = self.servers().count() == 1;
        let of_flows = |pick| if only { Cell::from(sum(pick)) } else { Cell::Empty };
        let received = sum(|flow| flow.nic_received);
        let dropped = sum(FlowTotals::nic_dropped);
        let share =
            if only && received > 0 { Cell::from(100.0 * dropped as f64 / received as f64) } else { Cell::Empty };
        let counters = nic.counters();
        vec![
            of_flows(|flow| flow.nic_received),
            of_flows(FlowTotals::nic_dropped),
            share,
            counters.buffer.mean().into(),
            counters.buffer.max().into(),
            (counters.buffered_ps.quantile(0.99).map(|ps| ps / 1e6)).into(),
            counters.credit_wait.mean().into(),
            counters.descriptor_wait.mean().into(),
            counters.pauses_sent.into(),
        ]
    }

    /// Shares of time of the network cores, mean over those that have any work.
    fn cores(&self, machine: &Machine) -> Vec<Cell> {
        const KINDS: [Spent; 5] = [Spent::Softirq, Spent::Call, Spent::Copy, Spent::Stalled, Spent::Send];
        let times: Vec<&CoreTimes> = machine
            .components()
            .iter()
            .filter_map(|part| match part {
                Component::NetCore(core) => Some(core.times()),
                _ => None,
            })
            .filter(|times| (times.spent_ps(Spent::Idle, self.now) as f64) < self.window_ps())
            .collect();
        let share = |spent: Spent| {
            let ps: u64 = times.iter().map(|times| times.spent_ps(spent, self.now)).sum();
            Cell::from(ps as f64 / times.len() as f64 / self.window_ps())
        };
        KINDS.map(share).to_vec()
    }

    /// Memory traffic of every server by what causes it.
    fn memory(&self) -> Table {
        let mut table = Table::new("memory", MEMORY);
        for (host, machine) in self.servers() {
            let params = &self.plan.cluster.hosts[host];
            let Some(server) = &self.servers[host] else { continue };
            let line_bytes = line_bytes(params.fidelity);
            let counters: Vec<_> = machine
                .components()
                .iter()
                .filter_map(|part| match part {
                    Component::Channel(channel) => Some(channel.controller().counters(self.now)),
                    _ => None,
                })
                .collect();
            let rates = machine.fluid().map(|memory| memory.counts(self.now).bytes);
            for (class, workload) in server.workloads.iter().enumerate() {
                let lines = |pick: fn(&Counters) -> &[u64]| counters.iter().map(|of| pick(of)[class]).sum::<u64>();
                let [read, written] = match &rates {
                    Some(bytes) => bytes[class],
                    None => [lines(|of| &of.reads) * line_bytes, lines(|of| &of.writes) * line_bytes],
                };
                table.push(vec![
                    params.name.as_str().into(),
                    workload.name.as_str().into(),
                    self.gb_per_s(read).into(),
                    self.gb_per_s(written).into(),
                    self.gb_per_s(read + written).into(),
                ]);
            }
        }
        table
    }

    /// The domains of every server, with the name of the host before the columns of a single server's.
    fn domains(&self) -> Table {
        self.of_hosts("domains", &tables::HOST_DOMAINS, |view| view.domains())
    }

    fn channels(&self) -> Table {
        self.of_hosts("channels", &tables::HOST_CHANNELS, |view| view.channels())
    }

    fn of_hosts(
        &self,
        name: &'static str,
        columns: &'static [(&'static str, crate::table::Kind)],
        read: impl Fn(&view::View) -> Table,
    ) -> Table {
        let mut table = Table::new(name, columns);
        for (host, machine) in self.servers() {
            let own = self.with_server(host, machine, |view| read(view).rows).unwrap_or_default();
            for row in own {
                let name = Cell::from(self.plan.cluster.hosts[host].name.as_str());
                table.push(std::iter::once(name).chain(row).collect());
            }
        }
        table
    }

    fn series(&self) -> Table {
        let mut table = Table::new("series", SERIES);
        let hosts: Vec<usize> = self.servers().map(|(host, _)| host).collect();
        for pair in self.series.windows(2) {
            let [last, moment] = pair else { continue };
            let span_ps = moment.at.since(last.at) as f64;
            for ((now, before), &host) in moment.hosts.iter().zip(&last.hosts).zip(&hosts) {
                let params = &self.plan.cluster.hosts[host];
                let lines_each = (line_bytes(params.fidelity) / 64) as f64;
                let lines = (now.inserted_lines - before.inserted_lines) as f64 * lines_each;
                let [occupancy, bandwidth] =
                    now.control.map_or([None; 2], |(_, signals)| control::smoothed(&signals).map(Some));
                table.push(vec![
                    (moment.at.since(self.window_start) as f64 / 1e6).into(),
                    params.name.as_str().into(),
                    ((now.occupancy_area - before.occupancy_area) as f64 * lines_each / span_ps).into(),
                    (lines * 64.0 * 8000.0 / span_ps).into(),
                    now.buffer_bytes.into(),
                    (now.received - before.received).into(),
                    (now.dropped - before.dropped).into(),
                    ((now.read_bytes - before.read_bytes) as f64 * 8000.0 / span_ps).into(),
                    now.control.map_or(Cell::Empty, |(level, _)| u64::from(level).into()),
                    occupancy.into(),
                    bandwidth.into(),
                ]);
            }
        }
        table
    }
}

/// The NIC, if a component is one.
pub(super) fn nic_of(component: &Component) -> Option<&Nic> {
    match component {
        Component::Nic(nic) => Some(nic),
        _ => None,
    }
}

/// Bytes that a line of a server stands for.
pub(super) fn line_bytes(fidelity: Fidelity) -> u64 {
    match fidelity {
        Fidelity::Line | Fidelity::Fluid => 64,
        Fidelity::Burst => 64 << super::build::BURST_SHIFT,
    }
}

/// The columns that classes and flows have in common.
fn counts(totals: &FlowTotals) -> Vec<Cell> {
    let share = |part: u64, whole: u64| (whole > 0).then(|| 100.0 * part as f64 / whole as f64);
    vec![
        totals.sent_packets.into(),
        totals.retransmitted_packets.into(),
        totals.nic_received.into(),
        totals.nic_full.into(),
        totals.nic_ring.into(),
        totals.nic_other.into(),
        share(totals.nic_dropped(), totals.nic_received).into(),
        totals.fabric_dropped.into(),
        totals.marked_segments.into(),
        totals.marked_by_host.into(),
        totals.timeouts.into(),
        totals.probes.into(),
        totals.host_sent.into(),
        totals.host_received.into(),
        totals.out_of_order.into(),
        totals.duplicates.into(),
        totals.notifications.into(),
    ]
}
