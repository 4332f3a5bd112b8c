//! What servers did: the tables of hosts, memory and the time series.

use super::{line_bytes, View};
use crate::cluster::control;
use crate::cluster::read::FlowTotals;
use crate::cluster::tables::{HOSTS, MEMORY, SERIES};
use crate::table::{Cell, Table};
use hostnet_model::fluid::FluidCounts;
use hostnet_model::iio::Iio;
use hostnet_model::memory::{Channel, Counters};
use hostnet_model::nic::Nic;
use hostnet_model::os::{CoreTimes, NetCore, Spent};
use hostnet_model::Machine;

impl View<'_> {
    pub(super) fn hosts(&self, flows: &[FlowTotals]) -> Table {
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
        let Some(iio) = machine.first::<Iio>() else { return vec![Cell::Empty; 6] };
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
        let Some(nic) = machine.first::<Nic>() else { return vec![Cell::Empty; 9] };
        let sum = |pick: fn(&FlowTotals) -> u64| flows.iter().map(pick).sum::<u64>();
        // With one server the totals of the flows are those of its NIC; with several a NIC's own are told by the flows
        // table.
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
            .each()
            .map(NetCore::times)
            .filter(|times| (times.spent_ps(Spent::Idle, self.now) as f64) < self.window_ps())
            .collect();
        let share = |spent: Spent| {
            let ps: u64 = times.iter().map(|times| times.spent_ps(spent, self.now)).sum();
            Cell::from(ps as f64 / times.len() as f64 / self.window_ps())
        };
        KINDS.map(share).to_vec()
    }

    /// Memory traffic of every server by what causes it.
    pub(super) fn memory(&self) -> Table {
        let mut table = Table::new("memory", MEMORY);
        for (host, machine) in self.servers() {
            let params = &self.plan.cluster.hosts[host];
            let Some(server) = &self.servers[host] else { continue };
            let line_bytes = line_bytes(params.fidelity);
            let channels = machine.each::<Channel>();
            let counters: Vec<_> = channels.map(|channel| channel.controller().counters(self.now)).collect();
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

    pub(super) fn series(&self) -> Table {
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
