//! Jobs that do what execution traces of Chakra say: a file of each rank, `NAME.RANK.et`.
//!
//! A rank gives its accelerator what it computes as soon as what comes before has been given or done, and communicates
//! meanwhile: one thing after the other, of those that may come next always the one with the least number.

use super::program::Program;
use super::training::Sum;
use crate::content::place_of;
use crate::error::Issue;
use crate::spec::{AlgorithmSpec, AnswerSpec, JobSpec};
use crate::units::shorten;
use hostnet_traffic::chakra::{self, Act, Collective, Node};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::path::Path;

/// Nodes of all ranks together.
const NODES_MAX: usize = 1 << 22;

/// Something that a rank takes part in.
enum Next {
    /// A collective of all ranks: its node, what it is, and its bytes.
    Collective(u64, Collective, u64),
    /// Nothing more.
    End,
}

/// A rank on its way through its nodes.
struct Walk {
    rank: u32,
    file: String,
    nodes: Vec<Node>,
    /// The nodes after each.
    before: Vec<Vec<u32>>,
    /// Nodes that each still waits for.
    open: Vec<u32>,
    /// Of each node the works that the accelerator has to be done with before it, counted from the first.
    needs: Vec<u32>,
    /// Nodes that may come next, by their number: what is given to the accelerator or takes no time, and the rest.
    given: BinaryHeap<Reverse<(u64, u32)>>,
    told: BinaryHeap<Reverse<(u64, u32)>>,
    works: u32,
    done: usize,
}

impl Walk {
    fn new(rank: u32, file: String, nodes: Vec<Node>) -> Self {
        let mut before = vec![Vec::new(); nodes.len()];
        for (place, node) in (0..).zip(&nodes) {
            node.after.iter().for_each(|&other| before[other as usize].push(place));
        }
        let open: Vec<u32> = nodes.iter().map(|node| node.after.len() as u32).collect();
        let needs = vec![0; nodes.len()];
        let (given, told) = (BinaryHeap::new(), BinaryHeap::new());
        let mut walk = Self { rank, file, nodes, before, open, needs, given, told, works: 0, done: 0 };
        for place in 0..walk.nodes.len() as u32 {
            if walk.open[place as usize] == 0 {
                walk.offer(place);
            }
        }
        walk
    }

    /// A node may come next.
    fn offer(&mut self, place: u32) {
        let node = &self.nodes[place as usize];
        let heap = match node.act {
            Act::Nothing | Act::Compute(_) => &mut self.given,
            Act::Send { .. } | Act::Receive { .. } | Act::Collective { .. } => &mut self.told,
        };
        heap.push(Reverse((node.id, place)));
    }

    /// A node is over, or given to the accelerator; what comes after it waits for so many works of that.
    fn end(&mut self, place: u32, needs: u32) {
        self.done += 1;
        for after in std::mem::take(&mut self.before[place as usize]) {
            let own = &mut self.needs[after as usize];
            *own = (*own).max(needs);
            self.open[after as usize] -= 1;
            if self.open[after as usize] == 0 {
                self.offer(after);
            }
        }
    }

    /// Writes down what the rank does until the next collective, which the others take part in.
    fn go(&mut self, path: &str, program: &mut Program) -> Result<Next, Issue> {
        let compute = program.phase("compute");
        loop {
            while let Some(Reverse((_, place))) = self.given.pop() {
                let needs = self.needs[place as usize];
                let needs = match self.nodes[place as usize].act {
                    Act::Compute(ps) if ps > 0 => {
                        program.device(self.rank, compute, ps, u32::MAX - 1);
                        self.works += 1;
                        self.works
                    }
                    _ => needs,
                };
                self.end(place, needs);
            }
            let Some(Reverse((id, place))) = self.told.pop() else { break };
            let needs = self.needs[place as usize];
            if needs > 0 {
                program.device(self.rank, compute, 0, self.works - needs);
            }
            match self.nodes[place as usize].act {
                Act::Send { to, bytes } => self.message(path, program, id, "send", to, bytes)?,
                Act::Receive { from, bytes } => self.message(path, program, id, "receive", from, bytes)?,
                Act::Collective { kind, bytes } => {
                    self.end(place, needs);
                    return Ok(Next::Collective(id, kind, bytes));
                }
                Act::Nothing | Act::Compute(_) => {}
            }
            self.end(place, needs);
        }
        if self.done < self.nodes.len() {
            let stuck = self.nodes.iter().zip(&self.open).find(|(_, &open)| open > 0).map_or(0, |(node, _)| node.id);
            return Err(self.wrong(path, format!("node {stuck}: waits for itself, by way of what it waits for")));
        }
        if self.works > 0 {
            program.device(self.rank, compute, 0, 0);
        }
        Ok(Next::End)
    }

    fn message(
        &self,
        path: &str,
        program: &mut Program,
        id: u64,
        name: &str,
        other: u32,
        bytes: u64,
    ) -> Result<(), Issue> {
        if other >= program.ranks || other == self.rank {
            let message = format!(
                "node {id}: rank {} cannot {name} with rank {other}; the job has {} ranks, counted from 0",
                self.rank, program.ranks
            );
            return Err(self.wrong(path, message));
        }
        let phase = program.phase(name);
        let (message, nothing) = ((other, bytes), (0, 0));
        let (send, receive) = if name == "send" { (message, nothing) } else { (nothing, message) };
        program.step(self.rank, phase, 0, send, receive);
        Ok(())
    }

    fn wrong(&self, path: &str, message: String) -> Issue {
        Issue::in_file(&self.file, None, &format!("{path}.trace"), message)
    }
}

/// Writes down what the traces of a job say.
pub(super) fn write(path: &str, spec: &mut JobSpec, program: &mut Program, base_dir: &Path) -> Result<(), Issue> {
    let key = format!("{path}.trace");
    let Some(name) = &mut spec.trace else {
        let message = "missing; give the files of the ranks without their ends, such as \"dir/name\" of dir/name.0.et";
        return Err(Issue::new(key, message));
    };
    *name = place_of(base_dir, name, &key)?;
    let algorithm = *spec.algorithm.get_or_insert(AlgorithmSpec::Ring);
    if matches!(algorithm, AlgorithmSpec::Pairwise | AlgorithmSpec::Aggregator | AlgorithmSpec::InNetwork) {
        let message = "sums of a trace are done with \"ring\", \"recursive-doubling\", \"tree\" or \"hierarchical\"";
        return Err(Issue::between(&[&format!("{path}.algorithm"), &format!("{path}.kind")], message));
    }
    let more = format!("{name}.{}.et", program.ranks);
    if Path::new(&more).exists() {
        let message = format!(
            "the job has {} ranks, but there is {}; give as many ranks as the trace has",
            program.ranks,
            shorten(&more)
        );
        let keys = ["ranks", "ranks_per_host", "hosts", "trace"].map(|key| format!("{path}.{key}"));
        return Err(Issue::between(&[&keys[0], &keys[1], &keys[2], &keys[3]], message));
    }
    let mut walks = Vec::new();
    let mut nodes = 0;
    for rank in 0..program.ranks {
        let file = format!("{name}.{rank}.et");
        let found = chakra::read(Path::new(&file));
        let found = found.map_err(|error| Issue::in_file(&file, None, &key, error.to_string()))?;
        nodes += found.len();
        if nodes > NODES_MAX {
            return Err(Issue::in_file(
                &file,
                None,
                &key,
                format!("more than {NODES_MAX} nodes of all ranks together"),
            ));
        }
        walks.push(Walk::new(rank, file, found));
    }
    let group: Vec<u32> = (0..program.ranks).collect();
    let sum = Sum { algorithm, group: &group, aggregator: 0, answer: AnswerSpec::Each, size: spec.group.unwrap_or(1) };
    loop {
        let mut first = None;
        for walk in &mut walks {
            let next = walk.go(path, program)?;
            agree(path, walk, first.get_or_insert_with(|| described(&next)), &described(&next))?;
            if walk.rank + 1 < program.ranks {
                continue;
            }
            match next {
                Next::Collective(_, kind, bytes) => collective(program, &group, &sum, kind, bytes),
                Next::End => return Ok(()),
            }
        }
        if program.is_too_long() || walks.is_empty() {
            return Ok(());
        }
    }
}

/// What a rank takes part in, in words; and the node.
fn described(next: &Next) -> (String, Option<u64>) {
    match next {
        Next::Collective(id, kind, bytes) => (format!("{} of {bytes} B", kind.name()), Some(*id)),
        Next::End => ("no collective any more".to_owned(), None),
    }
}

/// All ranks take part in the same collectives, in the same order.
fn agree(path: &str, walk: &Walk, first: &(String, Option<u64>), own: &(String, Option<u64>)) -> Result<(), Issue> {
    if first.0 == own.0 {
        return Ok(());
    }
    let node = |found: &(String, Option<u64>)| found.1.map_or(String::new(), |id| format!("node {id}, "));
    let message = format!(
        "rank {} does {}{} where rank 0 does {}{}; all ranks take part in each collective, in the same order",
        walk.rank,
        node(own),
        own.0,
        node(first),
        first.0
    );
    Err(walk.wrong(path, message))
}

fn collective(program: &mut Program, group: &[u32], sum: &Sum, kind: Collective, bytes: u64) {
    let ranks = u64::from(program.ranks);
    match kind {
        Collective::AllReduce => sum.write(program, bytes, 0),
        Collective::Reduce => program.tree_reduce(group, bytes),
        Collective::AllGather => program.ring_allgather(group, bytes),
        Collective::Broadcast => program.tree_broadcast(group, bytes),
        Collective::AllToAll => program.pairwise_alltoall(group, "all-to-all", bytes / ranks),
        Collective::ReduceScatter => program.ring_reduce_scatter(group, bytes),
        Collective::Barrier => program.dissemination_barrier(group),
    }
}
