//! Betweenness centrality as in GAPBS: a breadth-first search from a source that counts shortest paths, followed by a
//! backward pass over the levels that accumulates dependencies (Brandes).

use super::graph::Arrays;
use super::levels::Levels;
use super::script::{Piece, Script};
use super::{MemoryBases, Step};
use crate::params::{AppParams, GraphParams, GRAPH_NODE_BYTES, GRAPH_SCORE_BYTES, LINE_BYTES, PATH_COUNT_BYTES};
use hostnet_kernel::Rng;
use serde::{Deserialize, Serialize};

/// Nodes that a thread takes from a level at a time.
const CHUNK: u64 = 64;

const DEPTHS: usize = 0;
const COUNTS: usize = 1;
const DELTAS: usize = 2;
const SCORES: usize = 3;
const QUEUE: usize = 4;
const SUCCESSORS: usize = 5;

/// Thread of betweenness centrality.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Betweenness {
    arrays: Arrays,
    levels: Levels,
    script: Script,
    work: Work,
    /// True in a chunk of the search, false in a chunk of the backward pass.
    forward: bool,
    /// Level of the chunk.
    level: usize,
    /// Position of the node in the queue.
    position: u64,
    /// Nodes of the chunk after this one.
    left: u64,
    node: u64,
    /// Neighbours of the node that are done.
    edge: u64,
    /// True if the next access follows an atomic one and must wait for it.
    fence: bool,
    /// Position at which the search appends nodes to the queue.
    tail: u64,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Work {
    node: u32,
    edge: u32,
    successor: u32,
    dependency: u32,
}

impl Betweenness {
    pub(super) fn new(params: &AppParams, graph: &GraphParams, bases: MemoryBases, rng: &mut Rng) -> Self {
        let arrays = Arrays::new(params, graph, graph.betweenness_layout(bases.shared, params.walks.as_ref()));
        let nodes = arrays.graph.nodes();
        let levels = Levels::new(nodes, arrays.graph.neighbours);
        Self {
            levels,
            script: Script::new(),
            work: Work { node: graph.node, edge: graph.edge, successor: graph.successor, dependency: graph.dependency },
            forward: true,
            level: 0,
            position: 0,
            left: 0,
            node: 0,
            edge: arrays.graph.neighbours,
            fence: false,
            // Anywhere, as in the middle of a search.
            tail: rng.below(nodes),
            arrays,
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

    fn plan(&mut self, rng: &mut Rng) {
        let last = self.arrays.graph.neighbours;
        if self.edge == last {
            self.script.begin();
            self.enter_node(rng);
        } else if self.forward {
            self.search(rng);
            self.edge += 1;
        } else {
            self.accumulate_neighbour(rng);
            self.edge += 1;
        }
        if self.edge == last {
            if !self.forward {
                self.finish(rng);
            }
            self.script.end();
        }
    }

    /// Advances to the next node of the queue. Chunks are drawn from both passes and all levels in proportion to
    /// their nodes.
    fn next_node(&mut self, rng: &mut Rng) {
        let nodes = self.arrays.graph.nodes();
        if self.left == 0 {
            let chunk = CHUNK.min(nodes);
            // Both passes visit every node once, so each has half of the chunks.
            self.forward = rng.chance(1 << 31);
            self.level = self.levels.of(rng.below(nodes));
            self.position = rng.below(nodes / chunk) * chunk;
            self.left = chunk;
        } else {
            self.position += 1;
        }
        self.left -= 1;
        self.node = rng.below(nodes);
    }

    fn enter_node(&mut self, rng: &mut Rng) {
        self.next_node(rng);
        self.edge = 0;
        // The queue is read in order, so a line is loaded once for all its nodes.
        if self.position % (LINE_BYTES / GRAPH_NODE_BYTES) == 0 {
            self.script.add(Piece::load(self.arrays.element(QUEUE, self.position, GRAPH_NODE_BYTES), 1));
        }
        let graph = &self.arrays.graph;
        let walks = self.arrays.walks.as_ref();
        let mut index = Piece::load(graph.pointer(self.node), 1).after(self.work.node);
        // Later accesses wait for the atomic one before.
        if std::mem::take(&mut self.fence) {
            index = index.dependent();
        }
        self.script.add_random(index, walks, rng);
        self.script.add_random(Piece::load(self.arrays.element(COUNTS, self.node, PATH_COUNT_BYTES), 1), walks, rng);
        let further = self.levels.further(self.level) > 0;
        // The backward pass skips the row of a node without deeper neighbours.
        if self.forward || further {
            let row = graph.row(self.node);
            let lines = super::memory::lines(row, graph.neighbours * GRAPH_NODE_BYTES);
            self.script.add_random(Piece::load(row, lines).dependent(), walks, rng);
        }
        if !self.forward {
            self.script.add_random(Piece::load(self.successors(), 1), walks, rng);
        }
        self.fence = true;
    }

    /// Returns the address of the successor bits of the node: the neighbours that are one level deeper.
    fn successors(&self) -> u64 {
        self.arrays.element(SUCCESSORS, self.node * self.arrays.graph.neighbours / 8, 1)
    }

    fn neighbour(&self) -> u64 {
        self.arrays.graph.neighbour(self.node * self.arrays.graph.neighbours + self.edge)
    }

    fn gather(&mut self, array: usize, bytes: u64, instructions: u32, rng: &mut Rng) {
        let piece = Piece::load(self.arrays.element(array, self.neighbour(), bytes), 1).each(instructions);
        let piece = if std::mem::take(&mut self.fence) { piece.dependent() } else { piece };
        self.script.add_random(piece, self.arrays.walks.as_ref(), rng);
    }

    /// Plans the visit of a neighbour in the search: loads its depth. A neighbour one level deeper is marked and its
    /// paths are counted, both by atomic accesses.
    fn search(&mut self, rng: &mut Rng) {
        self.gather(DEPTHS, GRAPH_NODE_BYTES, self.work.edge, rng);
        if !rng.chance(self.levels.further(self.level)) {
            return;
        }
        if rng.chance(self.levels.found(self.level)) {
            // A compare-and-swap waits for all earlier accesses (docs/models/app.md, Betweenness).
            self.script
                .add(Piece::store(self.arrays.element(DEPTHS, self.neighbour(), GRAPH_NODE_BYTES), 1).dependent());
            self.tail = (self.tail + 1) % self.arrays.graph.nodes();
            // The queue is written in order, so a line is stored once for all its nodes.
            if self.tail % (LINE_BYTES / GRAPH_NODE_BYTES) == 0 {
                self.script.add(Piece::store(self.arrays.element(QUEUE, self.tail, GRAPH_NODE_BYTES), 1));
            }
        }
        // The bits of neighbours share a word, so they are set by an atomic access.
        let bits = Piece::store(self.successors(), 1).after(self.work.successor).dependent();
        self.script.add(bits);
        let count = Piece::store(self.arrays.element(COUNTS, self.neighbour(), PATH_COUNT_BYTES), 1).dependent();
        self.script.add_random(count, self.arrays.walks.as_ref(), rng);
        self.fence = true;
    }

    /// Plans the visit of a neighbour in the backward pass: loads its paths and dependency if it is one level deeper.
    fn accumulate_neighbour(&mut self, rng: &mut Rng) {
        if rng.chance(self.levels.further(self.level)) {
            self.gather(COUNTS, PATH_COUNT_BYTES, self.work.edge + self.work.dependency, rng);
            self.gather(DELTAS, GRAPH_SCORE_BYTES, 1, rng);
        } else {
            // The edge is looked at, but nothing beyond it is loaded: only its instructions count.
            self.script.add(Piece::load(0, 0).after(self.work.edge));
        }
    }

    /// Stores the dependency and the score of the node.
    fn finish(&mut self, rng: &mut Rng) {
        let walks = self.arrays.walks.as_ref();
        self.script.add_random(Piece::store(self.arrays.element(DELTAS, self.node, GRAPH_SCORE_BYTES), 1), walks, rng);
        self.script.add_random(Piece::store(self.arrays.element(SCORES, self.node, GRAPH_SCORE_BYTES), 1), walks, rng);
        self.fence = false;
    }
}
