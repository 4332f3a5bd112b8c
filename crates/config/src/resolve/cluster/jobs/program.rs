//! Programs of ranks, built step by step.

use super::auto::{AutoChoice, Estimate};
use hostnet_params::{AcceleratorParams, AdditionParams, AlgorithmSpec, GroupParams, JobKindSpec, OperationParams};
use hostnet_params::{RankCore, RankMessageParams, RankStepParams, StepBlockParams, StepPartParams, StepWorkParams};
use hostnet_traffic::chakra::Collective;
use std::sync::Arc;

/// A step without any action.
pub(super) const NOTHING: RankStepParams = RankStepParams {
    phase: 0,
    compute_ps: 0,
    work: 0,
    device: AcceleratorParams { work_ps: 0, left: u32::MAX },
    send: None,
    at: 0,
    receive: None,
    posts: false,
};

/// Maximum number of listed steps of all ranks of a job, not counting repetitions of blocks. Steps of collectives are
/// computed and take no memory.
pub(super) const STEPS_MAX: usize = 1 << 21;

const PS_PER_S: u128 = 1_000_000_000_000;

/// Costs of adding vectors.
#[derive(Clone, Debug, Default)]
pub(super) struct Adding {
    /// Bytes per second at which a rank adds a vector to another; 0 = adding takes no time.
    pub(super) bytes_per_s: u64,
    /// Cores of the ranks; empty if all ranks are at endpoints.
    pub(super) cores: Vec<RankCore>,
}

/// A collective of all ranks, as a range of steps of the last block.
pub(super) struct Mark {
    pub(super) kind: Collective,
    /// Bytes of the collective, as execution traces count them.
    pub(super) bytes: u64,
    /// First step of each rank, and the step after the last.
    pub(super) begin: Vec<usize>,
    pub(super) end: Vec<usize>,
}

/// A program of ranks.
pub(super) struct Program {
    pub(super) ranks: u32,
    pub(super) adding: Adding,
    /// Choices of algorithms, if the closed forms of collectives decide.
    pub(super) auto: Option<AutoChoice>,
    /// Maximum bytes of the chunks of messages; 0 if messages are sent on as a whole.
    pub(super) chunk_bytes: u64,
    /// True if ranks send and receive one after the other in collectives.
    pub(super) blocking: bool,
    /// Ranks of each host and the reducer of the first of them, if switches add the vectors.
    pub(super) joined: Vec<(Vec<u32>, Option<u32>)>,
    pub(super) blocks: Vec<StepBlockParams>,
    pub(super) phases: Vec<String>,
    pub(super) works: Vec<StepWorkParams>,
    /// Collectives of the program in order, if they are recorded.
    pub(super) marks: Option<Vec<Mark>>,
    /// Offset of the exchanged data in the vector of the job, in bytes.
    pub(super) base: u64,
    /// True if the steps of collectives are listed as well.
    pub(super) lists_all: bool,
    /// True while steps are not added, as only their order is of interest.
    pub(super) is_muted: bool,
    /// Number of steps of each rank at the start of the current collective.
    begun: Vec<usize>,
    steps: usize,
}

impl Program {
    pub(super) fn new(ranks: u32) -> Self {
        Self {
            ranks,
            adding: Adding::default(),
            auto: None,
            chunk_bytes: 0,
            blocking: false,
            joined: Vec::new(),
            blocks: Vec::new(),
            phases: Vec::new(),
            works: Vec::new(),
            marks: None,
            base: 0,
            lists_all: false,
            is_muted: false,
            begun: Vec::new(),
            steps: 0,
        }
    }

    /// Returns the algorithm of a collective of some ranks: the one of the configuration, or the one that closed forms
    /// choose, whose chunks its messages get.
    pub(super) fn choose(
        &mut self,
        given: AlgorithmSpec,
        kind: JobKindSpec,
        ranks: &[u32],
        bytes: u64,
    ) -> AlgorithmSpec {
        let Some(auto) = self.auto.as_mut().filter(|_| given == AlgorithmSpec::Auto) else { return given };
        let Estimate { algorithm, chunk_bytes, .. } = auto.choose(kind, ranks, bytes);
        self.chunk_bytes = chunk_bytes;
        algorithm
    }

    /// Begins a block that is repeated `times` times. Further steps are added to the block.
    pub(super) fn block(&mut self, times: u32) -> &mut Self {
        self.blocks.push(StepBlockParams { times, parts: Vec::new(), operations: Vec::new() });
        self
    }

    /// Returns the number of a step name, which is added if it is new.
    pub(super) fn phase(&mut self, name: &str) -> u8 {
        let at = self.phases.iter().position(|phase| phase == name).unwrap_or_else(|| {
            self.phases.push(name.to_owned());
            self.phases.len() - 1
        });
        at as u8
    }

    /// Returns the number of a work, from 1; 0 for an empty work, or if there are too many works.
    pub(super) fn work(&mut self, work: StepWorkParams) -> u16 {
        if work == StepWorkParams::default() {
            return 0;
        }
        let at = self.works.iter().position(|known| *known == work).unwrap_or_else(|| {
            self.works.push(work);
            self.works.len() - 1
        });
        u16::try_from(at + 1).unwrap_or(0)
    }

    /// Adds a computation of a rank: `compute_ps` at an endpoint, `work` at a server.
    pub(super) fn labor(&mut self, rank: u32, phase: u8, compute_ps: u64, work: StepWorkParams) {
        let work = self.work(work);
        self.push(rank, RankStepParams { phase, compute_ps, work, ..NOTHING });
    }

    /// Adds the same computation for every rank of a group.
    pub(super) fn labors(&mut self, group: &[u32], phase: u8, work: StepWorkParams) {
        let work = self.work(work);
        self.same(group, RankStepParams { phase, work, ..NOTHING });
    }

    /// Adds a step of a rank that sends and receives. A message of 0 bytes is omitted.
    pub(super) fn step(&mut self, rank: u32, phase: u8, compute_ps: u64, send: (u32, u64), receive: (u32, u64)) {
        let message = |(rank, bytes): (u32, u64)| (bytes > 0).then_some(RankMessageParams { rank, bytes });
        let (send, receive) = (message(send), message(receive));
        let at = send.map_or(0, |_| self.base);
        self.push(rank, RankStepParams { phase, compute_ps, send, at, receive, ..NOTHING });
    }

    /// Returns the time per instruction of a rank's core, in fs; 0 at an endpoint.
    pub(super) fn instruction_fs(&self, rank: u32) -> u64 {
        self.adding.cores.get(rank as usize).map_or(0, |seat| seat.instruction_fs)
    }

    /// Returns the cost of adding a received vector to a rank's own. A core reads every line of both and writes every
    /// line of one.
    pub(super) fn addition(&mut self, bytes: u64, instruction_fs: u64) -> AdditionParams {
        let ps = (u128::from(bytes) * PS_PER_S).div_ceil(u128::from(self.adding.bytes_per_s.max(1)));
        // Half of the range, so that a sum with other times does not overflow.
        let compute_ps = u64::try_from(ps).unwrap_or(u64::MAX / 2);
        let lines = bytes.div_ceil(64);
        let instructions = (u128::from(compute_ps) * 1000).checked_div(u128::from(instruction_fs));
        let work = instructions.map(|instructions| StepWorkParams {
            instructions: u64::try_from(instructions).unwrap_or(u64::MAX),
            // The line that is written is fetched first; that fetch is the second read.
            read_lines: lines,
            write_lines: lines,
            span_lines: 2 * lines,
            ..StepWorkParams::default()
        });
        let phase = self.phase("sum");
        AdditionParams { bytes, instruction_fs, phase, compute_ps, work: self.work(work.unwrap_or_default()) }
    }

    /// Adds work for the accelerator of a rank. The rank continues when at most `left` works remain.
    pub(super) fn device(&mut self, rank: u32, phase: u8, work_ps: u64, left: u32) {
        self.push(rank, RankStepParams { phase, device: AcceleratorParams { work_ps, left }, ..NOTHING });
    }

    /// Adds work for the accelerator of each rank of a group.
    pub(super) fn devices(&mut self, group: &[u32], phase: u8, work_ps: u64, left: u32) {
        self.same(group, RankStepParams { phase, device: AcceleratorParams { work_ps, left }, ..NOTHING });
    }

    /// Adds a step of a rank to the listed steps, unless the step has no action.
    pub(super) fn push(&mut self, rank: u32, step: RankStepParams) {
        // Further steps are dropped, as `is_too_long` refuses the whole program.
        let Some(block) = self.blocks.last_mut().filter(|_| self.steps <= STEPS_MAX) else { return };
        if step.is_empty() || self.is_muted {
            return;
        }
        if !matches!(block.parts.last(), Some(StepPartParams::Listed(_))) {
            block.parts.push(StepPartParams::Listed(vec![Arc::default(); self.ranks as usize]));
        }
        if let Some(StepPartParams::Listed(steps)) = block.parts.last_mut() {
            Arc::make_mut(&mut steps[rank as usize]).push(step);
            self.steps += 1;
        }
    }

    /// Adds a part to the block.
    pub(super) fn part(&mut self, part: StepPartParams) {
        self.blocks.last_mut().expect("a block has begun").parts.push(part);
    }

    /// Adds a step that is the same for each rank of a group, unless the step has no action.
    fn same(&mut self, group: &[u32], step: RankStepParams) {
        match GroupParams::of(group).filter(|_| !self.lists_all) {
            Some(_) if step.is_empty() => {}
            Some(group) => self.part(StepPartParams::Same(group, Arc::new(step))),
            None => group.iter().for_each(|&rank| self.push(rank, step)),
        }
    }

    /// Begins a collective.
    pub(super) fn opens(&mut self) {
        if self.marks.is_some() {
            self.begun = self.counts();
        }
    }

    /// Ends a collective. If `what` is given, the collective is recorded; otherwise it is just messages.
    pub(super) fn closes(&mut self, what: Option<(Collective, u64)>) {
        let end = self.counts();
        if let (Some(marks), Some((kind, bytes))) = (&mut self.marks, what) {
            marks.push(Mark { kind, bytes, begin: std::mem::take(&mut self.begun), end });
        }
    }

    /// Returns the number of steps of each rank in the last block if collectives are recorded.
    fn counts(&self) -> Vec<usize> {
        let last = self.blocks.last().filter(|_| self.marks.is_some());
        let count = |block, rank| listed(block, rank).len();
        last.map_or(Vec::new(), |block| (0..self.ranks).map(|rank| count(block, rank)).collect())
    }

    /// Returns true if the program lists more steps than a job may have. No more steps are added then.
    pub(super) fn is_too_long(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// Sets the operations of each rank, which the listed steps of the last block belong to.
    pub(super) fn set_operations(&mut self, operations: Vec<Vec<OperationParams>>) {
        // Steps beyond the maximum are not listed, and the program is refused.
        let Some(block) = self.blocks.last_mut() else { return };
        block.operations = operations.into_iter().map(Arc::new).collect();
    }

    /// Adds a computation of equal duration for every rank of a group.
    pub(super) fn compute(&mut self, group: &[u32], name: &str, ps: u64) {
        if ps == 0 {
            return;
        }
        let phase = self.phase(name);
        self.same(group, RankStepParams { phase, compute_ps: ps, ..NOTHING });
    }
}

/// Returns the steps of a rank in a block of a program that lists all steps.
pub(super) fn listed(block: &StepBlockParams, rank: u32) -> &[RankStepParams] {
    match block.parts.first() {
        Some(StepPartParams::Listed(steps)) => &steps[rank as usize],
        _ => &[],
    }
}
