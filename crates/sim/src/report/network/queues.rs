//! The tables `queues` and `drops`: traffic, queues and losses of ports.

use crate::read::ports::{ports, PortTotals, PortView};
use crate::report::table::{Cell, Column, Table, TableContent, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_model::ether::{Egress, BYTE_PARTS};
use hostnet_model::params::CableEnd;

/// Gbit/s per byte per second.
pub(super) const GBPS: f64 = 8e-9;

/// One port, with its counters at the start of the window.
struct QueueRow<'a> {
    view: &'a WorldView<'a>,
    port: PortView<'a>,
    before: PortTotals,
    /// True if the network has switches that learn addresses.
    learning: bool,
}

/// Rows of the tables: [`QueueRow`].
struct QueueRows;

impl TableRows for QueueRows {
    type Row<'a> = QueueRow<'a>;
}

const QUEUES: &[Column<QueueRows>] = &[
    Column::key(Column::text("place", |row| row.view.name_of(row.port.end).into())),
    Column::key(Column::integer("port", |row| (row.port.number as u64).into())),
    Column::given(Column::text("to", |row| row.port.peer().map(|peer| row.view.name_of(peer)).into())),
    Column::given(Column::number("rate_gbps", |row| row.view.rate_gbps(&row.port).into())),
    Column::integer("sent_packets", |row| row.grown(|port| port.sent_packets).into()),
    Column::number("sent_gbps", |row| row.view.sent_gbps(&row.port, row.before).into()),
    Column::integer("marked_packets", |row| row.marked().into()),
    Column::number("queue_mean_packets", |row| row.queue(|egress| egress.queue_packets().mean().into())),
    Column::number("queue_sd_packets", |row| row.queue(|egress| egress.queue_packets().standard_deviation().into())),
    Column::integer("queue_min_packets", |row| row.queue(|egress| egress.queue_packets().min().into())),
    Column::integer("queue_max_packets", |row| row.queue(|egress| egress.queue_packets().max().into())),
    Column::number("queue_mean_bytes", |row| row.queue(|egress| egress.queue_bytes().mean().into())),
    Column::integer("queue_max_bytes", |row| row.queue(|egress| egress.queue_bytes().max().into())),
    Column::integer("pauses_asked", |row| row.queued().map(|row| row.grown(|port| port.pauses_asked)).into()),
    // PFC has eight priorities (IEEE 802.1Qbb).
    Column::number("paused_share", |row| row.queued().map(|row| row.view.paused_share(&row.port, 0..8)).into()),
    Column::optional(Column::integer("flooded_packets", |row| {
        row.grown_if_learning(|port| port.flooded_packets).into()
    })),
    Column::optional(Column::number("flooded_gbps", |row| row.flooded_gbps().into())),
    Column::optional(Column::integer("stray_packets", |row| row.grown_if_learning(|port| port.stray_packets).into())),
];

const DROPS: &[Column<QueueRows>] = &[
    Column::key(Column::text("place", |row| row.view.name_of(row.port.end).into())),
    Column::key(Column::integer("port", |row| (row.port.number as u64).into())),
    Column::given(Column::text("to", |row| row.port.peer().map(|peer| row.view.name_of(peer)).into())),
    Column::integer("dropped_packets", |row| row.grown(|port| port.overflowed_packets).into()),
];

impl QueueRow<'_> {
    /// Returns the row if packets queue at its port: a network that carries messages whole has no queues.
    fn queued(&self) -> Option<&Self> {
        self.view.plan.cluster.fidelity.is_packet().then_some(self)
    }

    /// Returns a cell about the queue of the port.
    fn queue(&self, read: impl FnOnce(&Egress) -> Cell) -> Cell {
        self.queued().map_or(Cell::Empty, |row| read(row.port.egress))
    }

    /// Returns the packets that the port has marked; none for a host, which marks no packets.
    fn marked(&self) -> Option<u64> {
        self.queued().filter(|row| row.port.marks).map(|row| row.grown(|port| port.marked_packets))
    }

    /// Returns the increase of a counter in the window.
    fn grown(&self, pick: fn(&PortTotals) -> u64) -> u64 {
        pick(&self.port.totals) - pick(&self.before)
    }

    /// Like [`QueueRow::grown`], but returns `None` if no switch learns addresses.
    fn grown_if_learning(&self, pick: fn(&PortTotals) -> u64) -> Option<u64> {
        self.learning.then(|| self.grown(pick))
    }

    fn flooded_gbps(&self) -> Option<f64> {
        self.learning.then(|| self.view.flooded_gbps(&self.port, self.before))
    }
}

/// Returns the descriptions of the tables `queues` and `drops`.
pub(super) fn table_info() -> [TableInfo; 2] {
    [TableInfo::of("queues", QUEUES), TableInfo::of("drops", DROPS).with_content(TableContent::Derived)]
}

/// Formats a rate with up to three decimals, such as 12.5, 0.1 or 100.
pub(super) fn gbps_words(rate: f64) -> String {
    ((rate * 1000.0).round() / 1000.0).to_string()
}

impl WorldView<'_> {
    /// Returns the ports, each with its counters at the start of the window.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (PortView<'_>, PortTotals)> {
        // Before the window begins no counters have been kept, so they count from 0.
        let none = std::iter::repeat(PortTotals::default());
        ports(self.simulation, &self.plan.cluster, self.now)
            .into_iter()
            .zip(self.ports_before.iter().copied().chain(none))
    }

    /// Returns the rate that a port sent on the wire in the window, in Gbit/s.
    pub(crate) fn sent_gbps(&self, port: &PortView, before: PortTotals) -> f64 {
        self.gbps(port.totals.carried_parts - before.carried_parts) / BYTE_PARTS as f64
    }

    /// Returns the rate of flooded packets that a port sent on the wire in the window, in Gbit/s. A switch that
    /// learns floods packets to receivers that its table does not have yet.
    pub(crate) fn flooded_gbps(&self, port: &PortView, before: PortTotals) -> f64 {
        self.gbps(port.totals.flooded_wire_bytes - before.flooded_wire_bytes)
    }

    /// Returns the rate of the cable at a port, in Gbit/s.
    pub(crate) fn rate_gbps(&self, port: &PortView) -> Option<f64> {
        Some(port.cable()?.bytes_per_s as f64 * GBPS)
    }

    /// Returns the share of the window that a port was paused, for the priority that was paused longest.
    pub(crate) fn paused_share(&self, port: &PortView, priorities: impl IntoIterator<Item = u8>) -> f64 {
        let paused =
            priorities.into_iter().map(|priority| port.egress.paused_ps(priority, self.now)).max().unwrap_or(0);
        paused as f64 / self.window_ps()
    }

    /// Returns the name of a host or a switch.
    pub(crate) fn name_of(&self, end: CableEnd) -> &str {
        match end {
            CableEnd::Host(host) => &self.plan.cluster.hosts[usize::from(host)].name,
            CableEnd::Switch(switch) => &self.plan.cluster.switches[usize::from(switch)].name,
        }
    }
}

/// Builds the table, with a row per port, except those between switches and their engines.
pub(crate) fn queue_table(view: &WorldView) -> Table {
    let mut table = Table::of("queues", QUEUES);
    cabled_ports(view).iter().for_each(|row| table.add(QUEUES, row));
    table
}

/// Builds the table of the ports whose queues overflowed. Returns `None` if none did.
pub(crate) fn drop_table(view: &WorldView) -> Option<Table> {
    let mut table = Table::of("drops", DROPS);
    let dropped = |row: &&QueueRow| row.grown(|port| port.overflowed_packets) > 0;
    cabled_ports(view).iter().filter(dropped).for_each(|row| table.add(DROPS, row));
    (!table.rows.is_empty()).then_some(table)
}

/// Returns all ports, except those between switches and their engines.
fn cabled_ports<'a>(view: &'a WorldView<'a>) -> Vec<QueueRow<'a>> {
    let learning = view.plan.cluster.switches.iter().any(|switch| switch.learning.is_some());
    let engines = view.engines_of_switches();
    // The engine of a switch is modelled as a host, but it has no cable that a user knows.
    let within = |end: CableEnd| matches!(end, CableEnd::Host(host) if engines.contains(&host));
    let cabled = view.ports().filter(|(port, _)| !within(port.end) && !port.peer().is_some_and(within));
    cabled.map(|(port, before)| QueueRow { view, port, before, learning }).collect()
}
