//! Uniform random graph that is computed instead of stored, and the layout of its structures.
//!
//! The neighbour at the end of an edge is a hash of the edge number, distributed as evenly as in a sampled graph.
//! Every node has the mean number of neighbours.

use super::layout::{Arena, Walks};
use crate::params::{AppParams, GraphParams};
use serde::{Deserialize, Serialize};

/// Bytes of a node number.
pub(super) const NODE: u64 = 4;

/// Bytes of the pointer to the neighbours of a node.
pub(super) const POINTER: u64 = 8;

/// Graph in compressed sparse rows (CSR).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Graph {
    scale: u32,
    /// Neighbours per node. Every edge counts at both ends.
    pub(super) neighbours: u64,
    index: u64,
    rows: u64,
    seed: u64,
}

impl Graph {
    pub(super) fn new(params: &GraphParams, arena: &mut Arena) -> Self {
        let nodes = 1_u64 << params.scale;
        let neighbours = 2 * u64::from(params.degree);
        let index = arena.place(nodes + 1, POINTER);
        // Two lines more than the edges take: rows are shifted, and the next line is loaded ahead.
        let rows = arena.place(nodes * neighbours + 2 * super::layout::LINE / NODE, NODE);
        Self { scale: params.scale, neighbours, index, rows, seed: nodes ^ (neighbours << 40) }
    }

    pub(super) fn nodes(&self) -> u64 {
        1 << self.scale
    }

    /// Returns the address of the pointer to a node's row.
    pub(super) fn pointer(&self, node: u64) -> u64 {
        self.index + node * POINTER
    }

    /// Returns the address of the neighbour number of an edge.
    pub(super) fn edge(&self, edge: u64) -> u64 {
        self.rows + edge * NODE
    }

    /// Returns the node at the end of an edge.
    pub(super) fn neighbour(&self, edge: u64) -> u64 {
        // The upper bits of the hash are a node number.
        mix(edge ^ self.seed) >> (64 - self.scale)
    }

    /// Returns the address of a node's row. Rows of sampled graphs differ in length, so rows begin anywhere in a
    /// line.
    pub(super) fn row(&self, node: u64) -> u64 {
        // 0 to 15, the node numbers of a line.
        let shift = mix(node ^ !self.seed) >> 60;
        self.rows + (node * self.neighbours + shift) * NODE
    }
}

/// Returns `value` mixed by the finaliser of splitmix64.
pub(super) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Arrays of a graph program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Arrays {
    pub(super) graph: Graph,
    bases: Vec<u64>,
    pub(super) walks: Option<Walks>,
    pub(super) bytes: u64,
}

impl Arrays {
    /// Lays out the graph, and arrays with elements of the given sizes in bits, one element per node.
    pub(super) fn new(params: &AppParams, graph: &GraphParams, base: u64, bits: &[u64]) -> Self {
        let mut arena = Arena::new(base);
        let nodes = 1_u64 << graph.scale;
        let graph = Graph::new(graph, &mut arena);
        let bases = bits.iter().map(|bits| arena.place(nodes * bits / 8, 1)).collect();
        let walks = arena.walks(params.walks.as_ref());
        Self { graph, bases, walks, bytes: arena.bytes() }
    }

    /// Returns the address of a node's element of `bytes` bytes in an array.
    pub(super) fn element(&self, array: usize, node: u64, bytes: u64) -> u64 {
        self.bases[array] + node * bytes
    }
}
