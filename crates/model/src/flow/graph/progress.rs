//! Progress of a rank through its operations: which of them are ready, and which are complete.

use super::lanes::Lane;
use crate::flow::completed_steps::CompletedStep;
use crate::flow::rank_request::{LocalMessage, RankLink, RankRequest};
use crate::params::{OperationParams, RankGraph, RankStepParams};
use hostnet_kernel::Time;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Operations of a rank and their progress.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Progress {
    rank: u32,
    /// Copy to a rank of the same host: bytes per second, and fixed time in ps.
    copy: (u64, u64),
    graph: RankGraph,
    /// Operations that wait for each operation: those of operation `n` are between the ends `n` and `n + 1`.
    ends: Vec<u32>,
    dependents: Vec<u32>,
    /// Completed repetitions.
    pub(super) round: u32,
    /// Number of operations that each operation still waits for.
    open: Vec<u32>,
    /// Time at which each operation became ready, and the number of the completed step that it waited for last.
    ready: Vec<(Time, u64)>,
    /// Number of operations of the repetition that are not complete.
    left: usize,
    /// Number of completed steps.
    completed: u64,
    /// Operations that wait for no other and have not been passed to their streams, each with the number of the
    /// completed step that it waited for last.
    pending: VecDeque<(u32, u64)>,
    pub(super) lanes: Vec<Lane>,
    pub(super) requests: VecDeque<RankRequest>,
    /// Steps that have ended and are not in the statistics; empty between events.
    pub(super) ended: Vec<(RankStepParams, CompletedStep)>,
    /// Time at which the last operation was complete.
    pub(super) done: Option<Time>,
}

impl Progress {
    pub(super) fn new(rank: u32, copy: (u64, u64), graph: RankGraph, lanes: Vec<Lane>) -> Self {
        let count = graph.operations.len();
        let mut ends = vec![0; count + 1];
        let all = || (0..).zip(&*graph.operations).flat_map(|(index, own)| own.after.iter().map(move |&o| (o, index)));
        all().for_each(|(other, _): (u32, u32)| ends[other as usize + 1] += 1);
        for index in 0..count {
            ends[index + 1] += ends[index];
        }
        let mut next = ends.clone();
        let mut dependents = vec![0; ends[count] as usize];
        for (other, index) in all() {
            dependents[next[other as usize] as usize] = index;
            next[other as usize] += 1;
        }
        Self {
            rank,
            copy,
            graph,
            ends,
            dependents,
            round: 0,
            open: vec![0; count],
            ready: vec![(Time::ZERO, 0); count],
            left: 0,
            completed: 0,
            pending: VecDeque::new(),
            lanes,
            requests: VecDeque::new(),
            ended: Vec::new(),
            done: None,
        }
    }

    pub(super) fn operation(&self, index: u32) -> &OperationParams {
        &self.graph.operations[index as usize]
    }

    /// Returns a step of an operation.
    pub(super) fn step(&self, index: u32, step: u32) -> Option<RankStepParams> {
        self.graph.steps_of(self.operation(index)).get(step as usize).copied()
    }

    /// Returns the time at which an operation became ready, and the number of the completed step that it waited for
    /// last.
    pub(super) fn ready(&self, index: u32) -> (Time, u64) {
        self.ready[index as usize]
    }

    pub(super) fn lane_at(&self, rank: u32, number: u32) -> Option<usize> {
        self.lanes.binary_search_by_key(&(rank, number), |lane| (lane.rank, lane.number)).ok()
    }

    /// Returns the time of a copy to another rank of this host, in ps.
    pub(super) fn copy_time_ps(&self, bytes: u64) -> u64 {
        copy_time_ps(self.copy, bytes)
    }

    /// Returns a message that has been copied to the rank at the other end of a connection.
    pub(super) fn local(&self, lane: usize, bytes: u64, message: Option<(u32, u32)>) -> Option<LocalMessage> {
        let lane = &self.lanes[lane];
        match lane.link {
            RankLink::Local(to) => Some(LocalMessage { to, from: (self.rank, lane.number), bytes, message }),
            RankLink::End(_) | RankLink::Core(_) => None,
        }
    }

    /// Begins the next repetition if all operations are complete and there is one.
    pub(super) fn begin_round(&mut self, now: Time) {
        if self.left > 0 || self.done.is_some() {
            return;
        }
        if self.round >= self.graph.times || self.open.is_empty() {
            self.done = Some(now);
            return;
        }
        self.left = self.open.len();
        for (index, (open, operation)) in (0..).zip(self.open.iter_mut().zip(&*self.graph.operations)) {
            *open = operation.after.len() as u32;
            if *open == 0 {
                self.pending.push_back((index, self.completed));
            }
        }
    }

    /// Takes the next operation that waits for no other.
    pub(super) fn take_pending(&mut self, now: Time) -> Option<u32> {
        let (index, cause) = self.pending.pop_front()?;
        self.ready[index as usize] = (now, cause);
        Some(index)
    }

    /// Marks an operation complete. Operations that wait for no other any more are pending then. `cause` is the number
    /// of its last step, or of the step that it waited for last if it has none.
    pub(super) fn release(&mut self, index: u32, cause: u64, now: Time) {
        let [from, to] = [index, index + 1].map(|at| self.ends[at as usize] as usize);
        for &other in &self.dependents[from..to] {
            self.open[other as usize] -= 1;
            if self.open[other as usize] == 0 {
                self.pending.push_back((other, cause));
            }
        }
        self.left -= 1;
        if self.left == 0 {
            self.round += 1;
            self.begin_round(now);
        }
    }

    /// Completes an operation with its last step. Returns the number of the step.
    pub(super) fn complete(&mut self, index: u32, step: RankStepParams, record: CompletedStep, now: Time) -> u64 {
        let number = self.record(step, record, now);
        self.release(index, number, now);
        number
    }

    /// Records a step that has ended. Returns its number.
    pub(super) fn record(&mut self, step: RankStepParams, record: CompletedStep, now: Time) -> u64 {
        self.ended.push((step, CompletedStep { phase: step.phase, ended: now, ..record }));
        self.completed += 1;
        self.completed
    }
}

/// Returns the time of a copy to another rank of the same host, in ps, at a rate in bytes per second and after a fixed
/// time in ps.
pub(in crate::flow) fn copy_time_ps((rate, latency_ps): (u64, u64), bytes: u64) -> u64 {
    let ps = u128::from(bytes) * 1_000_000_000_000 / u128::from(rate.max(1));
    // An event lies at least 1 ps ahead.
    latency_ps.saturating_add(u64::try_from(ps).unwrap_or(u64::MAX)).max(1)
}
