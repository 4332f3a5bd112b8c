//! Ports: what they sent, and what waited at them.

use crate::table::{Column, Rows, Table};
use crate::view::WorldView;
use hostnet_kernel::Simulation;
use hostnet_model::ether::{Egress, World};
use hostnet_model::nic::Nic;
use hostnet_model::params::{CableParams, ClusterParams, End, HostKind};
use serde::{Deserialize, Serialize};

/// Bits per second of a Gbit/s, per byte.
const GBPS: f64 = 8e-9;

/// What a port has counted since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PortTotals {
    sent_packets: u64,
    sent_wire_bytes: u64,
    marked_packets: u64,
    pauses_asked: u64,
}

/// A port of the world.
pub(crate) struct PortView<'a> {
    /// Where it is, and its number there.
    pub(crate) end: End,
    pub(crate) number: usize,
    egress: &'a Egress,
    /// Only switches mark, and only switches and NICs ask for pauses.
    marks: bool,
    totals: PortTotals,
}

impl<'a> PortView<'a> {
    fn new(end: End, number: usize, egress: &'a Egress) -> Self {
        let totals = PortTotals {
            sent_packets: egress.sent_packets(),
            sent_wire_bytes: egress.sent_wire_bytes(),
            ..PortTotals::default()
        };
        Self { end, number, egress, marks: false, totals }
    }

    /// The cable that it sends onto.
    pub(crate) fn cable(&self, cluster: &'a ClusterParams) -> Option<&'a CableParams> {
        cluster.cables.iter().filter(|cable| cable.ends.contains(&self.end)).nth(self.number)
    }

    /// Who is at the other end of the cable.
    pub(crate) fn peer(&self, cluster: &ClusterParams) -> Option<End> {
        let [one, other] = self.cable(cluster)?.ends;
        Some(if one == self.end { other } else { one })
    }
}

/// All ports: those of switches, endpoints and servers.
pub(crate) fn ports<'a>(simulation: &'a Simulation<World>, cluster: &ClusterParams) -> Vec<PortView<'a>> {
    let mut ports = Vec::new();
    let hosts = |server: bool| {
        let hosts = (0..).zip(&cluster.hosts);
        hosts.filter(move |(_, host)| matches!(host.kind, HostKind::Server(_)) == server).map(|(host, _)| host)
    };
    let mut servers = Vec::new();
    for world in simulation.worlds() {
        match world {
            World::Server(machine) => servers.push(machine),
            World::Fabric(fabric) => {
                for (switch, number) in fabric.switches().zip(0..) {
                    ports.extend(switch.ports().iter().enumerate().map(|(index, port)| {
                        let mut view = PortView::new(End::Switch(number), index, port.egress());
                        view.marks = true;
                        view.totals.marked_packets = port.marked_packets();
                        view.totals.pauses_asked = port.pauses_asked();
                        view
                    }));
                }
                for (endpoint, host) in fabric.endpoints().zip(hosts(false)) {
                    let own = endpoint.ports().iter().enumerate();
                    ports.extend(own.map(|(index, port)| PortView::new(End::Host(host), index, port)));
                }
            }
        }
    }
    for (machine, host) in servers.into_iter().zip(hosts(true)) {
        for nic in machine.each::<Nic>() {
            let mut view = PortView::new(End::Host(host), 0, nic.port());
            view.totals.pauses_asked = nic.counters().pauses_sent;
            ports.push(view);
        }
    }
    ports
}

/// What all ports have counted since the start of the run.
pub(crate) fn totals(simulation: &Simulation<World>, cluster: &ClusterParams) -> Vec<PortTotals> {
    ports(simulation, cluster).into_iter().map(|port| port.totals).collect()
}

/// A port, with what it had counted when the window began.
struct QueueRow<'a> {
    view: &'a WorldView<'a>,
    port: PortView<'a>,
    before: PortTotals,
}

/// The rows of the table.
struct Queues;

impl Rows for Queues {
    type Row<'a> = QueueRow<'a>;
}

const QUEUES: &[Column<Queues>] = &[
    Column::text("place", |row| row.view.name_of(row.port.end).into()),
    Column::integer("port", |row| (row.port.number as u64).into()),
    Column::text("to", |row| row.port.peer(&row.view.plan.cluster).map(|peer| row.view.name_of(peer)).into()),
    Column::number("rate_gbps", |row| row.view.rate_gbps(&row.port).into()),
    Column::integer("sent_packets", |row| row.grown(|port| port.sent_packets).into()),
    Column::number("sent_gbps", |row| row.view.sent_gbps(&row.port, row.before).into()),
    Column::integer("marked_packets", |row| row.port.marks.then(|| row.grown(|port| port.marked_packets)).into()),
    Column::number("queue_mean_packets", |row| row.port.egress.queue_packets().mean().into()),
    Column::number("queue_sd_packets", |row| row.port.egress.queue_packets().standard_deviation().into()),
    Column::integer("queue_min_packets", |row| row.port.egress.queue_packets().min().into()),
    Column::integer("queue_max_packets", |row| row.port.egress.queue_packets().max().into()),
    Column::number("queue_mean_bytes", |row| row.port.egress.queue_bytes().mean().into()),
    Column::integer("queue_max_bytes", |row| row.port.egress.queue_bytes().max().into()),
    Column::integer("pauses_asked", |row| row.grown(|port| port.pauses_asked).into()),
    Column::number("paused_share", |row| row.view.paused_share(&row.port).into()),
];

impl QueueRow<'_> {
    fn grown(&self, pick: fn(&PortTotals) -> u64) -> u64 {
        pick(&self.port.totals) - pick(&self.before)
    }
}

impl WorldView<'_> {
    /// The ports, each with what it had counted when the window began.
    pub(crate) fn ports(&self) -> impl Iterator<Item = (PortView<'_>, PortTotals)> {
        let none = std::iter::repeat(PortTotals::default());
        ports(self.simulation, &self.plan.cluster).into_iter().zip(self.ports_before.iter().copied().chain(none))
    }

    /// Gbit/s on the wire in the window.
    pub(crate) fn sent_gbps(&self, port: &PortView, before: PortTotals) -> f64 {
        self.gbps(port.totals.sent_wire_bytes - before.sent_wire_bytes)
    }

    /// Gbit/s that its cable carries.
    pub(crate) fn rate_gbps(&self, port: &PortView) -> Option<f64> {
        Some(port.cable(&self.plan.cluster)?.bytes_per_s as f64 * GBPS)
    }

    /// Share of the window for which the priority that was paused longest was paused.
    pub(crate) fn paused_share(&self, port: &PortView) -> f64 {
        let paused = (0..8).map(|priority| port.egress.paused_ps(priority, self.now)).max().unwrap_or(0);
        paused as f64 / self.window_ps()
    }

    /// The name of a host or a switch.
    pub(crate) fn name_of(&self, end: End) -> &str {
        match end {
            End::Host(host) => &self.plan.cluster.hosts[usize::from(host)].name,
            End::Switch(switch) => &self.plan.cluster.switches[usize::from(switch)].name,
        }
    }

    /// A row for every port.
    pub(crate) fn queues(&self) -> Table {
        let mut table = Table::of("queues", QUEUES);
        for (port, before) in self.ports() {
            table.add(QUEUES, &QueueRow { view: self, port, before });
        }
        table
    }
}
