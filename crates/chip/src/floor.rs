//! Where things are: tiles, network interfaces at one edge, memory controllers at the other.

use crate::{ChipParams, Interleave};
use hostnet_kernel::mix;
use hostnet_noc::topology::{mesh_next, mesh_routers};
use hostnet_noc::{deadlock, Layout, NocError, Place, Routes, Terminal, Way};
use serde::{Deserialize, Serialize};

/// Who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// A core with its L1, and what of an NI is in its tile.
    Core(u16),
    /// A slice of the LLC with its directory.
    Slice(u16),
    /// What of the NIs is at the edge, in a row.
    Edge(u16),
    /// A memory controller.
    Memory(u16),
}

/// The first line of data; those below are of queues.
pub(crate) const DATA_LINES: u64 = 1 << 24;
/// Lines of the queues of a core: a page, so that they are at home everywhere.
pub(crate) const QUEUE_LINES: u64 = 64;
const PAGE_LINES: u64 = 64;

/// Where things are on the chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    tiles: u16,
    columns: u16,
    rows: u16,
    interleave: Interleave,
}

impl Floor {
    /// The mesh of a chip, its routes, and where things are.
    ///
    /// # Errors
    /// When a size is out of range, virtual channels do not suffice, or messages may wait for each other in a circle.
    pub fn new(params: &ChipParams) -> Result<(Self, Layout, Routes), NocError> {
        let (columns, rows) = (params.columns, params.rows);
        let (mut layout, ports) = mesh_routers(columns, rows, &params.router);
        let router = params.router;
        let terminal = |layout: &mut Layout, router_index: u16, place: Place| {
            let at = layout.port(router_index);
            layout.terminals.push(Terminal {
                at,
                place,
                in_cycles: router.entry_cycles(),
                out_cycles: router.hop_cycles(),
                credit_cycles: u32::from(router.credit_cycles),
            });
        };
        for index in 0..columns * rows {
            let place = layout.routers[usize::from(index)];
            terminal(&mut layout, index, place);
        }
        for row in 0..rows {
            terminal(&mut layout, row * columns, Place { column: 0, row });
        }
        for row in 0..rows {
            terminal(&mut layout, row * columns + columns - 1, Place { column: columns - 1, row });
        }
        let next = |at: u16, to: u16, column_first: bool| {
            let to = layout.terminals[usize::from(to)].at.router;
            let side = mesh_next(layout.routers[usize::from(at)], layout.routers[usize::from(to)], column_first);
            (ports[usize::from(at)][side], Way::All)
        };
        let routes = Routes::new(&layout, &params.classes(), &next)?;
        if let Some(circle) = deadlock::cycle(&layout, &routes) {
            let circle = deadlock::describe(&layout, &circle);
            return Err(NocError::new("routing", format!("messages may wait for each other in a circle: {circle}")));
        }
        let floor = Self { tiles: columns * rows, columns, rows, interleave: params.interleave };
        Ok((floor, layout, routes))
    }

    /// The terminal of a unit.
    #[must_use]
    pub fn terminal(&self, unit: Unit) -> u16 {
        match unit {
            Unit::Core(index) | Unit::Slice(index) => index,
            Unit::Edge(row) => self.tiles + row,
            Unit::Memory(row) => self.tiles + self.rows + row,
        }
    }

    /// The slice that a line is at home in: by the bits of its address within a page.
    #[must_use]
    pub fn home(&self, line: u64) -> u16 {
        (line % u64::from(self.tiles)) as u16
    }

    /// The memory controller of a line.
    #[must_use]
    pub fn memory(&self, line: u64) -> u16 {
        let rows = u64::from(self.rows);
        match self.interleave {
            Interleave::Line => (mix(line) % rows) as u16,
            Interleave::Page => (mix(line / PAGE_LINES) % rows) as u16,
            Interleave::Row => self.home(line) / self.columns,
        }
    }

    /// The RRPP that serves remote requests for a line: in the row of its home.
    #[must_use]
    pub fn rrpp(&self, line: u64) -> u16 {
        self.home(line) / self.columns
    }

    /// The row of a tile, whose NI serves it.
    #[must_use]
    pub fn row(&self, tile: u16) -> u16 {
        tile / self.columns
    }

    /// Rows, each with an NI at the edge.
    #[must_use]
    pub fn rows(&self) -> u16 {
        self.rows
    }
}
