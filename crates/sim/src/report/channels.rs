//! The table `channels`.

use super::{ratio, ratio_ci95};
use crate::report::table::{Cell, Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_measure::Domain;
use hostnet_model::memory::{Controller, Counters};
use hostnet_model::params::{MemoryParams, SocketParams};
use serde_json::Value;
use std::ops::Range;

/// One channel, or all channels taken together.
pub(crate) struct ChannelRow<'a> {
    view: &'a ServerView<'a>,
    /// Number of the channel, or -1 for all.
    number: i64,
    channels: &'a [&'a Controller],
    counters: Vec<Counters>,
}

/// Rows of the table: [`ChannelRow`].
pub(crate) struct ChannelRows;

impl TableRows for ChannelRows {
    type Row<'a> = ChannelRow<'a>;
}

pub(crate) const CHANNELS: &[Column<ChannelRows>] = &[
    Column::key(Column::integer("channel", |row| row.number.into())),
    Column::number("read_gb_per_s", |row| row.view.gb_per_s(row.reads()).into()),
    Column::number("write_gb_per_s", |row| row.view.gb_per_s(row.writes()).into()),
    Column::number("c2m_gb_per_s", |row| row.view.gb_per_s(row.core_lines()).into()),
    Column::number("p2m_gb_per_s", |row| row.view.gb_per_s(row.reads() + row.writes() - row.core_lines()).into()),
    Column::number("row_miss_ratio", |row| ratio(row.total(|channel| channel.read_activations), row.lines_read())),
    Column::number("row_miss_ci95", |row| row.miss_ci95().into()),
    Column::number("row_conflict_ratio", |row| ratio(row.total(|channel| channel.read_conflicts), row.lines_read())),
    Column::number("write_row_miss_ratio", |row| {
        ratio(row.total(|channel| channel.write_activations), row.lines_written())
    }),
    Column::number("bank_load_1_5_share", |row| uneven_share(row.channels, 1.5)),
    Column::number("bank_load_2_share", |row| uneven_share(row.channels, 2.0)),
    Column::integer("activations", |row| {
        row.total(|channel| channel.read_activations + channel.write_activations).into()
    }),
    Column::integer("precharges", |row| row.total(|channel| channel.precharges).into()),
    Column::integer("refreshes", |row| row.total(|channel| channel.refreshes).into()),
    Column::number("rpq_mean", |row| row.mean(Controller::rpq).into()),
    Column::number("wpq_mean", |row| row.mean(Controller::wpq).into()),
    Column::number("rpq_full_share", |row| row.view.share(&row.queues(Controller::rpq), Domain::over_threshold_ps)),
    Column::number("wpq_full_share", |row| row.view.share(&row.queues(Controller::wpq), Domain::over_threshold_ps)),
    Column::number("write_mode_share", |row| {
        row.share_of_time(row.total(|channel| channel.write_mode_ps) as f64).into()
    }),
    Column::integer("mode_switches", |row| row.total(|channel| channel.switches).into()),
    Column::number("bus_busy_share", |row| row.share_of_time(row.bus_ps()).into()),
    Column::number("lines_per_activation", |row| {
        let rows_opened = row.total(|channel| channel.read_activations + channel.write_activations);
        ratio(row.lines_read() + row.lines_written(), rows_opened)
    }),
    Column::text("sources", |row| row.sources().into()),
];

impl ChannelRow<'_> {
    /// Sums a counter of the channels.
    fn total(&self, count: impl Fn(&Counters) -> u64) -> u64 {
        self.counters.iter().map(count).sum()
    }

    /// Returns the time that the data buses carry lines, in ps, summed over the channels.
    fn bus_ps(&self) -> f64 {
        let lines = |channel: &Counters| channel.reads.iter().chain(&channel.writes).sum::<u64>();
        let mut counters = self.counters.iter();
        // The clock of bursts is slowed down, and theirs is not the time that the bus moves data.
        let each = self.view.lines_each() as f64;
        let sockets = self.view.memories().zip(&self.view.line_server.sockets);
        // The counters begin at this channel, so the sockets before it have none of them.
        let first = self.number.max(0) as usize;
        let of_socket = |((_, channels), socket): ((&MemoryParams, Range<usize>), &SocketParams)| {
            let own = channels.end.saturating_sub(channels.start.max(first));
            counters.by_ref().take(own).map(lines).sum::<u64>() as f64 * each * line_ps(&socket.memory)
        };
        sockets.map(of_socket).sum()
    }

    fn reads(&self) -> u64 {
        self.total(|channel| channel.reads.iter().sum())
    }

    fn writes(&self) -> u64 {
        self.total(|channel| channel.writes.iter().sum())
    }

    /// Returns the reads, in lines of 64 B.
    fn lines_read(&self) -> u64 {
        self.reads() * self.view.lines_each()
    }

    /// Returns the writes, in lines of 64 B.
    fn lines_written(&self) -> u64 {
        self.writes() * self.view.lines_each()
    }

    /// Returns the lines of a workload.
    fn lines_of(&self, class: usize) -> u64 {
        self.total(|channel| channel.reads[class] + channel.writes[class])
    }

    /// Returns the lines of all workloads on cores.
    fn core_lines(&self) -> u64 {
        let workloads = &self.view.server.workloads;
        let of_cores = |class: &usize| !workloads[*class].kind.is_of_devices();
        (0..workloads.len()).filter(of_cores).map(|class| self.lines_of(class)).sum()
    }

    /// Returns the half-width of the confidence interval of the row miss ratio, for all channels only.
    fn miss_ci95(&self) -> Option<f64> {
        let read = || {
            ratio_ci95(self.view.batches, |sample| sample.read_activations as f64, |sample| sample.lines_read as f64)
        };
        // Samples hold only sums over all channels, so a single channel has no batches.
        (self.number < 0).then(read).flatten().map(|ratio| ratio / self.view.lines_each() as f64)
    }

    fn queues(&self, pick: fn(&Controller) -> &Domain) -> Vec<&Domain> {
        self.channels.iter().map(|channel| pick(channel)).collect()
    }

    /// Returns the mean number of entries in use of a queue, in lines, averaged over the channels.
    fn mean(&self, pick: fn(&Controller) -> &Domain) -> f64 {
        let area: u64 = self.queues(pick).iter().map(|domain| domain.area_ps()).sum();
        (area * self.view.lines_each()) as f64 / self.channels.len() as f64 / self.view.window_ps()
    }

    /// Returns a time, summed over the channels, as a mean share of the window.
    fn share_of_time(&self, time_ps: f64) -> f64 {
        time_ps / self.channels.len() as f64 / self.view.window_ps()
    }

    /// Lists the throughput of each workload, in GB/s; `None` if the window has no length.
    fn sources(&self) -> Option<String> {
        // A run that was stopped at the end of its warm-up has no throughput to list.
        if self.view.window_ps() == 0.0 {
            return None;
        }
        let workloads = self.view.server.workloads.iter().enumerate();
        let sources = workloads
            .map(|(class, workload)| format!("{} {:.2}", workload.name, self.view.gb_per_s(self.lines_of(class))));
        Some(sources.collect::<Vec<_>>().join(", "))
    }
}

/// Builds the table. It is empty for a fluid memory, which has no channels.
pub(crate) fn build_channels(view: &ServerView) -> Table {
    let mut table = Table::of("channels", CHANNELS);
    let controllers = view.controllers();
    if controllers.is_empty() {
        return table;
    }
    table.add(CHANNELS, &channel_row(view, -1, &controllers));
    for (index, controller) in controllers.iter().enumerate() {
        table.add(CHANNELS, &channel_row(view, index as i64, &[controller]));
    }
    table
}

/// Returns the channels of each socket taken together, in the columns of the table but with `socket` in place of
/// `channel`.
pub(super) fn describe_channels_of_sockets(view: &ServerView) -> Vec<Value> {
    let controllers = view.controllers();
    let of_socket = |(socket, (_, channels)): (usize, (&MemoryParams, Range<usize>))| {
        let mut table = Table::of("channels", CHANNELS);
        // The number is that of the first channel, by which `bus_ps` finds the socket.
        table.add(CHANNELS, &channel_row(view, channels.start as i64, controllers.get(channels)?));
        let mut row = table.row_json(table.rows.first()?);
        row.as_object_mut()?.remove("channel");
        row["socket"] = socket.into();
        Some(row)
    };
    view.memories().enumerate().filter_map(of_socket).collect()
}

/// Creates the row of channels taken together, under `number`.
fn channel_row<'a>(view: &'a ServerView<'a>, number: i64, channels: &'a [&'a Controller]) -> ChannelRow<'a> {
    let counters = channels.iter().map(|channel| channel.counters(view.now)).collect();
    ChannelRow { view, number, channels, counters }
}

/// Returns the time that a line takes on the data bus of its channel, in ps.
pub(crate) fn line_ps(memory: &MemoryParams) -> f64 {
    let dram = &memory.dram;
    let clocks = f64::from(dram.timing.burst * dram.accesses_per_line);
    clocks * dram.clock_ps_numerator as f64 / dram.clock_ps_denominator as f64
}

/// Returns the share of samples in which one bank has at least `deviation` times the mean load.
fn uneven_share(channels: &[&Controller], deviation: f64) -> Cell {
    let samples = channels.iter().map(|channel| channel.bank_loads().samples_from(deviation));
    let (all, uneven) = samples.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    ratio(uneven, all)
}
