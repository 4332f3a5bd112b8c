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
    pub fn route_cycles(&self, from: Stop, to: Stop) -> u32 {
        let vertical = u32::from(from.row.abs_diff(to.row)) * self.vertical_cycles;
        vertical + u32::from(from.column.abs_diff(to.column)) * self.horizontal_cycles
    }

    /// The mean time from one of some stops to one of others, each with each, in ps.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn mean_ps(&self, from: &[Stop], to: &[Stop]) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| u64::from(self.route_cycles(from, to))));
        ways.sum::<u64>() * self.cycle_ps / (from.len() * to.len()) as u64
    }

    /// What to take off the way between two of these, each with each, so that messages take `delay_ps` on the mean and
    /// none less than 1 ps: the mean way, or more where short ways are cut off.
    ///
    /// # Panics
    /// If there are none.
    #[must_use]
    pub fn kept_ps(&self, from: &[Stop], to: &[Stop], delay_ps: u64) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        let ways: Vec<u64> = ways.map(|(from, to)| u64::from(self.route_cycles(from, to)) * self.cycle_ps).collect();
        let wanted = delay_ps.max(1) * ways.len() as u64;
        let sum = |less: u64| ways.iter().map(|&way| (delay_ps + way).saturating_sub(less).max(1)).sum::<u64>();
        let (mut low, mut high) = (0, delay_ps + ways.iter().max().copied().unwrap_or(0));
        while low < high {
            let middle = low.midpoint(high);
            if sum(middle) <= wanted {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }

    /// How much less than the mean the shortest of these ways takes, in ps.
    #[must_use]
    pub fn nearer_ps(&self, from: &[Stop], to: &[Stop]) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| u64::from(self.route_cycles(from, to))));
        self.mean_ps(from, to) - ways.min().unwrap_or(0) * self.cycle_ps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stops(places: &[(u8, u8)]) -> Vec<Stop> {
        places.iter().map(|&(column, row)| Stop { column, row }).collect()
    }

    proptest! {
        #[test]
        fn delays_are_kept_on_the_mean(
            from in prop::collection::vec((0u8..8, 0u8..8), 1..10),
            to in prop::collection::vec((0u8..8, 0u8..8), 1..10),
            delay_ps in 1u64..20_000,
            cycle_ps in 1u64..1000,
        ) {
            let (from, to) = (stops(&from), stops(&to));
            let die = DieParams {
                columns: 8, rows: 8, cores: from.clone(), slices: to.clone(), channels: Vec::new(), io: Vec::new(),
                links: Vec::new(), cycle_ps, vertical_cycles: 1, horizontal_cycles: 2, line_cycles: 2, clusters: 1,
            };
            let kept_ps = die.kept_ps(&from, &to, delay_ps);
            let pairs = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
            let of = |(from, to)| u64::from(die.route_cycles(from, to)) * cycle_ps;
            let all: Vec<u64> = pairs.map(|pair| (delay_ps + of(pair)).saturating_sub(kept_ps).max(1)).collect();
            let mean = all.iter().sum::<u64>() as f64 / all.len() as f64;
            prop_assert!((mean - delay_ps as f64).abs() <= 1.0, "{mean} ps for {delay_ps}");
            prop_assert!(kept_ps + 1 >= die.mean_ps(&from, &to), "what is cut off is taken from the others");
            if delay_ps > die.nearer_ps(&from, &to) {
                prop_assert!(kept_ps <= die.mean_ps(&from, &to) + 1);
            }
        }
    }
}
