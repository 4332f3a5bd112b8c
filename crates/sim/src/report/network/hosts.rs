//! The tables `hosts`, `memory` and `series` of a cluster.

use super::control;
use crate::read::flows::FlowTotals;
use crate::read::host_state::HostState;
use crate::report::channels::line_ps;
use crate::report::table::{Cell, Column, Table, TableInfo, TableRows};
use crate::report::view::{line_bytes, lines_each, WorldView};
use hostnet_measure::Domain;
use hostnet_model::fluid::FluidCounts;
use hostnet_model::iio::Iio;
use hostnet_model::memory::{Channel, Counters};
use hostnet_model::nic::{Nic, NicCounters};
use hostnet_model::os::{CoreTimeKind, CoreTimes, NetStack};
use hostnet_model::Machine;

/// Writes or reads of devices at the IIOs of a server.
struct DmaDirection {
    /// Mean number of IIO entries in use, in lines.
    occupancy: f64,
    /// Mean time that a line holds an entry, in ns.
    latency_ns: Option<f64>,
    gbps: f64,
}

/// Results of one server.
struct HostRow<'a> {
    view: &'a WorldView<'a>,
    name: &'a str,
    /// Writes of devices, and reads; `None` if the server has no IIO.
    iio: Option<[DmaDirection; 2]>,
    nic: Option<&'a Nic>,
    /// Totals of all flows if there is only one server: then they are those of its NIC. With several servers, the
    /// table of flows has the totals of each NIC.
    nic_cell: Option<FlowTotals>,
    /// Time use of the network cores that have any work.
    cores: Vec<&'a CoreTimes>,
    /// Traffic of all memory channels, in GB/s.
    memory_gb_per_s: f64,
}

/// Rows of the table `hosts`: [`HostRow`].
struct HostRows;

impl TableRows for HostRows {
    type Row<'a> = HostRow<'a>;
}

const HOSTS: &[Column<HostRows>] = &[
    Column::key(Column::text("host", |row| row.name.into())),
    Column::number("iio_write_occupancy", |row| row.direction(0, |direction| direction.occupancy.into())),
    Column::number("iio_write_latency_ns", |row| row.direction(0, |direction| direction.latency_ns.into())),
    Column::number("iio_write_gbps", |row| row.direction(0, |direction| direction.gbps.into())),
    Column::number("iio_read_occupancy", |row| row.direction(1, |direction| direction.occupancy.into())),
    Column::number("iio_read_latency_ns", |row| row.direction(1, |direction| direction.latency_ns.into())),
    Column::number("iio_read_gbps", |row| row.direction(1, |direction| direction.gbps.into())),
    Column::integer("nic_received", |row| row.flows().map(|flows| flows.nic_received).into()),
    Column::integer("nic_dropped", |row| row.flows().map(FlowTotals::nic_dropped).into()),
    Column::number("nic_drop_percent", |row| row.drop_percent().into()),
    Column::number("nic_buffer_mean_bytes", |row| row.nic_cell(|nic| nic.buffer.mean().into())),
    Column::integer("nic_buffer_max_bytes", |row| row.nic_cell(|nic| nic.buffer.max().into())),
    Column::number("nic_buffered_p99_us", |row| {
        row.nic_cell(|nic| nic.buffered_ps.quantile(0.99).map(|ps| ps / 1e6).into())
    }),
    Column::number("nic_credit_wait_share", |row| row.nic_cell(|nic| nic.credit_wait.mean().into())),
    Column::number("nic_descriptor_wait_share", |row| row.nic_cell(|nic| nic.descriptor_wait.mean().into())),
    Column::integer("nic_pauses_sent", |row| row.nic_cell(|nic| nic.pauses_sent.into())),
    Column::number("core_softirq_share", |row| row.core_share(CoreTimeKind::Softirq).into()),
    Column::number("core_call_share", |row| row.core_share(CoreTimeKind::Call).into()),
    Column::number("core_copy_share", |row| row.core_share(CoreTimeKind::Copy).into()),
    Column::number("core_stalled_share", |row| row.core_share(CoreTimeKind::Stalled).into()),
    Column::number("core_send_share", |row| {
        // Waits for registers of the NIC are part of sending (clusters.md).
        (row.core_share(CoreTimeKind::Send) + row.core_share(CoreTimeKind::Register)).into()
    }),
    Column::number("memory_gb_per_s", |row| row.memory_gb_per_s.into()),
    Column::optional(Column::number("core_serve_share", |row| row.serve_share().into())),
];

impl HostRow<'_> {
    fn direction(&self, direction: usize, read: impl FnOnce(&DmaDirection) -> Cell) -> Cell {
        self.iio.as_ref().map_or(Cell::Empty, |directions| read(&directions[direction]))
    }

    fn nic_cell(&self, read: impl FnOnce(&NicCounters) -> Cell) -> Cell {
        self.nic.map_or(Cell::Empty, |nic| read(nic.counters()))
    }

    fn flows(&self) -> Option<&FlowTotals> {
        self.nic_cell.as_ref().filter(|_| self.nic.is_some())
    }

    fn drop_percent(&self) -> Option<f64> {
        let flows = self.flows().filter(|flows| flows.nic_received > 0)?;
        Some(100.0 * flows.nic_dropped() as f64 / flows.nic_received as f64)
    }

    /// Returns the share of time that the cores serve requests, if they serve any.
    fn serve_share(&self) -> Option<f64> {
        Some(self.core_share(CoreTimeKind::Serve)).filter(|&share| share > 0.0)
    }

    /// Returns the share of time that the cores spend on an activity, averaged over the cores.
    fn core_share(&self, spent: CoreTimeKind) -> f64 {
        let ps: u64 = self.cores.iter().map(|times| times.spent_ps(spent, self.view.now)).sum();
        ps as f64 / self.cores.len() as f64 / self.view.window_ps()
    }
}

/// Memory traffic of a workload on a host.
struct MemoryRow<'a> {
    host: &'a str,
    workload: &'a str,
    read_gb_per_s: f64,
    write_gb_per_s: f64,
    gb_per_s: f64,
}

/// Rows of the table `memory`: [`MemoryRow`].
struct MemoryRows;

impl TableRows for MemoryRows {
    type Row<'a> = MemoryRow<'a>;
}

const MEMORY: &[Column<MemoryRows>] = &[
    Column::key(Column::text("host", |row| row.host.into())),
    Column::key(Column::text("workload", |row| row.workload.into())),
    Column::number("read_gb_per_s", |row| row.read_gb_per_s.into()),
    Column::number("write_gb_per_s", |row| row.write_gb_per_s.into()),
    Column::number("gb_per_s", |row| row.gb_per_s.into()),
];

/// One server in one step of the time series.
struct SeriesRow<'a> {
    time_us: f64,
    span_ps: f64,
    name: &'a str,
    /// Number of 64 B lines that a simulated line stands for.
    lines_each: f64,
    /// State of the server at the start of the step, and at its end.
    before: &'a HostState,
    now: &'a HostState,
}

/// Rows of the table `series`: [`SeriesRow`].
struct SeriesRows;

impl TableRows for SeriesRows {
    type Row<'a> = SeriesRow<'a>;
}

const SERIES: &[Column<SeriesRows>] = &[
    Column::number("time_us", |row| row.time_us.into()),
    Column::text("host", |row| row.name.into()),
    Column::number("iio_write_occupancy", |row| row.occupancy().into()),
    Column::number("iio_write_gbps", |row| row.gbps(row.lines() * 64.0).into()),
    Column::integer("nic_buffer_bytes", |row| row.now.buffer_bytes.into()),
    Column::integer("nic_received", |row| (row.now.received - row.before.received).into()),
    Column::integer("nic_dropped", |row| (row.now.dropped - row.before.dropped).into()),
    Column::number("goodput_gbps", |row| row.gbps((row.now.read_bytes - row.before.read_bytes) as f64).into()),
    Column::integer("level", |row| row.now.control.map(|(level, _)| u64::from(level)).into()),
    Column::number("occupancy_smoothed_lines", |row| row.smoothed(0).into()),
    Column::number("bandwidth_smoothed_gbps", |row| row.smoothed(1).into()),
];

impl SeriesRow<'_> {
    fn occupancy(&self) -> f64 {
        (self.now.occupancy_area - self.before.occupancy_area) as f64 * self.lines_each / self.span_ps
    }

    fn lines(&self) -> f64 {
        (self.now.inserted_lines - self.before.inserted_lines) as f64 * self.lines_each
    }

    fn gbps(&self, bytes: f64) -> f64 {
        bytes * 8000.0 / self.span_ps
    }

    fn smoothed(&self, which: usize) -> Option<f64> {
        self.now.control.map(|(_, signals)| control::smoothed(&signals)[which])
    }
}

/// Returns the descriptions of the tables.
pub(super) fn table_info() -> [TableInfo; 2] {
    [TableInfo::of("hosts", HOSTS), TableInfo::of("memory", MEMORY)]
}

/// Builds the table of hosts. `flows` are the totals of the flows over the window.
pub(crate) fn host_table(view: &WorldView, flows: &[FlowTotals]) -> Table {
    let mut table = Table::of("hosts", HOSTS);
    // Flows are counted per cluster, so only a lone server owns all of them.
    let only = view.servers().count() == 1;
    for (host, machine) in view.servers() {
        let params = &view.plan.cluster.hosts[host];
        let row = HostRow {
            view,
            name: &params.name,
            iio: dma_directions(view, machine, line_bytes(params.fidelity)),
            nic: machine.first(),
            nic_cell: only.then(|| flows.iter().fold(FlowTotals::default(), |sum, flow| sum.plus(flow))),
            cores: core_times(view, machine),
            memory_gb_per_s: view.gb_per_s(memory_bytes(view, host, machine)),
        };
        table.add(HOSTS, &row);
    }
    table
}

/// Returns occupancy, latency and throughput of writes and of reads of devices, summed over all sockets.
fn dma_directions(view: &WorldView, machine: &Machine, line_bytes: u64) -> Option<[DmaDirection; 2]> {
    if let Some(memory) = machine.fluids().next() {
        return Some(fluid_iio(view, &memory.counts(view.now)));
    }
    machine.first::<Iio>()?;
    // Occupancy is reported in lines of 64 B at every fidelity.
    let lines_each = (line_bytes / 64) as f64;
    let of_all: [fn(&Iio) -> &Domain; 2] = [Iio::write, Iio::read];
    Some(of_all.map(|domain| {
        let all = || machine.each::<Iio>().map(domain);
        let residences = || all().flat_map(Domain::classes).map(|usage| usage.residence());
        let lines: u64 = residences().map(|residence| residence.count()).sum();
        let residence: u128 = residences().map(|residence| residence.sum()).sum();
        let area_ps: u64 = all().map(Domain::area_ps).sum();
        let occupancy = area_ps as f64 / view.window_ps() * lines_each;
        let latency_ns = (lines > 0).then(|| residence as f64 / lines as f64 / 1000.0);
        DmaDirection { occupancy, latency_ns, gbps: view.gbps(lines * line_bytes) }
    }))
}

/// Like [`dma_directions`], but for a fluid memory.
fn fluid_iio(view: &WorldView, counts: &FluidCounts) -> [DmaDirection; 2] {
    [0, 1].map(|direction| {
        let (lines, area) = (counts.lines[direction], counts.area[direction] as f64);
        let latency_ns = (lines > 0).then(|| area / lines as f64 / 1000.0);
        DmaDirection { occupancy: area / view.window_ps(), latency_ns, gbps: view.gbps(lines * 64) }
    })
}

/// Returns the time use of the network cores that have any work.
fn core_times<'a>(view: &WorldView, machine: &'a Machine) -> Vec<&'a CoreTimes> {
    let times = machine.engines().map(NetStack::times);
    // Cores that idled all the time would lower the mean shares.
    times.filter(|times| (times.spent_ps(CoreTimeKind::Idle, view.now) as f64) < view.window_ps()).collect()
}

/// Returns the bytes that all channels of a server moved in the window.
pub(super) fn memory_bytes(view: &WorldView, host: usize, machine: &Machine) -> u64 {
    let line_bytes = line_bytes(view.plan.cluster.hosts[host].fidelity);
    // A fluid memory has rates instead of channels, and counts bytes itself.
    if let Some(memory) = machine.fluids().next() {
        return memory.counts(view.now).bytes.iter().flatten().sum();
    }
    let counters = machine.each::<Channel>().map(|channel| channel.controller().counters(view.now));
    let lines = |of: Counters| of.reads.iter().chain(&of.writes).sum::<u64>();
    counters.map(lines).sum::<u64>() * line_bytes
}

/// Builds the table of memory, with a row per server and workload.
pub(crate) fn memory_table(view: &WorldView) -> Table {
    let mut table = Table::of("memory", MEMORY);
    for (host, machine) in view.servers() {
        let params = &view.plan.cluster.hosts[host];
        let Some(server) = &view.servers[host] else { continue };
        let line_bytes = line_bytes(params.fidelity);
        let channels = machine.each::<Channel>();
        let counters: Vec<_> = channels.map(|channel| channel.controller().counters(view.now)).collect();
        let rates = machine.fluids().next().map(|memory| memory.counts(view.now).bytes);
        for (class, workload) in server.workloads.iter().enumerate() {
            let lines = |pick: fn(&Counters) -> &[u64]| counters.iter().map(|of| pick(of)[class]).sum::<u64>();
            let [read, written] = match &rates {
                Some(bytes) => bytes[class],
                None => [lines(|of| &of.reads) * line_bytes, lines(|of| &of.writes) * line_bytes],
            };
            let [read_gb_per_s, write_gb_per_s, gb_per_s] =
                [read, written, read + written].map(|bytes| view.gb_per_s(bytes));
            let (host, workload) = (params.name.as_str(), workload.name.as_str());
            table.add(MEMORY, &MemoryRow { host, workload, read_gb_per_s, write_gb_per_s, gb_per_s });
        }
    }
    table
}

/// Builds the time series of the servers.
pub(crate) fn series_table(view: &WorldView) -> Table {
    let mut table = Table::of("series", SERIES);
    let hosts: Vec<usize> = view.servers().map(|(host, _)| host).collect();
    let mut before = (view.window_start, view.series.host_states.first());
    // The first state is that of the start of the window, which ends no step.
    for (&at, host_states) in view.series.times.iter().zip(view.series.host_states.iter().skip(1)) {
        let (last_at, last) = std::mem::replace(&mut before, (at, Some(host_states)));
        for ((now, before), &host) in host_states.iter().zip(last.into_iter().flatten()).zip(&hosts) {
            let params = &view.plan.cluster.hosts[host];
            let row = SeriesRow {
                time_us: at.since(view.window_start) as f64 / 1e6,
                span_ps: at.since(last_at) as f64,
                name: &params.name,
                lines_each: lines_each(params.fidelity) as f64,
                before,
                now,
            };
            table.add(SERIES, &row);
        }
    }
    table
}

/// Returns the share of the window that the data buses of a host move lines, averaged over the channels; `None` for a
/// fluid memory.
pub(super) fn memory_load(view: &WorldView, host: usize, machine: &Machine) -> Option<f64> {
    let line_ps = line_ps(&view.servers[host].as_ref()?.socket().memory);
    let channels = machine.each::<Channel>().count() as f64;
    let lines = (memory_bytes(view, host, machine) / line_bytes(view.plan.cluster.hosts[host].fidelity)) as f64;
    (channels > 0.0).then(|| lines * line_ps / channels / view.window_ps())
}

/// Describes how much of the time the channels of a host move data, in words.
pub(super) fn data_words(host: &str, load: f64) -> String {
    format!(
        "the channels of {host} move data {:.0} % of the time, not counting turnarounds between reads and writes",
        100.0 * load
    )
}
