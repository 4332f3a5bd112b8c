//! A core that runs a rank of a job.
//!
//! The core executes the computations of the rank and copies messages for other ranks of the server through memory
//! that they share. It hands all other messages to its sockets, or posts them to the NIC.

use super::{Executor, RankOperation, ThreadWaits};
use crate::flow::{CoreWork, Rank, RankRequest};
use crate::lfb::Lfb;
use crate::params::{StepWorkParams, RANK_SLOT_BYTES};
use crate::part::{Context, Payload};
use hostnet_kernel::{ComponentId, Time};
use serde::{Deserialize, Serialize};

/// Memory of a rank, as virtual addresses in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankMemory {
    /// Buffer of what the rank sends and receives: [`RANK_SLOT_BYTES`], used over and over.
    pub messages: u64,
    /// Memory that all ranks of the job on the server share: a slot for each pair of ranks and direction.
    pub shared: u64,
    /// Number of those ranks.
    pub ranks: u64,
    /// Number of this rank among them.
    pub number: u64,
}

impl RankMemory {
    /// Returns the slot from one rank to another, by their numbers on the server.
    fn slot(&self, from: u64, to: u64) -> u64 {
        self.shared + (from * self.ranks + to) * RANK_SLOT_BYTES
    }
}

/// Rank on a core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Worker {
    rank: Rank,
    executor: Executor,
    works: Vec<StepWorkParams>,
    memory: RankMemory,
    /// Time of an instruction at the reference clock, in fs.
    instruction_fs: u64,
    /// Delay from the end of a copy until the other core sees it, in ps.
    notice_ps: u64,
    /// Flows of the rank, in ascending order, each with the rank at its other end.
    flows: Vec<(u32, u32)>,
    /// All ranks of the job on the server, in ascending order.
    locals: Vec<u32>,
    /// NIC, and the delay until it sees what is posted, in ps, if the connections are in the NIC; otherwise they are
    /// sockets of the core.
    nic: Option<(ComponentId, u64)>,
    /// Time of the instructions of all works that have ended, with all data at hand, in ps.
    instructions_ps: u64,
    /// Time of the instructions of the current work, with all data at hand, in ps.
    executing_ps: u64,
    /// Time of the scheduled wake-up at which the rank begins, or has waited long enough for its accelerator; zero if
    /// there is none.
    woken_at: Time,
}

impl Worker {
    /// Creates a rank on a core. `executor` executes its operations; `flows` are the flows of the rank, each with the
    /// rank at its other end; `locals` are all ranks of the job on the server.
    #[must_use]
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        rank: Rank,
        executor: Executor,
        works: Vec<StepWorkParams>,
        memory: RankMemory,
        instruction_fs: u64,
        notice_ps: u64,
        mut flows: Vec<(u32, u32)>,
        locals: Vec<u32>,
    ) -> Self {
        // Sorted for the binary search in `on_event`.
        flows.sort_unstable();
        let begins = rank.wakes_at().unwrap_or(Time::ZERO);
        Self {
            rank: rank.on_core(),
            executor: executor.watched(),
            works,
            memory,
            instruction_fs,
            notice_ps,
            flows,
            locals,
            nic: None,
            instructions_ps: 0,
            executing_ps: 0,
            woken_at: begins,
        }
    }

    /// Moves the connections into the NIC, which sees what is posted `after_ps` later.
    #[must_use]
    pub fn posting_to(mut self, nic: ComponentId, after_ps: u64) -> Self {
        self.nic = Some((nic, after_ps));
        self
    }

    /// Returns the rank.
    #[must_use]
    pub fn rank(&self) -> &Rank {
        &self.rank
    }

    /// Returns the time of the instructions of all works that have ended since the start, with all data at hand,
    /// in ps.
    #[must_use]
    pub fn instructions_ps(&self) -> u64 {
        self.instructions_ps
    }

    /// Returns the times at which the rank waited for data since the start of the run.
    #[must_use]
    pub fn waits(&self) -> Option<&ThreadWaits> {
        self.executor.waits()
    }

    /// Returns the executor of the rank's operations.
    pub(super) fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Returns the executor of the rank's operations, to change it.
    pub(super) fn executor_mut(&mut self) -> &mut Executor {
        &mut self.executor
    }

    /// Returns the time from the start of the run until the rank begins, in ps.
    pub(super) fn begins_ps(&self) -> u64 {
        // An event lies at least 1 ps ahead.
        self.rank.wakes_at().map_or(1, |at| at.ps().max(1))
    }

    /// Handles an event.
    pub(super) fn on_event(&mut self, payload: Payload, lfb: &mut Lfb, context: &mut Context) {
        match payload {
            // A wake-up that the rank scheduled: no operation has ended.
            Payload::Worked if self.woken_at == context.now() => self.woken_at = Time::ZERO,
            Payload::Worked => {
                self.instructions_ps += std::mem::take(&mut self.executing_ps);
                let copied = self.rank.worked(context.now());
                if let Some((core, bytes)) = copied {
                    let (_, rank) = self.rank.number();
                    context.send(core, self.notice_ps.max(1), Payload::Delivered { rank, bytes });
                }
            }
            Payload::Delivered { rank, bytes } => self.rank.arrive(rank, bytes),
            Payload::Came { flow, bytes } => {
                let at = self.flows.binary_search_by_key(&flow, |&(flow, _)| flow);
                let from = at.map(|at| self.flows[at].1).expect("what a rank receives comes by its flows");
                self.rank.arrive(from, bytes);
            }
            Payload::Written { flow } => {
                let _ = self.rank.written(flow, context.now());
            }
            other => return self.executor.on_event(other, lfb, context),
        }
        self.run(lfb, context);
    }

    /// Lets the rank do all that it can do now.
    fn run(&mut self, lfb: &mut Lfb, context: &mut Context) {
        loop {
            match self.rank.next(context.now()) {
                RankRequest::Send(flow, bytes) => {
                    let (to, after_ps) = self.nic.unwrap_or((context.id, 1));
                    context.send(to, after_ps.max(1), Payload::Post { flow, bytes });
                }
                RankRequest::CoreWork(labor) => {
                    let rank_operation = self.rank_operation(labor);
                    if let RankOperation::Work(work) = rank_operation {
                        let ps = u128::from(work.instructions) * u128::from(self.executor.instruction_fs()) / 1000;
                        self.executing_ps = ps as u64;
                    }
                    return self.executor.run_rank_operation(rank_operation, lfb, context);
                }
                RankRequest::Wake(at) => {
                    // The rank asks again at every call; one event for the same time is enough.
                    if self.woken_at != at {
                        self.woken_at = at;
                        context.send(context.id, at.since(context.now()).max(1), Payload::Worked);
                    }
                    return;
                }
                // Ranks at servers execute one step after the other, and announce nothing.
                RankRequest::Announce(..) | RankRequest::Nothing => return,
            }
        }
    }

    /// Returns the operation that the core executes for a request of the rank.
    fn rank_operation(&self, labor: CoreWork) -> RankOperation {
        let RankMemory { messages, number, .. } = self.memory;
        let copy =
            |from, to, bytes: u64| RankOperation::Copy { from, to, around: RANK_SLOT_BYTES, lines: bytes.div_ceil(64) };
        match labor {
            CoreWork::Compute { work, ps } => {
                // Work given as a time counts at the reference clock, so that a slower core takes longer.
                let instructions = u128::from(ps) * 1000 / u128::from(self.instruction_fs.max(1));
                let instructions = u64::try_from(instructions).unwrap_or(u64::MAX);
                let busy = StepWorkParams { instructions, ..StepWorkParams::default() };
                RankOperation::Work(work.checked_sub(1).map_or(busy, |at| self.works[usize::from(at)]))
            }
            CoreWork::CopyIn { rank, bytes } => copy(messages, self.memory.slot(number, self.local(rank)), bytes),
            CoreWork::CopyOut { rank, bytes } => copy(self.memory.slot(self.local(rank), number), messages, bytes),
        }
    }

    /// Returns the number of another rank among those of the server.
    fn local(&self, rank: u32) -> u64 {
        self.locals.binary_search(&rank).expect("ranks that share memory are at one server") as u64
    }
}
