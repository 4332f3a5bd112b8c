//! Progress of a rank through the nodes of its trace.
//!
//! A rank gives its accelerator a work as soon as all predecessors of the work are given or done, and communicates
//! meanwhile. It begins one node at a time, usually the ready node with the smallest number.

use super::groups::Groups;
use super::Accelerator;
use crate::code::Code;
use crate::error::{Fault, Issue};
use crate::resolve::cluster::jobs::program::Program;
use hostnet_traffic::chakra::{Node, NodeAction, Trace};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// A node that is ready: its number, and its place in the trace.
pub(super) type Place = (u64, u32);

pub(super) struct Walk {
    pub(super) rank: u32,
    file: String,
    pub(super) nodes: Vec<Node>,
    /// Names of the nodes in results, if they have any.
    names: Vec<&'static str>,
    /// Successors of each node.
    before: Vec<Vec<u32>>,
    /// Number of predecessors that each node still waits for.
    open: Vec<u32>,
    /// For each node, the number of accelerator works that must be complete before it, counted from the first.
    needs: Vec<u32>,
    /// Nodes that are ready: those that are given to the accelerator or take no time, those that the rank computes
    /// without waiting for the accelerator, and all others.
    given: BinaryHeap<Reverse<Place>>,
    own: BinaryHeap<Reverse<Place>>,
    pub(super) told: BTreeSet<Place>,
    /// Nodes added to `told` since the schedule last read this list.
    pub(super) news: Vec<Place>,
    works: u32,
    /// Number of works that the rank has waited for.
    waited: u32,
    done: usize,
}

impl Walk {
    /// Creates a rank before its first node. Sets the durations of works that have none, and the numbers of groups.
    /// `file` is where the trace is from.
    ///
    /// # Errors
    /// Returns the number of a node that has no duration or no group, and why.
    pub(super) fn new(
        rank: u32,
        file: String,
        trace: Trace,
        groups: &mut Groups,
        accelerator: &Accelerator,
    ) -> Result<Self, (u64, Fault)> {
        let Trace { mut nodes, groups: names, members } = trace;
        let mut numbers = vec![None; names.len()];
        for Node { id, act, .. } in &mut nodes {
            let own = |fault| (*id, fault);
            match act {
                NodeAction::Work { ops, bytes } => {
                    *act = NodeAction::Compute(accelerator.time_ps(*ops, *bytes).map_err(own)?);
                }
                NodeAction::Collective { group, .. } => {
                    let at = *group as usize;
                    let number = match numbers[at] {
                        Some(number) => number,
                        None => groups.number(rank, &names[at], &members).map_err(own)?,
                    };
                    numbers[at] = Some(number);
                    *group = number;
                }
                _ => {}
            }
        }
        let mut before = vec![Vec::new(); nodes.len()];
        for (place, node) in (0..).zip(&nodes) {
            node.after.iter().for_each(|&other| before[other as usize].push(place));
        }
        let open: Vec<u32> = nodes.iter().map(|node| node.after.len() as u32).collect();
        let needs = vec![0; nodes.len()];
        let (given, own, told, news) = (BinaryHeap::new(), BinaryHeap::new(), BTreeSet::new(), Vec::new());
        let (works, waited, done) = (0, 0, 0);
        let names = Vec::new();
        let mut walk =
            Self { rank, file, nodes, names, before, open, needs, given, own, told, news, works, waited, done };
        for place in 0..walk.nodes.len() as u32 {
            if walk.open[place as usize] == 0 {
                walk.offer(place);
            }
        }
        Ok(walk)
    }

    /// Names the nodes in results.
    pub(super) fn named(mut self, names: Vec<&'static str>) -> Self {
        self.names = names;
        self
    }

    /// Returns the name of a node of the accelerator.
    pub(super) fn name(&self, place: u32) -> &'static str {
        self.names.get(place as usize).copied().unwrap_or("compute")
    }

    pub(super) fn act(&self, place: u32) -> NodeAction {
        self.nodes[place as usize].act
    }

    /// Adds a node to the ready nodes.
    fn offer(&mut self, place: u32) {
        let node = &self.nodes[place as usize];
        let entry = (node.id, place);
        match node.act {
            NodeAction::Nothing | NodeAction::Compute(_) | NodeAction::Work { .. } => self.given.push(Reverse(entry)),
            // The rank has already waited for the works that this needs, so no other rank decides when it begins.
            NodeAction::Host(_) if self.needs[place as usize] <= self.waited => self.own.push(Reverse(entry)),
            NodeAction::Host(_)
            | NodeAction::Send { .. }
            | NodeAction::Receive { .. }
            | NodeAction::Collective { .. } => {
                self.told.insert(entry);
                self.news.push(entry);
            }
        }
    }

    /// Completes a node, or marks it as given to the accelerator. Its successors wait for `needs` works of the
    /// accelerator.
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

    /// Adds the steps that depend on no other rank: works of the accelerator, and computation of the rank.
    pub(super) fn go(&mut self, program: &mut Program) {
        if self.names.is_empty() {
            // Results of traces list it even if no node computes.
            program.phase("compute");
        }
        loop {
            while let Some(Reverse((_, place))) = self.given.pop() {
                let needs = match self.act(place) {
                    NodeAction::Compute(ps) if ps > 0 => {
                        let compute = program.phase(self.name(place));
                        // With that many works left, the rank only begins this one and waits for none.
                        program.device(self.rank, compute, ps, u32::MAX - 1);
                        self.works += 1;
                        self.works
                    }
                    _ => self.needs[place as usize],
                };
                self.end(place, needs);
            }
            let Some(Reverse((_, place))) = self.own.pop() else { return };
            self.host(program, place);
        }
    }

    /// Begins a node of `told` after the works that it needs. [`Walk::over`] completes it.
    pub(super) fn begin(&mut self, program: &mut Program, (id, place): Place) {
        self.told.remove(&(id, place));
        let needs = self.needs[place as usize];
        if needs > 0 {
            // Works that were begun after the last needed one may still be unfinished.
            self.wait(program, self.works - needs);
            self.waited = self.waited.max(needs);
        }
    }

    /// Completes a node that [`Walk::begin`] has begun.
    pub(super) fn over(&mut self, place: u32) {
        self.end(place, self.needs[place as usize]);
    }

    /// Adds the computation of a node of the rank.
    pub(super) fn host(&mut self, program: &mut Program, place: u32) {
        if let NodeAction::Host(ps) = self.act(place) {
            program.compute(&[self.rank], "host", ps);
        }
        self.over(place);
    }

    /// Returns true if all nodes are done. The rank then waits for its accelerator.
    pub(super) fn is_done(&self) -> bool {
        self.done == self.nodes.len()
    }

    /// Adds a wait for all works.
    pub(super) fn finish(&mut self, program: &mut Program) {
        // The rank ends only when its accelerator has done all works.
        if std::mem::take(&mut self.works) > 0 {
            self.wait(program, 0);
        }
    }

    /// Adds a wait until at most `left` works of the accelerator are left.
    fn wait(&self, program: &mut Program, left: u32) {
        if !program.is_muted {
            let compute = program.phase("compute");
            program.device(self.rank, compute, 0, left);
        }
    }

    /// Returns the nodes of a cycle, each of which waits for the next and the last for the first, if there is one.
    pub(super) fn find_cycle(&self) -> Option<Vec<u64>> {
        if self.is_done() {
            return None;
        }
        // Completes, in any order, all nodes whose predecessors are complete. Nodes on or behind a cycle remain.
        let mut open: Vec<usize> = self.nodes.iter().map(|node| node.after.len()).collect();
        let mut before = vec![Vec::new(); self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            node.after.iter().for_each(|&other| before[other as usize].push(place));
        }
        let mut free: Vec<usize> = (0..open.len()).filter(|&place| open[place] == 0).collect();
        while let Some(place) = free.pop() {
            for &after in &before[place] {
                open[after] -= 1;
                if open[after] == 0 {
                    free.push(after);
                }
            }
        }
        // Follows predecessors from a remaining node until a node repeats.
        let mut at = open.iter().position(|&open| open > 0)?;
        let (mut passed, mut way) = (BTreeSet::new(), Vec::new());
        while passed.insert(at) {
            way.push(at);
            at = self.nodes[at].after.iter().map(|&other| other as usize).find(|&other| open[other] > 0)?;
        }
        let first = way.iter().position(|&passed| passed == at)?;
        Some(way[first..].iter().map(|&at| self.nodes[at].id).collect())
    }

    pub(super) fn wrong(&self, path: &str, message: String) -> Issue {
        Issue::in_file(Code::MalformedFile, &self.file, None, &format!("{path}.trace"), message)
    }
}

/// Maximum number of nodes of a cycle that an error names.
const NAMED_MAX: usize = 8;

/// Describes a cycle of nodes, each of which waits for the next, in words.
pub(super) fn describe_cycle(cycle: &[u64]) -> String {
    let others: Vec<String> = cycle.iter().skip(1).take(NAMED_MAX).map(u64::to_string).collect();
    let more = match cycle.len().saturating_sub(1 + NAMED_MAX) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let way = match &others[..] {
        [] => String::new(),
        [other] => format!(" through node {other}"),
        others => format!(" through nodes {}{more}", others.join(", ")),
    };
    format!("node {}: depends on itself{way}", cycle[0])
}
