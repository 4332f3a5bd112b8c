//! A list scheduler: the operations of ranks of one host, without a network.

use super::trace::{Act, Ops};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Ranks and their progress.
pub struct Oracle<'a> {
    ranks: &'a [Ops],
    latency_ps: u64,
    first_ready: bool,
    open: Vec<Vec<usize>>,
    /// Ready operations of each rank and stream (accelerator, rank, copies), and the end of the one in progress.
    ready: Vec<[BTreeSet<(u64, u64, usize)>; 3]>,
    current: Vec<[Option<(u64, usize)>; 3]>,
    /// By sender, receiver and tag: messages that have arrived, and receives that wait, by their numbers.
    arrived: BTreeSet<(usize, usize, u64, usize)>,
    awaited: BTreeMap<(usize, usize, u64, usize), usize>,
    /// For each message its number among those with its ends and its tag.
    numbers: Vec<Vec<usize>>,
    done: usize,
}

impl<'a> Oracle<'a> {
    pub fn new(ranks: &'a [Ops], latency_ps: u64, first_ready: bool) -> Self {
        let open = ranks.iter().map(|ops| ops.0.iter().map(|op| op.after.len()).collect()).collect();
        Self {
            ranks,
            latency_ps,
            first_ready,
            open,
            ready: ranks.iter().map(|_| Default::default()).collect(),
            current: vec![[None; 3]; ranks.len()],
            arrived: BTreeSet::new(),
            awaited: BTreeMap::new(),
            numbers: numbers(ranks),
            done: 0,
        }
    }

    /// Returns the time at which each operation ends, in ps.
    pub fn run(mut self) -> u64 {
        let mut now = 0;
        for rank in 0..self.ranks.len() {
            let free = (0..self.open[rank].len()).filter(|&op| self.open[rank][op] == 0).collect::<Vec<_>>();
            free.into_iter().for_each(|op| self.make_ready(rank, op, now));
        }
        loop {
            self.begin(now);
            let ends = self.current.iter().flatten().filter_map(|current| Some(current.as_ref()?.0));
            let Some(next) = ends.min() else { break };
            now = next;
            for rank in 0..self.ranks.len() {
                for stream in 0..3 {
                    if let Some((_, op)) = self.current[rank][stream].take_if(|(ends, _)| *ends == now) {
                        self.end(rank, op, now);
                    }
                }
            }
        }
        assert_eq!(self.done, self.ranks.iter().map(|ops| ops.0.len()).sum::<usize>(), "all are done");
        now
    }

    fn begin(&mut self, now: u64) {
        for rank in 0..self.ranks.len() {
            for stream in 0..3 {
                if self.current[rank][stream].is_none() {
                    let Some((.., op)) = self.ready[rank][stream].pop_first() else { continue };
                    let ps = match self.ranks[rank].0[op].act {
                        Act::Compute(ps) => ps,
                        Act::Host(us) => us * 1_000_000,
                        Act::Send { bytes, .. } => self.latency_ps + bytes,
                        Act::Receive { .. } | Act::Sum(_) | Act::AllToAll(_) => unreachable!("it has no stream"),
                    };
                    self.current[rank][stream] = Some((now + ps, op));
                }
            }
        }
    }

    fn make_ready(&mut self, rank: usize, op: usize, now: u64) {
        let id = self.ranks[rank].0[op].id;
        let stream = match self.ranks[rank].0[op].act {
            Act::Compute(_) => 0,
            Act::Host(_) => 1,
            Act::Send { .. } => 2,
            Act::Receive { from, tag, .. } => {
                let message = (from, rank, tag, self.numbers[rank][op]);
                if self.arrived.remove(&message) {
                    self.end(rank, op, now);
                } else {
                    self.awaited.insert(message, op);
                }
                return;
            }
            Act::Sum(_) | Act::AllToAll(_) => unreachable!("collectives are not scheduled"),
        };
        self.ready[rank][stream].insert((if self.first_ready { now } else { 0 }, id, op));
    }

    fn end(&mut self, rank: usize, op: usize, now: u64) {
        self.done += 1;
        if let Act::Send { to, tag, .. } = self.ranks[rank].0[op].act {
            let message = (rank, to, tag, self.numbers[rank][op]);
            match self.awaited.remove(&message) {
                Some(receiver) => self.end(to, receiver, now),
                None => drop(self.arrived.insert(message)),
            }
        }
        for other in 0..self.open[rank].len() {
            if self.ranks[rank].0[other].after.contains(&op) {
                self.open[rank][other] -= 1;
                if self.open[rank][other] == 0 {
                    self.make_ready(rank, other, now);
                }
            }
        }
    }
}

/// Returns for each message its number among those with its ends and its tag, in the order of ids.
fn numbers(ranks: &[Ops]) -> Vec<Vec<usize>> {
    let of_rank = |(rank, ops): (usize, &Ops)| {
        let mut counts: BTreeMap<(usize, usize, u64), VecDeque<usize>> = BTreeMap::new();
        let mut by_id: Vec<usize> = (0..ops.0.len()).collect();
        by_id.sort_by_key(|&op| ops.0[op].id);
        let mut numbers = vec![0; ops.0.len()];
        for op in by_id {
            let line = match ops.0[op].act {
                Act::Send { to, tag, .. } => (rank, to, tag),
                Act::Receive { from, tag, .. } => (from, rank, tag),
                _ => continue,
            };
            let before = counts.entry(line).or_default();
            numbers[op] = before.len();
            before.push_back(op);
        }
        numbers
    };
    ranks.iter().enumerate().map(of_rank).collect()
}
