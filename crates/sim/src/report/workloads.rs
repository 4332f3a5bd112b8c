//! The table `workloads`.

use super::{quantile_ns, ratio_ci95, ratio_estimate, PS_PER_S};
use crate::read::sample::{residences, DomainTotals, PoolGroup, Sample};
use crate::report::table::{Cell, Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_analysis::explain::WorkloadFacts;
use hostnet_measure::batch::Estimate;
use hostnet_measure::Histogram;
use hostnet_model::app::count_operations;
use hostnet_model::core::Executor;
use hostnet_model::dma::Dma;
use hostnet_model::memory::Counters;
use hostnet_model::nvme::{DriveService, Ssd};
use hostnet_model::params::{AppParams, Workload};
use hostnet_model::Machine;

/// Number of completed commands or operations below which their latency is not reported.
const COMMANDS_MIN: u64 = 100;

/// Results of one workload.
pub(crate) struct WorkloadRow<'a> {
    view: &'a ServerView<'a>,
    class: usize,
    total: &'a Sample,
    limit: &'a WorkloadFacts,
    /// Bytes that the workload read from DRAM and wrote to DRAM.
    memory_bytes: [u64; 2],
    /// Throughput, in GB/s; `None` if lines are not simulated.
    throughput: Option<f64>,
    /// Latency of a line, in ps.
    latency: Histogram,
    /// Completed commands of a storage workload.
    completed: Option<u64>,
    /// Latency of a command of a storage workload, in ps.
    command_latency: Option<Histogram>,
    /// Operations of an application.
    operations: Option<Operations>,
}

/// Completed operations of an application.
struct Operations {
    ended: u64,
    /// Rate, in operations per ps, and the half-width of its confidence interval.
    per_ps: f64,
    ci95: Option<f64>,
    latency: Histogram,
    /// Operations of a complete run of the application; `None` if it never ends.
    total_operations: Option<u64>,
}

/// Rows of the table: [`WorkloadRow`].
pub(crate) struct WorkloadRows;

impl TableRows for WorkloadRows {
    type Row<'a> = WorkloadRow<'a>;
}

pub(crate) const WORKLOADS: &[Column<WorkloadRows>] = &[
    Column::key(Column::text("workload", |row| row.workload().name.as_str().into())),
    Column::given(Column::text("kind", |row| row.workload().kind.name().into())),
    Column::number("throughput_gb_per_s", |row| row.throughput.into()),
    Column::number("throughput_ci95", |row| row.throughput_ci95().into()),
    Column::number("throughput_drift", |row| row.drift().into()),
    Column::number("read_gb_per_s", |row| row.view.gb_per_s_of(row.memory_bytes[0]).into()),
    Column::number("write_gb_per_s", |row| row.view.gb_per_s_of(row.memory_bytes[1]).into()),
    Column::number("app_gb_per_s", |row| row.app_gb_per_s().into()),
    Column::number("latency_mean_ns", |row| row.latency.mean().map(|ps| ps / 1000.0).into()),
    Column::number("latency_ci95", |row| row.latency_ci95().into()),
    Column::number("latency_p50_ns", |row| quantile_ns(&row.latency, 0.5)),
    Column::number("latency_p99_ns", |row| quantile_ns(&row.latency, 0.99)),
    Column::integer("lines", |row| row.throughput.map(|_| row.lines(row.total) * row.view.lines_each()).into()),
    Column::integer("io_completed", |row| row.completed.into()),
    Column::number("io_latency_mean_ns", |row| mean_ns(row.command_latency.as_ref())),
    Column::number("io_latency_p50_ns", |row| latency_quantile_ns(row.command_latency.as_ref(), 0.5)),
    Column::number("io_latency_p99_ns", |row| latency_quantile_ns(row.command_latency.as_ref(), 0.99)),
    Column::text("limited_by", |row| row.throughput.map(|_| row.limit.limited_by()).into()),
    Column::optional(Column::integer("operations", |row| row.for_app(|app| app.ended.into()))),
    Column::number("operations_per_s", |row| row.for_app(|app| (app.per_ps * PS_PER_S).into())),
    Column::number("operations_ci95", |row| row.for_app(|app| app.ci95.map(|per_ps| per_ps * PS_PER_S).into())),
    Column::number("operation_latency_mean_ns", |row| row.for_app(|app| mean_ns(Some(&app.latency)))),
    Column::number("operation_latency_p50_ns", |row| row.for_app(|app| latency_quantile_ns(Some(&app.latency), 0.5))),
    Column::number("operation_latency_p99_ns", |row| row.for_app(|app| latency_quantile_ns(Some(&app.latency), 0.99))),
    Column::number("execution_time_s", |row| {
        row.for_app(|app| app.total_operations.map(|all| all as f64 / app.per_ps / PS_PER_S).into())
    }),
];

/// Returns the latencies if at least [`COMMANDS_MIN`] were measured.
fn enough_latencies(latency: Option<&Histogram>) -> Option<&Histogram> {
    latency.filter(|latency| latency.count() >= COMMANDS_MIN)
}

fn mean_ns(latency: Option<&Histogram>) -> Cell {
    enough_latencies(latency).and_then(Histogram::mean).map(|ps| ps / 1000.0).into()
}

/// Returns a quantile in ns, or an empty cell if too few latencies were measured.
fn latency_quantile_ns(latency: Option<&Histogram>, share: f64) -> Cell {
    enough_latencies(latency).map_or(Cell::Empty, |latency| quantile_ns(latency, share))
}

impl WorkloadRow<'_> {
    fn workload(&self) -> &Workload {
        &self.view.server.workloads[self.class]
    }

    fn lines(&self, sample: &Sample) -> u64 {
        sample.moved(self.view.throughput_groups(self.class), self.class)
    }

    /// Estimates the throughput over the batches, in lines per ps.
    fn throughput_estimate(&self) -> Estimate {
        let lines = |sample: &Sample| self.lines(sample) as f64;
        let time = |sample: &Sample| sample.at.since(self.view.window_start) as f64;
        ratio_estimate(self.view.batches, lines, time)
    }

    fn throughput_ci95(&self) -> Option<f64> {
        let half_width = self.throughput.map(|_| self.throughput_estimate().half_width)?;
        half_width.is_finite().then(|| self.view.gb_per_s_at(half_width))
    }

    /// Returns the change of the throughput from the start of the window to its end, in GB/s; `None` if it is steady.
    fn drift(&self) -> Option<f64> {
        self.throughput?;
        self.throughput_estimate().drift.map(|per_ps| self.view.gb_per_s_at(per_ps))
    }

    /// Returns the data rate that the application sees, in GB/s: for storage, the bytes of completed commands.
    fn app_gb_per_s(&self) -> Option<f64> {
        match self.workload().kind.has_commands() {
            true => self
                .throughput
                .map(|_| self.view.gb_per_s_of(self.total.app_bytes[self.class] * self.view.lines_each())),
            false => self.throughput,
        }
    }

    fn latency_ci95(&self) -> Option<f64> {
        let totals = |sample: &Sample| entry_totals(self.view, sample, self.class);
        let residence = |sample: &Sample| totals(sample).residence_ps as f64;
        let entries = |sample: &Sample| totals(sample).lines as f64;
        ratio_ci95(self.view.batches, residence, entries).map(|ps| ps / 1000.0)
    }

    /// Reads a value that only applications have.
    fn for_app(&self, read: impl FnOnce(&Operations) -> Cell) -> Cell {
        self.operations.as_ref().map_or(Cell::Empty, read)
    }
}

pub(super) fn build_workloads(view: &ServerView, total: &Sample, limits: &[WorkloadFacts]) -> Table {
    let mut table = Table::of("workloads", WORKLOADS);
    let rates = view.machine.fluids().next().map(|memory| memory.counts(view.now).bytes);
    let counters: Vec<_> = view.controllers().iter().map(|channel| channel.counters(view.now)).collect();
    for (class, limit) in limits.iter().enumerate() {
        // A workload of commands without a completed one has 0 of them; other workloads have no value.
        let has_commands = view.server.workloads[class].kind.has_commands();
        let row = WorkloadRow {
            view,
            class,
            total,
            limit,
            memory_bytes: rates.as_ref().map_or_else(|| memory_bytes(view, &counters, class), |bytes| bytes[class]),
            throughput: rates.is_none().then(|| view.gb_per_s(total.moved(view.throughput_groups(class), class))),
            latency: line_latency(view, class),
            completed: has_commands.then(|| commands_completed(view, class)),
            command_latency: has_commands.then(|| command_latency(view, class)),
            operations: view.app(class).map(|app| operations(view, class, app, total)),
        };
        table.add(WORKLOADS, &row);
    }
    table
}

/// Returns the bytes that the channels read and wrote for a workload.
fn memory_bytes(view: &ServerView, channels: &[Counters], class: usize) -> [u64; 2] {
    let picks: [fn(&Counters) -> &[u64]; 2] = [|channel| &channel.reads, |channel| &channel.writes];
    picks.map(|pick| view.line_bytes * channels.iter().map(|channel| pick(channel)[class]).sum::<u64>())
}

/// Returns the groups whose entries a line of the workload holds from its start to its end.
fn entry_groups(view: &ServerView, class: usize) -> &'static [PoolGroup] {
    if view.server.workloads[class].kind.is_of_devices() {
        &[PoolGroup::P2mWrite, PoolGroup::P2mRead]
    } else {
        &[PoolGroup::Lfb]
    }
}

/// Returns lines and residence time in these entries, in ps.
pub(super) fn entry_totals(view: &ServerView, sample: &Sample, class: usize) -> DomainTotals {
    let mut sum = DomainTotals::default();
    for &group in entry_groups(view, class) {
        let totals = sample.of(group, class);
        sum.lines += totals.lines;
        sum.residence_ps += totals.residence_ps;
    }
    sum
}

/// Returns the latency of the lines of a workload, in ps: the time in an LFB entry or in an IIO entry.
pub(crate) fn line_latency(view: &ServerView, class: usize) -> Histogram {
    let mut latency = Histogram::default();
    for &group in entry_groups(view, class) {
        latency.merge(&residences(view.machine, group, Some(class)));
    }
    latency
}

pub(super) fn commands_completed(view: &ServerView, class: usize) -> u64 {
    services(view.machine, class).map(|service| service.completed).sum()
}

fn command_latency(view: &ServerView, class: usize) -> Histogram {
    let mut latency = Histogram::default();
    services(view.machine, class).for_each(|service| latency.merge(&service.latency));
    latency
}

/// Returns the service that a workload got from each device with commands.
fn services(machine: &Machine, class: usize) -> impl Iterator<Item = &DriveService> {
    let drives = machine.each::<Ssd>().map(move |drive| &drive.services()[class]);
    drives.chain(machine.each::<Dma>().map(move |dma| &dma.services()[class]))
}

fn operations(view: &ServerView, class: usize, app: &AppParams, total: &Sample) -> Operations {
    let ended = total.operations(class, &app.cores);
    let time = |sample: &Sample| sample.at.since(view.window_start) as f64;
    Operations {
        ended,
        per_ps: ended as f64 / view.window_ps(),
        ci95: ratio_ci95(view.batches, |sample| sample.operations(class, &app.cores) as f64, time),
        latency: operation_latency(view, class, app),
        total_operations: count_operations(app),
    }
}

fn operation_latency(view: &ServerView, class: usize, app: &AppParams) -> Histogram {
    let mut latency = Histogram::default();
    let own = |thread: &&Executor| usize::from(thread.class()) == class && app.cores.contains(&thread.index());
    for thread in view.machine.engines::<Executor>().filter(own) {
        latency.merge(thread.operations().1);
    }
    latency
}
