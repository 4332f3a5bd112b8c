//! Synthetic traffic: patterns and rates.

use crate::{Layout, NocError};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Destination pattern of synthetic traffic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pattern {
    /// Any terminal, the source included, with equal probability.
    Uniform,
    /// From column x and row y to column y and row x. The numbers of columns and rows must be equal.
    Transpose,
    /// The terminal number with every bit inverted. The number of terminals must be a power of two.
    BitComplement,
    /// The terminal number with its bits reversed. The number of terminals must be a power of two.
    BitReverse,
    /// The terminal number with its bits rotated up by one. The number of terminals must be a power of two.
    Shuffle,
    /// Almost half of the columns to the east, cyclically; on a ring, almost half of the way around.
    Tornado,
    /// The next column to the east, cyclically; on a ring, the next terminal.
    Neighbor,
    /// Any of these terminals, with equal probability.
    Hotspot(Vec<u16>),
}

/// Traffic in which every terminal creates packets as a Bernoulli process, by cycle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Destination pattern.
    pub pattern: Pattern,
    /// Offered load in flits per terminal and cycle, above 0 and at most 1.
    pub rate: f64,
    /// Flits of a packet, 1 to 1024.
    pub packet_flits: u16,
    /// Seed of the random numbers.
    pub seed: u64,
}

/// Destinations of each terminal.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Destinations {
    /// Any of these terminals, from every source.
    Any(Vec<u16>),
    /// One destination for every source.
    Each(Vec<u16>),
}

impl Destinations {
    pub(crate) fn new(pattern: &Pattern, layout: &Layout) -> Result<Self, NocError> {
        let count = layout.terminals.len() as u16;
        match pattern {
            Pattern::Uniform => Ok(Self::Any((0..count).collect())),
            Pattern::Hotspot(nodes) => hotspots(nodes, count),
            Pattern::Tornado if layout.ring => Ok(Self::Each(around(count, tornado_steps(count)))),
            Pattern::Neighbor if layout.ring => Ok(Self::Each(around(count, 1))),
            Pattern::Transpose | Pattern::Tornado | Pattern::Neighbor => by_place(pattern, layout),
            Pattern::BitComplement => by_bits(count, "bit-complement", |node, bits| !node & ((1 << bits) - 1)),
            // 16 - bits: the number is reversed in a word of 16 bits.
            Pattern::BitReverse => by_bits(count, "bit-reverse", |node, bits| node.reverse_bits() >> (16 - bits)),
            Pattern::Shuffle => {
                let turned = |node: u16, bits: u32| (node << 1 | node >> (bits - 1)) & ((1 << bits) - 1);
                by_bits(count, "shuffle", turned)
            }
        }
    }

    #[inline]
    pub(crate) fn draw(&self, source: u16, rng: &mut Rng) -> u16 {
        match self {
            Self::Any(all) => all[rng.below(all.len() as u64) as usize],
            Self::Each(one) => one[usize::from(source)],
        }
    }

    /// Returns the destinations of a terminal, which are equally likely.
    pub(crate) fn of(&self, source: u16) -> &[u16] {
        match self {
            Self::Any(all) => all,
            Self::Each(one) => std::slice::from_ref(&one[usize::from(source)]),
        }
    }
}

fn hotspots(nodes: &[u16], count: u16) -> Result<Destinations, NocError> {
    if nodes.is_empty() {
        return Err(NocError::new("hotspots", "missing; name at least one terminal"));
    }
    if let Some(node) = nodes.iter().find(|node| **node >= count) {
        return Err(NocError::new("hotspots", format!("{node} is no terminal; they are 0 to {}", count - 1)));
    }
    Ok(Destinations::Any(nodes.to_vec()))
}

/// Returns the terminal `steps` ahead of each one on a ring.
fn around(count: u16, steps: u16) -> Vec<u16> {
    (0..count).map(|node| (node + steps) % count).collect()
}

/// Returns the steps of the tornado pattern among `count` places: ceil(k / 2) - 1, the longest distance that has one
/// shortest direction (Dally and Towles).
fn tornado_steps(count: u16) -> u16 {
    count.div_ceil(2) - 1
}

fn by_bits(count: u16, name: &str, turn: impl Fn(u16, u32) -> u16) -> Result<Destinations, NocError> {
    if count < 2 || !count.is_power_of_two() {
        let rule = format!("{name} needs a number of terminals that is a power of two, and there are {count}");
        return Err(NocError::new("pattern", rule));
    }
    let bits = count.trailing_zeros();
    Ok(Destinations::Each((0..count).map(|node| turn(node, bits)).collect()))
}

fn by_place(pattern: &Pattern, layout: &Layout) -> Result<Destinations, NocError> {
    let columns = layout.terminals.iter().map(|one| one.place.column + 1).max().unwrap_or(1);
    let rows = layout.terminals.iter().map(|one| one.place.row + 1).max().unwrap_or(1);
    if *pattern == Pattern::Transpose && columns != rows {
        let rule = format!("transpose needs as many columns as rows, and there are {columns} and {rows}");
        return Err(NocError::new("pattern", rule));
    }
    let find = |column: u16, row: u16| {
        let found = layout.terminals.iter().position(|one| (one.place.column, one.place.row) == (column, row));
        let missing = || NocError::new("pattern", format!("there is no terminal at column {column}, row {row}"));
        found.map(|index| index as u16).ok_or_else(missing)
    };
    let turned = layout.terminals.iter().map(|one| {
        let (column, row) = (one.place.column, one.place.row);
        match pattern {
            Pattern::Transpose => find(row, column),
            Pattern::Tornado => find((column + tornado_steps(columns)) % columns, row),
            _ => find((column + 1) % columns, row),
        }
    });
    Ok(Destinations::Each(turned.collect::<Result<_, _>>()?))
}
