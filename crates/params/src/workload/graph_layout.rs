//! Memory layout of graph programs.

use super::app_layout::{Arena, PageTables};
use super::threads::{GraphParams, WalkParams};
use crate::line_size::LINE_BYTES;

/// Bytes of a node number.
pub const GRAPH_NODE_BYTES: u64 = 4;

/// Bytes of the pointer to the neighbours of a node.
pub const GRAPH_POINTER_BYTES: u64 = 8;

/// Bytes of a score, of a contribution to it, or of a dependency.
pub const GRAPH_SCORE_BYTES: u64 = 4;

/// Bytes of a path count, which is a double.
pub const PATH_COUNT_BYTES: u64 = 8;

/// Addresses of the structures of a graph program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphLayout {
    /// Address of the CSR index array, which points to the neighbours of each node.
    pub index: u64,
    /// Address of the CSR adjacency array, which holds the neighbours of each node.
    pub rows: u64,
    /// Addresses of the per-node (or per-edge) arrays of the program.
    pub arrays: Vec<u64>,
    /// Page tables of all structures; `None` = all translations hit the TLB.
    pub tables: Option<PageTables>,
    /// Bytes of all structures.
    pub bytes: u64,
}

impl GraphParams {
    /// Lays out the graph, scores and contributions of PageRank from virtual address `base` on, a multiple of 4096.
    #[must_use]
    pub fn pagerank_layout(&self, base: u64, walks: Option<&WalkParams>) -> GraphLayout {
        self.layout(base, walks, &[8 * GRAPH_SCORE_BYTES, 8 * GRAPH_SCORE_BYTES])
    }

    /// Lays out the graph and arrays of betweenness centrality from virtual address `base` on, a multiple of 4096:
    /// depths, path counts, dependencies, scores, the queue, and a bit per edge for the successors.
    #[must_use]
    pub fn betweenness_layout(&self, base: u64, walks: Option<&WalkParams>) -> GraphLayout {
        let (node, count, score) = (8 * GRAPH_NODE_BYTES, 8 * PATH_COUNT_BYTES, 8 * GRAPH_SCORE_BYTES);
        self.layout(base, walks, &[node, count, score, score, node, self.neighbours()])
    }

    /// Returns the neighbours per node. Every edge counts at both ends.
    #[must_use]
    pub fn neighbours(&self) -> u64 {
        2 * u64::from(self.degree)
    }

    /// Lays out the graph, and arrays with elements of the given sizes in bits, one element per node.
    fn layout(&self, base: u64, walks: Option<&WalkParams>, bits: &[u64]) -> GraphLayout {
        let mut arena = Arena::new(base);
        let nodes = 1_u64 << self.scale;
        let index = arena.place(nodes + 1, GRAPH_POINTER_BYTES);
        // Two lines more than the edges take: rows are shifted, and the next line is loaded ahead.
        let rows = arena.place(nodes * self.neighbours() + 2 * LINE_BYTES / GRAPH_NODE_BYTES, GRAPH_NODE_BYTES);
        let arrays = bits.iter().map(|bits| arena.place(nodes * bits / 8, 1)).collect();
        let tables = arena.place_tables(walks);
        GraphLayout { index, rows, arrays, tables, bytes: arena.bytes() }
    }
}
