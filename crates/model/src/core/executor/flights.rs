//! Lines on their way to the L2 of a core, asked for by accesses or by its prefetchers.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// No line on its way.
pub(super) const NO_FLIGHT: u16 = u16::MAX;

const FREE: u64 = u64::MAX;

/// A line on its way.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Flight {
    /// Whether a prefetcher asked for it: it holds a credit of theirs.
    pub(super) prefetch: bool,
    /// Since when an access waits for it and holds an LFB entry, if one does.
    pub(super) demand: Option<Time>,
    /// Whether a store waits for it.
    pub(super) store: bool,
    /// The first load that waits for it.
    pub(super) load: Option<u64>,
    /// Whether more loads do.
    pub(super) several: bool,
}

/// All lines on their way to one L2.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Flights {
    lines: Vec<u64>,
    flights: Vec<Flight>,
    free: Vec<u16>,
}

impl Flights {
    /// Room for `capacity` lines.
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            lines: vec![FREE; capacity as usize],
            flights: vec![Flight::default(); capacity as usize],
            free: (0..capacity as u16).rev().collect(),
        }
    }

    /// The number of a line on its way.
    pub(super) fn find(&self, line: u64) -> Option<u16> {
        self.lines.iter().position(|&other| other == line).map(|index| index as u16)
    }

    /// Adds a line; every line holds a credit, so there is room.
    pub(super) fn add(&mut self, line: u64, flight: Flight) -> u16 {
        let index = self.free.pop().expect("a line on its way holds a credit");
        self.lines[usize::from(index)] = line;
        self.flights[usize::from(index)] = flight;
        index
    }

    pub(super) fn get_mut(&mut self, index: u16) -> &mut Flight {
        &mut self.flights[usize::from(index)]
    }

    /// The line is there.
    pub(super) fn take(&mut self, index: u16) -> Flight {
        self.lines[usize::from(index)] = FREE;
        self.free.push(index);
        self.flights[usize::from(index)]
    }
}
