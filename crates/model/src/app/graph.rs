//! Uniform random graph that is computed instead of stored, and the structures that programs keep beside it.
//!
//! The neighbour at the end of an edge is a hash of the edge number, distributed as evenly as in a sampled graph.
//! Every node has the mean number of neighbours.

use super::memory::Walks;
use crate::params::{AppParams, GraphLayout, GraphParams, GRAPH_NODE_BYTES, GRAPH_POINTER_BYTES};
use serde::{Deserialize, Serialize};

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
    fn new(params: &GraphParams, layout: &GraphLayout) -> Self {
        let (scale, neighbours) = (params.scale, params.neighbours());
        let seed = (1_u64 << scale) ^ (neighbours << 40);
        Self { scale, neighbours, index: layout.index, rows: layout.rows, seed }
    }

    pub(super) fn nodes(&self) -> u64 {
        1 << self.scale
    }

    /// Returns the address of the pointer to a node's row.
    pub(super) fn pointer(&self, node: u64) -> u64 {
        self.index + node * GRAPH_POINTER_BYTES
    }

    /// Returns the address of the neighbour number of an edge.
    pub(super) fn edge(&self, edge: u64) -> u64 {
        self.rows + edge * GRAPH_NODE_BYTES
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
        self.rows + (node * self.neighbours + shift) * GRAPH_NODE_BYTES
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
}

impl Arrays {
    /// Creates the graph and the arrays of a program at the addresses of `layout`.
    pub(super) fn new(params: &AppParams, graph: &GraphParams, layout: GraphLayout) -> Self {
        let graph = Graph::new(graph, &layout);
        Self { graph, walks: Walks::new(params.walks.as_ref(), layout.tables), bases: layout.arrays }
    }

    /// Returns the address of a node's element of `bytes` bytes in an array.
    pub(super) fn element(&self, array: usize, node: u64, bytes: u64) -> u64 {
        self.bases[array] + node * bytes
    }
}
