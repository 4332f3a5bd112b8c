//! The tables `mesh`, of the ports of the mesh of a die, and `mesh_ways`, of the paths of each workload's lines over
//! the mesh.

use crate::read::sample::Sample;
use crate::report::table::{Column, Table, TableRows};
use crate::report::view::ServerView;
use hostnet_analysis::explain::{MeshLinkKind, OnMesh};
use hostnet_model::mesh::{CcdDirection, CcdLinks, LegCounters, Mesh, MeshLeg, MeshPort, MeshRing, StopSide};
use hostnet_model::params::{DieParams, Stop};
use serde_json::{json, Value};
use std::cmp::Reverse;

/// One side of a stop, with its port on each ring.
pub(crate) struct MeshSideRow<'a> {
    view: &'a ServerView<'a>,
    socket: u32,
    mesh: &'a Mesh,
    stop: Stop,
    side: StopSide,
    ports: [MeshPort; 3],
}

/// Rows of the table `mesh`: [`MeshSideRow`].
pub(crate) struct MeshSideRows;

impl TableRows for MeshSideRows {
    type Row<'a> = MeshSideRow<'a>;
}

pub(crate) const MESH: &[Column<MeshSideRows>] = &[
    Column::key(Column::integer("socket", |row| row.socket.into())),
    Column::key(Column::integer("column", |row| u32::from(row.stop.column).into())),
    Column::key(Column::integer("row", |row| u32::from(row.stop.row).into())),
    Column::key(Column::text("side", |row| side(row.side).into())),
    Column::number("requests_busy_share", |row| row.busy_share(MeshRing::Request).into()),
    Column::number("lines_busy_share", |row| row.busy_share(MeshRing::Line).into()),
    Column::number("acknowledgements_busy_share", |row| row.busy_share(MeshRing::Acknowledgement).into()),
    Column::number("waited_ns", |row| row.waited_ns().into()),
];

impl MeshSideRow<'_> {
    /// Returns the share of time that the port on `ring` is busy.
    fn busy_share(&self, ring: MeshRing) -> f64 {
        let taken = self.mesh.counters().taken(self.ports[ring as usize]);
        (taken * self.mesh.die().cycle_ps) as f64 / self.view.window_ps()
    }

    /// Returns the mean time that a message waited here for others, in ns; `None` without messages.
    fn waited_ns(&self) -> Option<f64> {
        let counters = self.mesh.counters();
        let lost: u64 =
            (0..self.view.classes()).flat_map(|class| self.ports.map(|port| counters.waited(port, class))).sum();
        // A line takes its port for several cycles, so cycles are divided by those of one message.
        let messages = |ring: MeshRing| counters.taken(self.ports[ring as usize]) / cycles(self.mesh.die(), ring);
        let messages: u64 = MeshRing::ALL.into_iter().map(messages).sum();
        (messages > 0).then(|| (lost * self.mesh.die().cycle_ps) as f64 / messages as f64 / 1000.0)
    }
}

/// One leg of the paths of a workload's lines.
pub(crate) struct MeshLegRow<'a> {
    socket: u32,
    workload: &'a str,
    leg: MeshLeg,
    counters: LegCounters,
    die: &'a DieParams,
}

/// Rows of the table `mesh_ways`: [`MeshLegRow`].
pub(crate) struct MeshLegRows;

impl TableRows for MeshLegRows {
    type Row<'a> = MeshLegRow<'a>;
}

pub(crate) const MESH_WAYS: &[Column<MeshLegRows>] = &[
    Column::key(Column::integer("socket", |row| row.socket.into())),
    Column::key(Column::text("workload", |row| row.workload.into())),
    Column::key(Column::text("leg", |row| leg(row.leg).into())),
    Column::integer("messages", |row| row.counters.messages.into()),
    Column::number("way_ns", |row| row.ns(row.counters.route_cycles).into()),
    Column::number("mean_way_ns", |row| (row.mean_ps() as f64 / 1000.0).into()),
    Column::number("waited_ns", |row| row.ns(row.counters.waited_cycles).into()),
];

impl MeshLegRow<'_> {
    /// Converts the cycles of all messages to the mean time of one, in ns.
    fn ns(&self, cycles: u64) -> f64 {
        (cycles * self.die.cycle_ps) as f64 / self.counters.messages as f64 / 1000.0
    }

    /// Returns the mean unloaded path over all pairs of these parts, in ps, which the configured delays include.
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

/// Tables of the meshes of a server.
pub(crate) struct MeshTables {
    pub(crate) ports: Table,
    pub(crate) ways: Table,
}

/// Builds the tables, or returns `None` if no socket has a mesh. Ports and legs without messages have no row.
pub(crate) fn build_mesh(view: &ServerView) -> Option<MeshTables> {
    view.machine.meshes().next()?;
    let (mut ports, mut ways) = (Table::of("mesh", MESH), Table::of("mesh_ways", MESH_WAYS));
    for (socket, mesh) in view.machine.meshes() {
        let socket = socket as u32;
        for (stop, side, of_rings) in sides(mesh.die()) {
            let row = MeshSideRow { view, socket, mesh, stop, side, ports: of_rings };
            if of_rings.iter().any(|&port| mesh.counters().taken(port) > 0) {
                ports.add(MESH, &row);
            }
        }
        for (class, workload) in view.server.workloads.iter().enumerate() {
            for leg in MeshLeg::ALL {
                let counters = mesh.counters().leg(leg, class);
                if counters.messages > 0 {
                    ways.add(
                        MESH_WAYS,
                        &MeshLegRow { socket, workload: &workload.name, leg, counters, die: mesh.die() },
                    );
                }
            }
        }
    }
    Some(MeshTables { ports, ways })
}

/// Returns the part of the summary that describes the dies.
pub(crate) fn describe_dies(view: &ServerView) -> Value {
    view.machine.meshes().map(|(socket, mesh)| describe_die(view, socket, mesh)).collect()
}

fn describe_die(view: &ServerView, socket: usize, mesh: &Mesh) -> Value {
    let most: Vec<Value> = (0..view.classes()).filter_map(|class| describe_worst_port(view, mesh, class)).collect();
    let DieParams { columns, rows, line_cycles, cycle_ps, .. } = mesh.die();
    let mut described = json!({
        "socket": socket,
        "columns": columns,
        "rows": rows,
        "line_cycles": line_cycles,
        "cycle_ns": *cycle_ps as f64 / 1000.0,
        "stops": stops(mesh.die()),
        "most_waited": most,
    });
    if mesh.ccd_links().is_some() {
        described["ccd_links"] = describe_ccds(view, mesh).into();
    }
    described
}

/// Returns the port where the messages of a workload waited longest on a mesh, as JSON, if they waited at all.
fn describe_worst_port(view: &ServerView, mesh: &Mesh, class: usize) -> Option<Value> {
    let WorstPort { ring, stop, side: at, lost, all, busy_share } = find_worst_port(view, mesh, class)?;
    Some(json!({
        "workload": view.server.workloads[class].name,
        "ring": ring_name(ring),
        "column": stop.column,
        "row": stop.row,
        "side": side(at),
        "share": lost as f64 / all as f64,
        "busy_share": busy_share,
    }))
}

/// Finds the port where the messages of a workload waited longest on a mesh; the first of several.
fn find_worst_port(view: &ServerView, mesh: &Mesh, class: usize) -> Option<WorstPort> {
    let lost = |port: MeshPort| mesh.counters().waited(port, class);
    // `max_by_key` takes the last of equals, so the index is reversed to get the first.
    let first_most = |&(port, ..): &(MeshPort, MeshRing, Stop, StopSide)| (lost(port), Reverse(port.index()));
    let (port, ring, stop, side) = MeshPort::all(mesh.die()).max_by_key(first_most)?;
    (lost(port) > 0).then(|| WorstPort {
        ring,
        stop,
        side,
        lost: lost(port),
        all: MeshPort::all(mesh.die()).map(|(port, ..)| lost(port)).sum(),
        busy_share: (mesh.counters().taken(port) * mesh.die().cycle_ps) as f64 / view.window_ps(),
    })
}

/// Returns the delay that the meshes add to a workload, as evidence for its limit; `None` if its messages never
/// waited.
pub(crate) fn find_mesh_delay(view: &ServerView, total: &Sample, class: usize) -> Option<OnMesh> {
    let meshes = || view.machine.meshes().map(|(_, mesh)| mesh);
    let lost_ps = |mesh: &Mesh| {
        let cycles: u64 = MeshLeg::ALL.into_iter().map(|leg| mesh.counters().leg(leg, class).waited_cycles).sum();
        cycles * mesh.die().cycle_ps
    };
    // The port is named on the mesh with the longest waits; the delay is the sum over all meshes.
    let mesh = meshes().max_by_key(|mesh| lost_ps(mesh))?;
    let lines = total.moved(view.throughput_groups(class), class);
    let waited_ns = meshes().map(lost_ps).sum::<u64>() as f64 / lines.max(1) as f64 / 1000.0;
    let port = find_worst_port(view, mesh, class);
    if let Some(worst) = find_worst_ccd(view, mesh, class) {
        if port.as_ref().is_none_or(|port| worst.lost > port.lost) {
            let WorstCcd { busy_share, .. } = worst;
            return Some(OnMesh { waited_ns, link: worst.name(), busy_share, kind: MeshLinkKind::Ccd });
        }
    }
    let WorstPort { ring, stop, side: at, busy_share, .. } = port?;
    let link = format!("{}, column {} row {} {}", ring_name(ring), stop.column, stop.row, side(at));
    let kind = if mesh.ccd_links().is_some() { MeshLinkKind::Fabric } else { MeshLinkKind::Mesh };
    Some(OnMesh { waited_ns, link, busy_share, kind })
}

/// Link of a CCD where the lines of a workload waited longest.
struct WorstCcd {
    ccd: usize,
    direction: CcdDirection,
    /// Cycles that the lines waited at this link.
    lost: u64,
    busy_share: f64,
}

impl WorstCcd {
    fn name(&self) -> String {
        let what = if self.direction == CcdDirection::Read { "reads" } else { "writes" };
        format!("{what} of CCD {}", self.ccd)
    }
}

/// Finds the link of a CCD where the lines of a workload waited longest; the first of several.
fn find_worst_ccd(view: &ServerView, mesh: &Mesh, class: usize) -> Option<WorstCcd> {
    let links = mesh.ccd_links()?;
    let all = (0..links.ccds()).flat_map(|ccd| CcdDirection::ALL.map(|direction| (ccd, direction)));
    let lost = |&(ccd, direction): &(usize, CcdDirection)| links.waited(ccd, direction, class);
    // `max_by_key` takes the last of equals, so the search runs backwards.
    let (ccd, direction) = all.rev().max_by_key(lost).filter(|worst| lost(worst) > 0)?;
    Some(WorstCcd {
        ccd,
        direction,
        lost: lost(&(ccd, direction)),
        busy_share: ccd_busy_share(view, mesh, ccd, direction),
    })
}

/// Returns the share of time that a link of a CCD is busy.
fn ccd_busy_share(view: &ServerView, mesh: &Mesh, ccd: usize, direction: CcdDirection) -> f64 {
    let taken = mesh.ccd_links().map_or(0, |links| links.taken(ccd, direction));
    (taken * mesh.die().cycle_ps) as f64 / view.window_ps()
}

/// Describes the links of the CCDs, as JSON.
fn describe_ccds(view: &ServerView, mesh: &Mesh) -> Vec<Value> {
    let share = |ccd, direction| ccd_busy_share(view, mesh, ccd, direction);
    let describe = |ccd| {
        json!({
            "ccd": ccd,
            "reads_busy_share": share(ccd, CcdDirection::Read),
            "writes_busy_share": share(ccd, CcdDirection::Write),
        })
    };
    (0..mesh.ccd_links().map_or(0, CcdLinks::ccds)).map(describe).collect()
}

/// Port where the messages of a workload waited longest.
struct WorstPort {
    ring: MeshRing,
    stop: Stop,
    side: StopSide,
    /// Cycles that the messages waited at this port, and at all ports of the mesh.
    lost: u64,
    all: u64,
    busy_share: f64,
}

/// Returns the cycles that a message of a ring occupies a port.
fn cycles(die: &DieParams, ring: MeshRing) -> u64 {
    if ring == MeshRing::Line {
        u64::from(die.line_cycles)
    } else {
        1
    }
}

/// Returns every side of every stop, with its ports indexed by ring.
fn sides(die: &DieParams) -> Vec<(Stop, StopSide, [MeshPort; 3])> {
    let all: Vec<(MeshPort, MeshRing, Stop, StopSide)> = MeshPort::all(die).collect();
    // All rings have the same sides, so one ring lists them.
    let of_requests = all.iter().filter(|(_, ring, ..)| *ring == MeshRing::Request);
    let of = |stop: Stop, side: StopSide| {
        MeshRing::ALL.map(|ring| {
            let found = all.iter().find(|&&(_, of, at, by)| (of, at, by) == (ring, stop, side));
            found.expect("every ring has every side of every stop").0
        })
    };
    of_requests.map(|&(_, _, stop, side)| (stop, side, of(stop, side))).collect()
}

/// Returns the parts at each stop that has any, as JSON.
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
