//! Floor plan of a chip: places of cores, slices, memory controllers and the edge parts of the network interfaces.

mod mesh;
mod noc_out;

use crate::{ChipParams, Home, Interleave, Shape};
use hostnet_kernel::mix;
use hostnet_noc::{deadlock, Layout, NocError, Place, Router, Routes, Terminal};
use serde::{Deserialize, Serialize};

/// Destination of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// A core with its L1, and the parts of an NI in its tile.
    Core(u16),
    /// A slice of the LLC with its directory.
    Slice(u16),
    /// The parts of the NIs at the edge, including a port of the network between chips.
    Edge(u16),
    /// A memory controller.
    Memory(u16),
}

/// First line of data; the lines below hold queues.
pub(crate) const DATA_LINES: u64 = 1 << 24;
const PAGE_LINES: u64 = 64;
/// Constant in the hash of a line's home, which makes it independent of the hash that selects the controller.
const HOMES: u64 = 0x686f_6d65;

/// Floor plan of a chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FloorPlan {
    cores: u16,
    slices: u16,
    edges: u16,
    /// First terminal of the slices; in a mesh, slices share those of the cores.
    first_slice: u16,
    /// First terminal of the edge.
    first_edge: u16,
    /// First terminal of the memory controllers.
    first_memory: u16,
    memories: u16,
    interleave: Interleave,
    home: Home,
}

impl FloorPlan {
    /// Lays out a chip. Returns the floor plan, the layout of the network and its routes.
    ///
    /// # Errors
    /// Fails if there are too few virtual channels or if the routes could deadlock.
    pub fn new(params: &ChipParams) -> Result<(Self, Layout, Routes), NocError> {
        let (floor, layout, routes) = match params.shape {
            Shape::Mesh => mesh::build(params)?,
            Shape::NocOut => noc_out::build(params)?,
        };
        if let Some(circle) = deadlock::cycle(&layout, &routes) {
            let circle = deadlock::describe(&layout, &circle);
            return Err(NocError::new("routing", format!("messages may wait for each other in a circle: {circle}")));
        }
        Ok((floor, layout, routes))
    }

    /// Returns the terminal of a unit.
    #[must_use]
    pub fn terminal(&self, unit: Unit) -> u16 {
        match unit {
            Unit::Core(index) => index,
            Unit::Slice(index) => self.first_slice + index,
            Unit::Edge(index) => self.first_edge + index,
            Unit::Memory(index) => self.first_memory + index,
        }
    }

    /// Returns the home slice of a line.
    #[must_use]
    pub fn home(&self, line: u64) -> u16 {
        let number = match self.home {
            Home::PageOffset => line,
            // Without the constant home and controller would be correlated: both hash the same line.
            Home::Hash => mix(line ^ HOMES),
        };
        (number % u64::from(self.slices)) as u16
    }

    /// Returns the memory controller of a line.
    #[must_use]
    pub fn memory(&self, line: u64) -> u16 {
        let controllers = u64::from(self.memories);
        match self.interleave {
            Interleave::Line => (mix(line) % controllers) as u16,
            Interleave::Page => (mix(line / PAGE_LINES) % controllers) as u16,
            Interleave::Row => self.rrpp(line),
        }
    }

    /// Returns the remote request pipeline (RRPP) that serves a line: the one nearest to its home.
    #[must_use]
    pub fn rrpp(&self, line: u64) -> u16 {
        // Slices are numbered row by row, so the quotient is the row of the home.
        self.home(line) / (self.slices / self.edges)
    }

    /// Returns the edge part that serves a core.
    #[must_use]
    pub fn edge_of(&self, core: u16) -> u16 {
        core / self.cores_per_edge()
    }

    /// Returns the number of cores that an edge part serves; their numbers are consecutive.
    #[must_use]
    pub fn cores_per_edge(&self) -> u16 {
        self.cores / self.edges
    }

    /// Returns the number of edge units, which hold the edge logic of the network interfaces.
    #[must_use]
    pub fn edges(&self) -> u16 {
        self.edges
    }

    /// Returns the number of slices of the LLC.
    #[must_use]
    pub fn slices(&self) -> u16 {
        self.slices
    }
}

/// Attaches a terminal to a router.
fn attach(layout: &mut Layout, router: u16, place: Place, timing: &Router) {
    let at = layout.port(router);
    layout.terminals.push(Terminal {
        at,
        place,
        in_cycles: timing.entry_cycles(),
        out_cycles: timing.hop_cycles(),
        credit_cycles: u32::from(timing.credit_cycles),
    });
}
