//! Where things are on a chip: cores, slices, what of the network interfaces is at the edge, memory controllers.

mod mesh;
mod noc_out;

use crate::{ChipParams, Home, Interleave, Shape};
use hostnet_kernel::mix;
use hostnet_noc::{deadlock, Layout, NocError, Place, Router, Routes, Terminal};
use serde::{Deserialize, Serialize};

/// Who gets a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Unit {
    /// A core with its L1, and what of an NI is in its tile.
    Core(u16),
    /// A slice of the LLC with its directory.
    Slice(u16),
    /// What of the NIs is at the edge: a port of the network between chips, too.
    Edge(u16),
    /// A memory controller.
    Memory(u16),
}

/// The first line of data; those below are of queues.
pub(crate) const DATA_LINES: u64 = 1 << 24;
/// Lines of the queues of a core: a page, so that they are at home everywhere.
pub(crate) const QUEUE_LINES: u64 = 64;
const PAGE_LINES: u64 = 64;
/// What the hash of a line's home has in it, so that it tells nothing of the controller.
const HOMES: u64 = 0x686f_6d65;

/// Where things are on the chip.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Floor {
    cores: u16,
    slices: u16,
    edges: u16,
    /// First terminal of the slices (those of the cores in a mesh), of the edge and of the memory controllers.
    first_slice: u16,
    first_edge: u16,
    first_memory: u16,
    memories: u16,
    interleave: Interleave,
    home: Home,
}

impl Floor {
    /// The network of a chip, its routes, and where things are.
    ///
    /// # Errors
    /// When virtual channels do not suffice, or messages may wait for each other in a circle.
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

    /// The terminal of a unit.
    #[must_use]
    pub fn terminal(&self, unit: Unit) -> u16 {
        match unit {
            Unit::Core(index) => index,
            Unit::Slice(index) => self.first_slice + index,
            Unit::Edge(index) => self.first_edge + index,
            Unit::Memory(index) => self.first_memory + index,
        }
    }

    /// The slice that a line is at home in.
    #[must_use]
    pub fn home(&self, line: u64) -> u16 {
        let number = match self.home {
            Home::PageOffset => line,
            Home::Hash => mix(line ^ HOMES),
        };
        (number % u64::from(self.slices)) as u16
    }

    /// The memory controller of a line.
    #[must_use]
    pub fn memory(&self, line: u64) -> u16 {
        let controllers = u64::from(self.memories);
        match self.interleave {
            Interleave::Line => (mix(line) % controllers) as u16,
            Interleave::Page => (mix(line / PAGE_LINES) % controllers) as u16,
            Interleave::Row => self.rrpp(line),
        }
    }

    /// The RRPP that serves remote requests for a line: that nearest to its home.
    #[must_use]
    pub fn rrpp(&self, line: u64) -> u16 {
        self.home(line) / (self.slices / self.edges)
    }

    /// What of the edge serves a core.
    #[must_use]
    pub fn edge_of(&self, core: u16) -> u16 {
        core / self.cores_per_edge()
    }

    /// Cores that a part of the edge serves; they are numbered one after the other.
    #[must_use]
    pub fn cores_per_edge(&self) -> u16 {
        self.cores / self.edges
    }

    /// Parts of the edge.
    #[must_use]
    pub fn edges(&self) -> u16 {
        self.edges
    }

    /// Slices of the LLC.
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
