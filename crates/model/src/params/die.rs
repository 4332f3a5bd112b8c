//! The die of a socket: where its parts lie on a mesh, and what the mesh carries.

use serde::{Deserialize, Serialize};

/// A stop of the mesh, which parts get onto it at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stop {
    /// Counted from the west.
    pub column: u8,
    /// Counted from the north.
    pub row: u8,
}

/// The mesh that joins the parts of a socket, and their places on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DieParams {
    /// Columns of stops, at least 1.
    pub columns: u8,
    /// Rows of stops, at least 1.
    pub rows: u8,
    /// Where each core is.
    pub cores: Vec<Stop>,
    /// Where each slice of the CHA is.
    pub slices: Vec<Stop>,
    /// Where the memory controller of each channel is.
    pub channels: Vec<Stop>,
    /// Every stop that devices can hang off.
    pub io: Vec<Stop>,
    /// Where the device of each PCIe link of the IIO hangs off: one of `io`.
    pub links: Vec<Stop>,
    /// A cycle of the mesh in ps, at least 1.
    pub cycle_ps: u64,
    /// Cycles from a stop to the next of its column.
    pub vertical_cycles: u32,
    /// Cycles from a stop to the next of its row.
    pub horizontal_cycles: u32,
    /// Cycles that a line of data takes on a link; a message without data takes one.
    pub line_cycles: u32,
    /// Parts of the die with a share of the slices and channels each, whose lines are at home there (sub-NUMA
    /// clustering); 1 = none.
    pub clusters: u8,
}

impl DieParams {
    /// The cluster of a stop: that whose slices are nearest on the mean.
    #[must_use]
    pub fn cluster_of(&self, stop: Stop) -> u8 {
        let each = self.slices.len() / usize::from(self.clusters);
        let far = |cluster: u8| self.mean_ps(&[stop], &self.slices[usize::from(cluster) * each..][..each]);
        (0..self.clusters).min_by_key(|&cluster| far(cluster)).unwrap_or(0)
    }

    /// Cycles from a stop to another with nobody else on the mesh.
    #[must_use]
    pub fn way_cycles(&self, from: Stop, to: Stop) -> u32 {
        let vertical = u32::from(from.row.abs_diff(to.row)) * self.vertical_cycles;
        vertical + u32::from(from.column.abs_diff(to.column)) * self.horizontal_cycles
    }

    /// The mean time from one of some stops to one of others, each with each, in ps.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn mean_ps(&self, from: &[Stop], to: &[Stop]) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| u64::from(self.way_cycles(from, to))));
        ways.sum::<u64>() * self.cycle_ps / (from.len() * to.len()) as u64
    }

    /// How much less than the mean the shortest of these ways takes, in ps.
    #[must_use]
    pub fn nearer_ps(&self, from: &[Stop], to: &[Stop]) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| u64::from(self.way_cycles(from, to))));
        self.mean_ps(from, to) - ways.min().unwrap_or(0) * self.cycle_ps
    }
}
