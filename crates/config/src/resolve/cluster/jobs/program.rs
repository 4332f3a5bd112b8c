//! How programs of ranks are written down.

use hostnet_model::params::{BlockParams, MessageParams, StepParams, WorkParams};

/// Steps of all ranks together that a job may have, not counting how often blocks are repeated.
pub(super) const STEPS_MAX: usize = 1 << 21;

/// A program of ranks.
pub(super) struct Program {
    pub(super) ranks: u32,
    pub(super) blocks: Vec<BlockParams>,
    pub(super) phases: Vec<String>,
    pub(super) works: Vec<WorkParams>,
    steps: usize,
}

impl Program {
    pub(super) fn new(ranks: u32) -> Self {
        Self { ranks, blocks: Vec::new(), phases: Vec::new(), works: Vec::new(), steps: 0 }
    }

    /// A block that is repeated so often. What comes next goes there.
    pub(super) fn block(&mut self, times: u32) -> &mut Self {
        self.blocks.push(BlockParams { times, steps: vec![Vec::new(); self.ranks as usize] });
        self
    }

    /// The number of a name of steps.
    pub(super) fn phase(&mut self, name: &str) -> u8 {
        let at = self.phases.iter().position(|phase| phase == name).unwrap_or_else(|| {
            self.phases.push(name.to_owned());
            self.phases.len() - 1
        });
        at as u8
    }

    /// The number of a work, from 1 on; 0 for none, and for more than there are numbers, which is too many.
    pub(super) fn work(&mut self, work: WorkParams) -> u16 {
        if work == WorkParams::default() {
            return 0;
        }
        let at = self.works.iter().position(|known| *known == work).unwrap_or_else(|| {
            self.works.push(work);
            self.works.len() - 1
        });
        u16::try_from(at + 1).unwrap_or(0)
    }

    /// Adds a step of a rank that computes: so long at an endpoint, and a work at a server.
    pub(super) fn labor(&mut self, rank: u32, phase: u8, compute_ps: u64, work: WorkParams) {
        let work = self.work(work);
        self.push(rank, StepParams { phase, compute_ps, work, send: None, receive: None });
    }

    /// Adds a step of a rank; bytes of 0 are no message.
    pub(super) fn step(&mut self, rank: u32, phase: u8, compute_ps: u64, send: (u32, u64), receive: (u32, u64)) {
        let message = |(rank, bytes): (u32, u64)| (bytes > 0).then_some(MessageParams { rank, bytes });
        self.push(rank, StepParams { phase, compute_ps, work: 0, send: message(send), receive: message(receive) });
    }

    /// Adds a step of a rank; one without anything is none.
    pub(super) fn push(&mut self, rank: u32, step: StepParams) {
        let Some(block) = self.blocks.last_mut().filter(|_| self.steps <= STEPS_MAX) else { return };
        if step.compute_ps > 0 || step.work > 0 || step.send.is_some() || step.receive.is_some() {
            block.steps[rank as usize].push(step);
            self.steps += 1;
        }
    }

    /// Whether it has more steps than a job may have; then no more are added.
    pub(super) fn is_too_long(&self) -> bool {
        self.steps > STEPS_MAX
    }

    /// Every rank computes for as long.
    pub(super) fn compute(&mut self, name: &str, ps: u64) {
        if ps == 0 {
            return;
        }
        let phase = self.phase(name);
        (0..self.ranks).for_each(|rank| self.step(rank, phase, ps, (0, 0), (0, 0)));
    }
}
