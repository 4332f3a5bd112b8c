//! The tables of the mesh of a die: its ports, and the ways of the lines of each workload over it.

use crate::read::sample::Sample;
use crate::report::table::{Column, Rows, Table};
use crate::report::view::ServerView;
use hostnet_analysis::explain::OnMesh;
use hostnet_model::mesh::{LegCounters, Mesh, MeshLeg, MeshPort, MeshRing, StopSide};
use hostnet_model::params::{DieParams, Stop};
use serde_json::{json, Value};
use std::cmp::Reverse;

/// A side of a stop, with all its rings.
pub(crate) struct SideRow<'a> {
    view: &'a ServerView<'a>,
    socket: u32,
    mesh: &'a Mesh,
    stop: Stop,
    side: StopSide,
    ports: [MeshPort; 3],
}

/// The rows of the table of ports.
pub(crate) struct Sides;

impl Rows for Sides {
    type Row<'a> = SideRow<'a>;
}

pub(crate) const MESH: &[Column<Sides>] = &[
    Column::key(Column::integer("socket", |row| row.socket.into())),
    Column::key(Column::integer("column", |row| u32::from(row.stop.column).into())),
    Column::key(Column::integer("row", |row| u32::from(row.stop.row).into())),
    Column::key(Column::text("side", |row| side(row.side).into())),
    Column::number("requests_busy_share", |row| row.busy_share(MeshRing::Request).into()),
    Column::number("lines_busy_share", |row| row.busy_share(MeshRing::Line).into()),
    Column::number("acknowledgements_busy_share", |row| row.busy_share(MeshRing::Acknowledgement).into()),
    Column::number("waited_ns", |row| row.waited_ns().into()),
];

impl SideRow<'_> {
    fn busy_share(&self, ring: MeshRing) -> f64 {
        let taken = self.mesh.counters().taken(self.ports[ring as usize]);
        (taken * self.mesh.die().cycle_ps) as f64 / self.view.window_ps()
    }

    /// What messages lost here on the mean.
    fn waited_ns(&self) -> Option<f64> {
        let counters = self.mesh.counters();
        let lost: u64 =
            (0..self.view.classes()).flat_map(|class| self.ports.map(|port| counters.waited(port, class))).sum();
        let messages = |ring: MeshRing| counters.taken(self.ports[ring as usize]) / cycles(self.mesh.die(), ring);
        let messages: u64 = MeshRing::ALL.into_iter().map(messages).sum();
        (messages > 0).then(|| (lost * self.mesh.die().cycle_ps) as f64 / messages as f64 / 1000.0)
    }
}

/// A leg of the ways of a workload's lines.
pub(crate) struct WayRow<'a> {
    socket: u32,
    workload: &'a str,
    leg: MeshLeg,
    counters: LegCounters,
    die: &'a DieParams,
}

/// The rows of the table of ways.
pub(crate) struct Ways;

impl Rows for Ways {
    type Row<'a> = WayRow<'a>;
}

pub(crate) const MESH_WAYS: &[Column<Ways>] = &[
    Column::key(Column::integer("socket", |row| row.socket.into())),
    Column::key(Column::text("workload", |row| row.workload.into())),
    Column::key(Column::text("leg", |row| leg(row.leg).into())),
    Column::integer("messages", |row| row.counters.messages.into()),
    Column::number("way_ns", |row| row.ns(row.counters.route_cycles).into()),
    Column::number("mean_way_ns", |row| (row.mean_ps() as f64 / 1000.0).into()),
    Column::number("waited_ns", |row| row.ns(row.counters.waited_cycles).into()),
];

impl WayRow<'_> {
    /// Cycles of all messages as the time of one.
    fn ns(&self, cycles: u64) -> f64 {
        (cycles * self.die.cycle_ps) as f64 / self.counters.messages as f64 / 1000.0
    }

    /// What the delays of the configuration contain.
    fn mean_ps(&self) -> u64 {
        let die = self.die;
        let partners = match self.leg {
            MeshLeg::CoreToCha | MeshLeg::ChaToCore => &die.cores,
            MeshLeg::ChaToChannel | MeshLeg::ChannelToCha => &die.channels,
            MeshLeg::IioToCha | MeshLeg::ChaToIio => &die.io,
        };
        die.mean_ps(partners, &die.slices)
    }
}

/// The tables of the meshes of a server.
pub(crate) struct MeshTables {
    pub(crate) ports: Table,
    pub(crate) ways: Table,
}

impl ServerView<'_> {
    /// What its meshes carried; nothing where its parts lie on none.
    pub(crate) fn mesh(&self) -> Option<MeshTables> {
        self.machine.meshes().next()?;
        let (mut ports, mut ways) = (Table::of("mesh", MESH), Table::of("mesh_ways", MESH_WAYS));
        for (socket, mesh) in self.machine.meshes() {
            let socket = socket as u32;
            for (stop, side, of_rings) in sides(mesh.die()) {
                let row = SideRow { view: self, socket, mesh, stop, side, ports: of_rings };
                if of_rings.iter().any(|&port| mesh.counters().taken(port) > 0) {
                    ports.add(MESH, &row);
                }
            }
            for (class, workload) in self.server.workloads.iter().enumerate() {
                for leg in MeshLeg::ALL {
                    let counters = mesh.counters().leg(leg, class);
                    if counters.messages > 0 {
                        ways.add(
                            MESH_WAYS,
                            &WayRow { socket, workload: &workload.name, leg, counters, die: mesh.die() },
                        );
                    }
                }
            }
        }
        Some(MeshTables { ports, ways })
    }

    /// What a summary says of the dies.
    pub(crate) fn dies(&self) -> Value {
        self.machine.meshes().map(|(socket, mesh)| self.die_summary(socket, mesh)).collect()
    }

    fn die_summary(&self, socket: usize, mesh: &Mesh) -> Value {
        let most: Vec<Value> = (0..self.classes()).filter_map(|class| self.most_waited(mesh, class)).collect();
        let DieParams { columns, rows, line_cycles, cycle_ps, .. } = mesh.die();
        json!({
            "socket": socket,
            "columns": columns,
            "rows": rows,
            "line_cycles": line_cycles,
            "cycle_ns": *cycle_ps as f64 / 1000.0,
            "stops": stops(mesh.die()),
            "most_waited": most,
        })
    }

    /// Where the messages of a workload lost most time on a mesh, if they lost any.
    fn most_waited(&self, mesh: &Mesh, class: usize) -> Option<Value> {
        let Worst { ring, stop, side: at, lost, all, busy_share } = self.worst(mesh, class)?;
        Some(json!({
            "workload": self.server.workloads[class].name,
            "ring": ring_name(ring),
            "column": stop.column,
            "row": stop.row,
            "side": side(at),
            "share": lost as f64 / all as f64,
            "busy_share": busy_share,
        }))
    }

    fn worst(&self, mesh: &Mesh, class: usize) -> Option<Worst> {
        let lost = |port: MeshPort| mesh.counters().waited(port, class);
        let first_most = |&(port, ..): &(MeshPort, MeshRing, Stop, StopSide)| (lost(port), Reverse(port.index()));
        let (port, ring, stop, side) = MeshPort::all(mesh.die()).max_by_key(first_most)?;
        (lost(port) > 0).then(|| Worst {
            ring,
            stop,
            side,
            lost: lost(port),
            all: MeshPort::all(mesh.die()).map(|(port, ..)| lost(port)).sum(),
            busy_share: (mesh.counters().taken(port) * mesh.die().cycle_ps) as f64 / self.window_ps(),
        })
    }

    /// What the meshes do to a workload, for an explanation; nothing where it lost no time.
    pub(crate) fn on_mesh(&self, total: &Sample, class: usize) -> Option<OnMesh> {
        let meshes = || self.machine.meshes().map(|(_, mesh)| mesh);
        let lost_ps = |mesh: &Mesh| {
            let cycles: u64 = MeshLeg::ALL.into_iter().map(|leg| mesh.counters().leg(leg, class).waited_cycles).sum();
            cycles * mesh.die().cycle_ps
        };
        let mesh = meshes().max_by_key(|mesh| lost_ps(mesh))?;
        let Worst { ring, stop, side: at, busy_share, .. } = self.worst(mesh, class)?;
        let lines = total.moved(self.own_groups(class), class);
        let waited_ns = meshes().map(lost_ps).sum::<u64>() as f64 / lines.max(1) as f64 / 1000.0;
        let link = format!("{}, column {} row {} {}", ring_name(ring), stop.column, stop.row, side(at));
        Some(OnMesh { waited_ns, link, busy_share })
    }
}

/// The port where a workload lost most time: cycles lost there and in all.
struct Worst {
    ring: MeshRing,
    stop: Stop,
    side: StopSide,
    lost: u64,
    all: u64,
    busy_share: f64,
}

/// Cycles that a message of a ring takes of a port.
fn cycles(die: &DieParams, ring: MeshRing) -> u64 {
    if ring == MeshRing::Line {
        u64::from(die.line_cycles)
    } else {
        1
    }
}

/// Every side of every stop, with its ports by the numbers of the rings.
fn sides(die: &DieParams) -> Vec<(Stop, StopSide, [MeshPort; 3])> {
    let all: Vec<(MeshPort, MeshRing, Stop, StopSide)> = MeshPort::all(die).collect();
    let of_requests = all.iter().filter(|(_, ring, ..)| *ring == MeshRing::Request);
    let of = |stop: Stop, side: StopSide| {
        MeshRing::ALL.map(|ring| {
            let found = all.iter().find(|&&(_, of, at, by)| (of, at, by) == (ring, stop, side));
            found.expect("every ring has every side of every stop").0
        })
    };
    of_requests.map(|&(_, _, stop, side)| (stop, side, of(stop, side))).collect()
}

/// Who lies at each stop where somebody does.
fn stops(die: &DieParams) -> Vec<Value> {
    let kinds = [("core", &die.cores), ("cha", &die.slices), ("channel", &die.channels), ("iio", &die.io)];
    let at = |stop: Stop| {
        let of = |&(kind, places): &(&str, &Vec<Stop>)| {
            let here = places.iter().enumerate().filter(move |(_, place)| **place == stop);
            here.map(|(number, _)| format!("{kind}{number}")).collect::<Vec<String>>()
        };
        kinds.iter().flat_map(of).collect::<Vec<String>>()
    };
    let stops = (0..die.rows).flat_map(|row| (0..die.columns).map(move |column| Stop { column, row }));
    stops
        .map(|stop| (stop, at(stop)))
        .filter(|(_, parts)| !parts.is_empty())
        .map(|(Stop { column, row }, parts)| json!({ "column": column, "row": row, "parts": parts }))
        .collect()
}

fn side(side: StopSide) -> &'static str {
    match side {
        StopSide::North => "north",
        StopSide::East => "east",
        StopSide::South => "south",
        StopSide::West => "west",
        StopSide::In => "in",
        StopSide::Out => "out",
    }
}

fn ring_name(ring: MeshRing) -> &'static str {
    match ring {
        MeshRing::Request => "requests",
        MeshRing::Line => "lines",
        MeshRing::Acknowledgement => "acknowledgements",
    }
}

fn leg(leg: MeshLeg) -> &'static str {
    match leg {
        MeshLeg::CoreToCha => "core to CHA",
        MeshLeg::ChaToCore => "CHA to core",
        MeshLeg::ChaToChannel => "CHA to MC",
        MeshLeg::ChannelToCha => "MC to CHA",
        MeshLeg::IioToCha => "IIO to CHA",
        MeshLeg::ChaToIio => "CHA to IIO",
    }
}
