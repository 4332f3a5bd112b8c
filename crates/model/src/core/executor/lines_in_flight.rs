//! Lines in flight to the L2 of a core, requested by accesses or by its prefetchers.

use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};

/// Number that stands for no line in flight.
pub(super) const NO_LINE_IN_FLIGHT: u16 = u16::MAX;

/// Marks a slot without a line.
const FREE: u64 = u64::MAX;

/// Line in flight.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct LineInFlight {
    /// True if a prefetcher requested the line, which then holds a prefetch credit.
    pub(super) prefetch: bool,
    /// Time since which an access waits for the line and holds an LFB entry, if one does.
    pub(super) demand: Option<Time>,
    /// True if a store waits for the line.
    pub(super) store: bool,
    /// Number of the first load that waits for the line.
    pub(super) load: Option<u64>,
    /// True if more loads wait for the line.
    pub(super) several: bool,
}

/// All lines in flight to one L2.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct LinesInFlight {
    lines: Vec<u64>,
    lines_in_flight: Vec<LineInFlight>,
    free: Vec<u16>,
}

impl LinesInFlight {
    /// Creates a table with room for `capacity` lines.
    pub(super) fn new(capacity: u32) -> Self {
        Self {
            lines: vec![FREE; capacity as usize],
            lines_in_flight: vec![LineInFlight::default(); capacity as usize],
            free: (0..capacity as u16).rev().collect(),
        }
    }

    /// Returns the number of a line in flight.
    pub(super) fn find(&self, line: u64) -> Option<u16> {
        // A linear search: there are no more lines than LFB entries and prefetch credits.
        self.lines.iter().position(|&other| other == line).map(|index| index as u16)
    }

    /// Adds a line and returns its number. Every line holds a credit, so there is room.
    pub(super) fn add(&mut self, line: u64, flight: LineInFlight) -> u16 {
        let index = self.free.pop().expect("a line on its way holds a credit");
        self.lines[usize::from(index)] = line;
        self.lines_in_flight[usize::from(index)] = flight;
        index
    }

    pub(super) fn get_mut(&mut self, index: u16) -> &mut LineInFlight {
        &mut self.lines_in_flight[usize::from(index)]
    }

    /// Removes a line that has arrived.
    pub(super) fn take(&mut self, index: u16) -> LineInFlight {
        self.lines[usize::from(index)] = FREE;
        self.free.push(index);
        self.lines_in_flight[usize::from(index)]
    }
}
