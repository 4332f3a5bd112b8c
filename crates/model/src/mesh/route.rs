//! Routes over a mesh, and the ports that messages take.

use crate::params::{DieParams, Stop};
use serde::{Deserialize, Serialize};

/// Ring of the mesh, named after its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MeshRing {
    /// Requests (AD).
    Request,
    /// Lines of data (BL).
    Line,
    /// Acknowledgements (AK).
    Acknowledgement,
}

impl MeshRing {
    /// All rings.
    pub const ALL: [Self; 3] = [Self::Request, Self::Line, Self::Acknowledgement];
}

/// Side of a stop, by which messages leave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopSide {
    /// To the next stop of the column, with the lower row.
    North,
    /// To the next stop of the row, with the higher column.
    East,
    /// To the next stop of the column, with the higher row.
    South,
    /// To the next stop of the row, with the lower column.
    West,
    /// From the parts of the stop onto the mesh.
    In,
    /// From the mesh to the parts of the stop.
    Out,
}

impl StopSide {
    /// All sides.
    pub const ALL: [Self; 6] = [Self::North, Self::East, Self::South, Self::West, Self::In, Self::Out];
}

/// Port of the mesh: a side of a stop on a ring, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshPort(usize);

impl MeshPort {
    /// Returns the number of ports of a die.
    #[must_use]
    pub fn count(die: &DieParams) -> usize {
        usize::from(die.columns) * usize::from(die.rows) * MeshRing::ALL.len() * StopSide::ALL.len()
    }

    fn new(die: &DieParams, ring: MeshRing, stop: Stop, side: StopSide) -> Self {
        Self((number(die, stop) * MeshRing::ALL.len() + ring as usize) * StopSide::ALL.len() + side as usize)
    }

    /// Returns all ports of a die, in the order of their numbers.
    pub fn all(die: &DieParams) -> impl Iterator<Item = (Self, MeshRing, Stop, StopSide)> + '_ {
        let stops = (0..die.rows).flat_map(|row| (0..die.columns).map(move |column| Stop { column, row }));
        let sides = MeshRing::ALL.into_iter().flat_map(|ring| StopSide::ALL.map(|side| (ring, side)));
        let sides: Vec<(MeshRing, StopSide)> = sides.collect();
        stops
            .flat_map(move |stop| sides.clone().into_iter().map(move |(ring, side)| (ring, stop, side)))
            .map(|(ring, stop, side)| (Self::new(die, ring, stop, side), ring, stop, side))
    }

    /// Returns true if the port is that of a link to another stop.
    #[inline]
    pub(super) fn is_link(self) -> bool {
        self.0 % StopSide::ALL.len() < StopSide::In as usize
    }

    /// Returns the number of the port.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// Routes between all stops of a die: the ports of each on the first ring, and the cycles to them.
#[derive(Clone, Debug, Default)]
pub(super) struct MeshRoutes {
    /// Index of the first port of each route, by the numbers of the two stops, and at last the number of all ports.
    first: Vec<u32>,
    /// Ports of all routes, and the cycles to each from the start of its route.
    ports: Vec<(u32, u32)>,
}

impl MeshRoutes {
    pub(super) fn new(die: &DieParams) -> Self {
        let stops = || (0..die.rows).flat_map(|row| (0..die.columns).map(move |column| Stop { column, row }));
        let mut routes = Self { first: vec![0], ports: Vec::new() };
        for (from, to) in stops().flat_map(|from| stops().map(move |to| (from, to))) {
            let route = MeshRoute { from, to, ring: MeshRing::Request };
            routes.ports.extend(route.ports(die).map(|(port, after)| (port.0 as u32, after as u32)));
            routes.first.push(routes.ports.len() as u32);
        }
        routes
    }

    /// Returns true if the routes are not known, as after a checkpoint.
    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Returns the ports of a route, and the cycles to them.
    pub(super) fn ports(&self, die: &DieParams, route: MeshRoute) -> impl Iterator<Item = (MeshPort, u64)> + '_ {
        let [from, to] = [route.from, route.to].map(|stop| number(die, stop));
        let index = from * usize::from(die.columns) * usize::from(die.rows) + to;
        let ports = &self.ports[self.first[index] as usize..self.first[index + 1] as usize];
        // All rings have the same layout, one after the other.
        let ring = route.ring as usize * StopSide::ALL.len();
        ports.iter().map(move |&(port, after)| (MeshPort(port as usize + ring), u64::from(after)))
    }
}

/// Returns the number of a stop.
fn number(die: &DieParams, stop: Stop) -> usize {
    usize::from(stop.row) * usize::from(die.columns) + usize::from(stop.column)
}

/// Route from stop to stop on a ring: along the column, then along the row.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeshRoute {
    pub(super) from: Stop,
    pub(super) to: Stop,
    pub(super) ring: MeshRing,
}

impl MeshRoute {
    /// Returns the ports on the route, and the cycles from its start to each. A stop has no route to itself.
    fn ports(self, die: &DieParams) -> impl Iterator<Item = (MeshPort, u64)> + '_ {
        let Self { from, to, ring } = self;
        let down = u64::from(die.vertical_cycles);
        let across = u64::from(die.horizontal_cycles);
        let rows = from.row.abs_diff(to.row);
        let columns = from.column.abs_diff(to.column);
        let vertical = if to.row < from.row { StopSide::North } else { StopSide::South };
        let horizontal = if to.column < from.column { StopSide::West } else { StopSide::East };
        let at = move |stop: Stop, side: StopSide, after: u64| (MeshPort::new(die, ring, stop, side), after);
        let first = (from != to).then(|| at(from, StopSide::In, 0));
        let along_column = (0..rows).map(move |hop| {
            let row = if vertical == StopSide::North { from.row - hop } else { from.row + hop };
            at(Stop { row, ..from }, vertical, u64::from(hop) * down)
        });
        let turned = u64::from(rows) * down;
        let along_row = (0..columns).map(move |hop| {
            let column = if horizontal == StopSide::West { from.column - hop } else { from.column + hop };
            at(Stop { row: to.row, column }, horizontal, turned + u64::from(hop) * across)
        });
        let last = (from != to).then(|| at(to, StopSide::Out, turned + u64::from(columns) * across));
        first.into_iter().chain(along_column).chain(along_row).chain(last)
    }
}
