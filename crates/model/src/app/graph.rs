//! A uniform random graph that nobody stores, and its structures in memory.
//!
//! Neighbours are hashes of the number of an edge, as even as those of a drawn graph. Every node has the mean number of
//! them.

use super::layout::{Arena, Walks};
use crate::params::{AppParams, GraphParams};
use serde::{Deserialize, Serialize};

/// Bytes of the number of a node.
pub(super) const NODE: u64 = 4;

/// Bytes of a pointer to the neighbours of a node.
pub(super) const POINTER: u64 = 8;

/// The graph as compressed sparse rows (CSR).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Graph {
    scale: u32,
    /// Neighbours of a node: every edge counts at both of its ends.
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
        let rows = arena.place(nodes * neighbours + 2 * super::layout::LINE / NODE, NODE);
        Self { scale: params.scale, neighbours, index, rows, seed: nodes ^ (neighbours << 40) }
    }

    pub(super) fn nodes(&self) -> u64 {
        1 << self.scale
    }

    /// Where the pointer to the row of a node lies.
    pub(super) fn pointer(&self, node: u64) -> u64 {
        self.index + node * POINTER
    }

    /// Where the number of the neighbour at the end of an edge lies.
    pub(super) fn edge(&self, edge: u64) -> u64 {
        self.rows + edge * NODE
    }

    /// The node at the end of an edge.
    pub(super) fn neighbour(&self, edge: u64) -> u64 {
        mix(edge ^ self.seed) >> (64 - self.scale)
    }

    /// Where the row of a node begins: rows of drawn graphs differ in length, so that they begin anywhere in a line.
    pub(super) fn row(&self, node: u64) -> u64 {
        let shift = mix(node ^ !self.seed) >> 60;
        self.rows + (node * self.neighbours + shift) * NODE
    }
}

/// The finaliser of splitmix64.
pub(super) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// The arrays of a program over a graph.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Arrays {
    pub(super) graph: Graph,
    bases: Vec<u64>,
    pub(super) walks: Option<Walks>,
    pub(super) bytes: u64,
}

impl Arrays {
    /// The graph, and arrays with elements of so many bits for every node.
    pub(super) fn new(params: &AppParams, graph: &GraphParams, base: u64, bits: &[u64]) -> Self {
        let mut arena = Arena::new(base);
        let nodes = 1_u64 << graph.scale;
        let graph = Graph::new(graph, &mut arena);
        let bases = bits.iter().map(|bits| arena.place(nodes * bits / 8, 1)).collect();
        let walks = arena.walks(params.walks.as_ref());
        Self { graph, bases, walks, bytes: arena.bytes() }
    }

    /// Where the element of `bytes` of a node lies in an array.
    pub(super) fn element(&self, array: usize, node: u64, bytes: u64) -> u64 {
        self.bases[array] + node * bytes
    }
}
