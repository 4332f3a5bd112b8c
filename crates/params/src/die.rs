//! Keys and parameters of the mesh of a die.

use super::chiplets::ChipletsParams;
use super::values::{Frequency, Size};
use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Mesh between the parts of a socket. Without this table all parts are at a mean distance, and their links have
/// unlimited bandwidth. All sockets of a server have the same die.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DieSpec {
    /// Map of the die: a built-in one, by its name, or a CSV file with the columns part, column and row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<String>,
    /// Map of the die, in place of its name: column and row of every part, such as core0, cha0, imc0 and iio0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub map: Option<BTreeMap<String, PlaceSpec>>,
    /// Clock of the mesh (frequency).
    #[serde(default = "clock")]
    #[schemars(extend("x-min" = "100 MHz", "x-max" = "10 GHz"))]
    pub clock: Frequency,
    /// Cycles per hop along a column.
    #[serde(default = "vertical")]
    #[schemars(range(min = 0, max = 16))]
    pub vertical: u32,
    /// Cycles per hop along a row.
    #[serde(default = "horizontal")]
    #[schemars(range(min = 0, max = 16))]
    pub horizontal: u32,
    /// Width of a link: bytes of a line per cycle in each direction (size).
    #[serde(default = "link")]
    #[schemars(extend("x-min" = "1 B", "x-max" = "64 B"))]
    pub link: Size,
    /// Sub-NUMA clusters, each with private slices and channels for its memory: 1 (no clustering), 2 or 4.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 4))]
    pub clusters: u8,
    /// Mesh stop of the NIC, such as "iio1"; the first when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<String>,
    /// Mesh stop of the drives, or a list of stops used round robin; all stops round robin when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drives: Option<StopsSpec>,
}

/// Column and row of a mesh stop, counted from the north-west.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PlaceSpec(pub [u8; 2]);

fn clock() -> Frequency {
    Frequency(2_400_000_000)
}

fn vertical() -> u32 {
    1
}

fn horizontal() -> u32 {
    2
}

fn link() -> Size {
    Size(32)
}

fn one() -> u8 {
    1
}

/// One mesh stop, or several used round robin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum StopsSpec {
    /// One stop.
    One(String),
    /// Several stops, used round robin.
    Several(Vec<String>),
}

impl StopsSpec {
    /// Returns the stops.
    pub fn all(&self) -> &[String] {
        match self {
            Self::One(stop) => std::slice::from_ref(stop),
            Self::Several(stops) => stops,
        }
    }
}

impl JsonSchema for StopsSpec {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "StopsSpec".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let stop = json_schema!({ "type": "string", "examples": ["iio0"] });
        json_schema!({
            "anyOf": [stop, { "type": "array", "items": stop, "minItems": 1, "maxItems": 64 }]
        })
    }
}

/// Mesh stop, where parts attach to the mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stop {
    /// Column, counted from the west.
    pub column: u8,
    /// Row, counted from the north.
    pub row: u8,
}

/// Mesh between the parts of a socket, and their positions on it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DieParams {
    /// Columns of stops, at least 1.
    pub columns: u8,
    /// Rows of stops, at least 1.
    pub rows: u8,
    /// Mesh stop of each core.
    pub cores: Vec<Stop>,
    /// Mesh stop of each slice of the CHA.
    pub slices: Vec<Stop>,
    /// Mesh stop of the memory controller of each channel.
    pub channels: Vec<Stop>,
    /// Mesh stops that devices can attach to.
    pub io: Vec<Stop>,
    /// Mesh stop of the device on each PCIe link of the IIO, one of `io`.
    pub links: Vec<Stop>,
    /// Cycle time of the mesh in ps, at least 1.
    pub cycle_ps: u64,
    /// Cycles per hop along a column.
    pub vertical_cycles: u32,
    /// Cycles per hop along a row.
    pub horizontal_cycles: u32,
    /// Cycles that a line of data occupies a link; a message without data occupies it for one.
    pub line_cycles: u32,
    /// Sub-NUMA clusters, each with an equal share of the slices and channels, which its lines are homed at; 1 = no
    /// clustering.
    pub clusters: u8,
    /// Core dies around this one, which is then an IO die; `None` if the cores are on it.
    pub chiplets: Option<ChipletsParams>,
}

impl DieParams {
    /// Returns the cluster of a stop: the one with the smallest mean distance to its slices.
    #[must_use]
    pub fn cluster_of(&self, stop: Stop) -> u8 {
        // Slices are numbered cluster by cluster.
        let each = self.slices.len() / usize::from(self.clusters);
        let far = |cluster: u8| self.mean_ps(&[stop], &self.slices[usize::from(cluster) * each..][..each]);
        (0..self.clusters).min_by_key(|&cluster| far(cluster)).unwrap_or(0)
    }

    /// Returns the latency of a route on an idle mesh, in cycles.
    #[must_use]
    pub fn route_cycles(&self, from: Stop, to: Stop) -> u32 {
        let vertical = u32::from(from.row.abs_diff(to.row)) * self.vertical_cycles;
        vertical + u32::from(from.column.abs_diff(to.column)) * self.horizontal_cycles
    }

    /// Returns the mean time between the stops `from` and the stops `to` over all pairs, in ps; 0 without any.
    #[must_use]
    pub fn mean_ps(&self, from: &[Stop], to: &[Stop]) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| u64::from(self.route_cycles(from, to))));
        // A socket of memory alone has no cores.
        ways.sum::<u64>() * self.cycle_ps / (from.len() * to.len()).max(1) as u64
    }

    /// Returns the time to subtract from every route between `from` and `to`, in ps, so that messages take `delay_ps`
    /// on average over all pairs. No message takes less than 1 ps, so the result exceeds the mean route where short
    /// routes are clamped.
    ///
    /// # Panics
    /// Panics if `from` or `to` is empty.
    #[must_use]
    pub fn kept_ps(&self, from: &[Stop], to: &[Stop], delay_ps: u64) -> u64 {
        let ways = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        let ways: Vec<u64> = ways.map(|(from, to)| u64::from(self.route_cycles(from, to)) * self.cycle_ps).collect();
        let wanted = delay_ps.max(1) * ways.len() as u64;
        let sum = |less: u64| ways.iter().map(|&way| (delay_ps + way).saturating_sub(less).max(1)).sum::<u64>();
        let (mut low, mut high) = (0, delay_ps + ways.iter().max().copied().unwrap_or(0));
        // Binary search for the least reduction that brings the sum of the clamped delays down to the requested mean.
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

    /// Returns how much shorter than the mean route the shortest route is, in ps.
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
                chiplets: None,
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
