//! The tables `classes` and `flows`.

use crate::read::ends::{ends, rdma_ends};
use crate::read::flows::{ClassBytes, FlowTotals};
use crate::read::CONFIDENCE_GROUPS;
use crate::report::table::{headings, read_cells, roles, Cell, Column, Table, TableInfo, TableRows};
use crate::report::view::WorldView;
use hostnet_config::Length;
use hostnet_kernel::Time;
use hostnet_measure::batch::{estimate, Estimate};
use hostnet_model::params::FlowParams;

/// Columns that the tables of classes and of flows share. Their rows are read from [`FlowTotals`].
struct CountRows;

impl TableRows for CountRows {
    type Row<'a> = FlowTotals;
}

const COUNTS: &[Column<CountRows>] = &[
    Column::integer("sent_packets", |totals| totals.sent_packets.into()),
    Column::integer("retransmitted_packets", |totals| totals.retransmitted_packets.into()),
    Column::integer("nic_received", |totals| totals.nic_received.into()),
    Column::integer("nic_dropped_full", |totals| totals.nic_full.into()),
    Column::integer("nic_dropped_ring", |totals| totals.nic_ring.into()),
    Column::integer("nic_dropped_other", |totals| totals.nic_other.into()),
    Column::number("nic_drop_percent", |totals| percent(totals.nic_dropped(), totals.nic_received).into()),
    Column::integer("fabric_dropped", |totals| totals.fabric_dropped.into()),
    Column::integer("received_segments", |totals| totals.received_segments.into()),
    Column::integer("marked_segments", |totals| totals.marked_segments.into()),
    Column::integer("marked_by_host", |totals| totals.marked_by_host.into()),
    Column::integer("timeouts", |totals| totals.timeouts.into()),
    Column::integer("probes", |totals| totals.probes.into()),
    Column::integer("host_sent", |totals| totals.host_sent.into()),
    Column::integer("host_received", |totals| totals.host_received.into()),
    Column::integer("out_of_order", |totals| totals.out_of_order.into()),
    Column::integer("duplicates", |totals| totals.duplicates.into()),
    Column::integer("notifications", |totals| totals.notifications.into()),
    Column::integer("socket_dropped", |totals| totals.socket_dropped.into()),
];

/// Returns a part in percent of the whole, or `None` if the whole is 0.
fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}

/// Columns of a class that stand before its counts.
struct ClassRow<'a> {
    name: &'a str,
    goodput: f64,
    /// Goodput over the batches, in Gbit/s.
    estimate: Estimate,
}

/// Rows of the table `classes`: [`ClassRow`].
struct ClassRows;

impl TableRows for ClassRows {
    type Row<'a> = ClassRow<'a>;
}

const CLASSES: &[Column<ClassRows>] = &[
    Column::key(Column::text("class", |row| row.name.into())),
    Column::number("goodput_gbps", |row| row.goodput.into()),
    Column::number("goodput_ci95", |row| {
        let half_width = row.estimate.half_width;
        half_width.is_finite().then_some(half_width).into()
    }),
    Column::number("goodput_drift", |row| row.estimate.drift.into()),
];

/// Columns of a flow that stand before its counts.
struct FlowRow<'a> {
    view: &'a WorldView<'a>,
    number: usize,
    flow: &'a FlowParams,
    totals: &'a FlowTotals,
    /// Time at which the last byte of the flow was read.
    completed: Option<Time>,
}

/// Rows of the table `flows`: [`FlowRow`].
struct FlowRows;

impl TableRows for FlowRows {
    type Row<'a> = FlowRow<'a>;
}

const FLOWS: &[Column<FlowRows>] = &[
    Column::key(Column::integer("flow", |row| (row.number as u64).into())),
    Column::given(Column::text("class", |row| row.view.class_name(row.flow.class).into())),
    Column::given(Column::text("from", |row| row.host(row.flow.from).into())),
    Column::given(Column::text("to", |row| row.host(row.flow.to).into())),
    Column::number("goodput_gbps", |row| row.view.gbps(row.totals.received_bytes.iter().sum()).into()),
    Column::integer("received_bytes", |row| row.totals.received_bytes[0].into()),
    Column::integer("returned_bytes", |row| row.totals.received_bytes[1].into()),
    Column::number("completion_us", |row| row.completion_us().into()),
];

impl FlowRow<'_> {
    fn host(&self, host: u16) -> &str {
        &self.view.plan.cluster.hosts[usize::from(host)].name
    }

    fn completion_us(&self) -> Option<f64> {
        self.completed.map(|at| (at.ps().saturating_sub(self.flow.start_ps)) as f64 / 1e6)
    }
}

/// Returns a time in ps as a cell in us.
pub(super) fn us(ps: Option<f64>) -> Cell {
    ps.map(|ps| ps / 1e6).into()
}

/// Returns the cells of the counts; empty ones if the network has no packets to count.
fn counts(view: &WorldView, totals: &FlowTotals) -> Vec<Cell> {
    if view.plan.cluster.fidelity.is_packet() {
        return read_cells(COUNTS, totals);
    }
    vec![Cell::Empty; COUNTS.len()]
}

/// Returns the descriptions of the tables.
pub(super) fn table_info() -> [TableInfo; 2] {
    [
        TableInfo::new("classes", roles(CLASSES).chain(roles(COUNTS))),
        TableInfo::new("flows", roles(FLOWS).chain(roles(COUNTS))),
    ]
}

/// Builds the table of classes. `flows` are the totals of the flows over the window.
pub(crate) fn class_table(view: &WorldView, flows: &[FlowTotals]) -> Table {
    let mut table = Table::new("classes", headings(CLASSES).chain(headings(COUNTS)));
    let cluster = &view.plan.cluster;
    for (class, name) in cluster.classes.iter().enumerate() {
        let own = flows.iter().zip(&cluster.flows).filter(|(_, flow)| usize::from(flow.class) == class);
        let sum = own.fold(FlowTotals::default(), |sum, (totals, _)| sum.plus(totals));
        let goodput = view.gbps(sum.received_bytes.iter().sum());
        let row = ClassRow { name, goodput, estimate: goodput_estimate(view, class) };
        table.push([read_cells(CLASSES, &row), counts(view, &sum)].concat());
    }
    table
}

/// Estimates the goodput of a class over the batches, in Gbit/s.
pub(super) fn goodput_estimate(view: &WorldView, class: usize) -> Estimate {
    // Bytes count from the start of the run, so those of the warm-up are subtracted first.
    let mut last = view.before.received(&view.plan.cluster).0[class];
    let batch = |received: &ClassBytes| {
        let now = received.0[class];
        (now - std::mem::replace(&mut last, now)) as f64
    };
    let bytes: Vec<f64> = view.batches.received.iter().map(batch).collect();
    let found = estimate(&bytes, CONFIDENCE_GROUPS);
    let batch_ps = view.window_ps() / view.batches.len().max(1) as f64;
    let gbps = |bytes: f64| bytes * 8000.0 / batch_ps;
    // After a skip the batches are parts of a few repetitions, whose differences are no noise.
    let half_width = if view.skips.skips.is_empty() { found.half_width } else { f64::INFINITY };
    // Jobs send by steps and have no steady state, so a change of their goodput is no drift.
    let drift = found.drift.filter(|_| view.plan.run.length != Length::Jobs);
    Estimate { mean: gbps(found.mean), half_width: gbps(half_width), drift: drift.map(gbps) }
}

/// Returns the time at which each flow completed, or `None` if it has not, or has no end.
pub(super) fn completion_times(view: &WorldView) -> Vec<Option<Time>> {
    let mut completed = vec![None; view.plan.cluster.flows.len()];
    for (flow, _, _, application) in view.simulation.worlds().flat_map(ends) {
        // Only the end that reads the last byte has a time.
        if let Some(at) = application.completed_at() {
            completed[flow as usize] = Some(at);
        }
    }
    for (flow, _, connection) in view.simulation.worlds().flat_map(rdma_ends) {
        if let Some(at) = connection.completed_at() {
            completed[flow as usize] = Some(at);
        }
    }
    completed
}

/// Builds the table of flows. `flows` are their totals over the window.
pub(super) fn flow_table(view: &WorldView, flows: &[FlowTotals], completed: &[Option<Time>]) -> Table {
    let mut table = Table::new("flows", headings(FLOWS).chain(headings(COUNTS)));
    let cluster = &view.plan.cluster;
    for (number, (totals, flow)) in flows.iter().zip(&cluster.flows).enumerate() {
        let row = FlowRow { view, number, flow, totals, completed: completed[number] };
        table.push([read_cells(FLOWS, &row), counts(view, totals)].concat());
    }
    table
}
