//! PageRank as in GAPBS: every node gathers the contributions of its neighbours.

use super::graph::Arrays;
use super::script::{Piece, Script};
use super::{MemoryBases, Step};
use crate::params::{AppParams, GraphParams, GRAPH_NODE_BYTES, GRAPH_POINTER_BYTES, GRAPH_SCORE_BYTES, LINE_BYTES};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Nodes that a thread takes at a time.
const CHUNK: u64 = 16384;

/// Node numbers, scores or contributions per line.
const PER_LINE: u64 = LINE_BYTES / GRAPH_NODE_BYTES;

/// Pointers per line.
const POINTERS: u64 = LINE_BYTES / GRAPH_POINTER_BYTES;

const SCORE: usize = 0;
const CONTRIBUTION: usize = 1;

/// Thread of PageRank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PageRank {
    arrays: Arrays,
    script: Script,
    work_node: u32,
    work_edge: u32,
    chunk: u64,
    threads: u64,
    node: u64,
    /// First node after the chunk.
    end: u64,
    /// Neighbours of the node that are done.
    edge: u64,
}

impl PageRank {
    pub(super) fn new(
        params: &AppParams,
        graph: &GraphParams,
        thread: u32,
        threads: u32,
        bases: MemoryBases,
        rng: &mut Rng,
    ) -> Self {
        let arrays = Arrays::new(params, graph, graph.pagerank_layout(bases.shared, params.walks.as_ref()));
        let nodes = arrays.graph.nodes();
        // Fewer nodes per chunk on small graphs, so that every thread has some.
        let chunk = CHUNK.min((nodes / u64::from(threads)).max(1));
        let begin = u64::from(thread) % (nodes / chunk) * chunk;
        Self {
            arrays,
            script: Script::new(),
            work_node: graph.node,
            work_edge: graph.edge,
            chunk,
            threads: u64::from(threads),
            // Anywhere in the chunk, as in the middle of a run.
            node: begin + rng.below(chunk),
            end: begin + chunk,
            edge: 0,
        }
    }

    /// Returns the next step.
    #[inline]
    pub fn step(&mut self, rng: &mut Rng) -> Step {
        loop {
            if let Some(step) = self.script.next() {
                return step;
            }
            self.plan(rng);
        }
    }

    /// Plans the visit of one neighbour. No access depends on earlier data: all addresses except those of the gathers
    /// are known in advance, and the core loads neighbour numbers early because it runs ahead of the gathers.
    fn plan(&mut self, rng: &mut Rng) {
        if self.edge == 0 {
            self.script.begin();
            self.enter_node();
        }
        let edge = self.node * self.arrays.graph.neighbours + self.edge;
        if edge % PER_LINE == 0 {
            // One line ahead: the core knows the next neighbour numbers before it needs them.
            self.script.add(Piece::load(self.arrays.graph.edge(edge + PER_LINE), 1));
        }
        let neighbour = self.arrays.graph.neighbour(edge);
        let gather =
            Piece::load(self.arrays.element(CONTRIBUTION, neighbour, GRAPH_SCORE_BYTES), 1).each(self.work_edge);
        self.script.add_random(gather, self.arrays.walks.as_ref(), rng);
        self.edge += 1;
        if self.edge == self.arrays.graph.neighbours {
            self.script.end();
            self.next_node();
        }
    }

    /// Plans the accesses to the index, score and contribution of the node. The score is stored next to the
    /// contribution.
    fn enter_node(&mut self) {
        let mut before = self.work_node;
        let arrays = &self.arrays;
        // Pointers and scores are read in order, so a line is loaded once for all its nodes.
        if self.node % POINTERS == 0 {
            self.script.add(Piece::load(arrays.graph.pointer(self.node), 1).after(std::mem::take(&mut before)));
        }
        if self.node % PER_LINE == 0 {
            self.script.add(Piece::store(arrays.element(SCORE, self.node, GRAPH_SCORE_BYTES), 1));
            self.script.add(Piece::store(arrays.element(CONTRIBUTION, self.node, GRAPH_SCORE_BYTES), 1));
        }
        self.script.add(Piece::load(0, 0).after(before));
    }

    fn next_node(&mut self) {
        self.edge = 0;
        self.node += 1;
        if self.node == self.end {
            let nodes = self.arrays.graph.nodes();
            let begin = self.end - self.chunk;
            // Threads take chunks round robin.
            self.node = (begin + self.threads * self.chunk) % (nodes / self.chunk * self.chunk);
            self.end = self.node + self.chunk;
        }
    }
}
