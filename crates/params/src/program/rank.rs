//! Program of one rank, with its current step.

use super::collective::{CollectiveParams, Runner};
use super::StepPartParams;
use crate::{JobParams, RankStepParams};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Steps of one rank in a part of a block.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum RankPart {
    Listed(Arc<Vec<RankStepParams>>),
    Same(Arc<RankStepParams>),
    Collective(Arc<CollectiveParams>),
}

impl RankPart {
    /// Returns the steps of a rank in a part, or `None` if it has none.
    fn new(part: &StepPartParams, runner: Runner) -> Option<Self> {
        part.next_step(runner, 0)?;
        Some(match part {
            StepPartParams::Listed(steps) => Self::Listed(Arc::clone(&steps[runner.rank as usize])),
            StepPartParams::Same(_, step) => Self::Same(Arc::clone(step)),
            StepPartParams::Collective(collective) => Self::Collective(Arc::clone(collective)),
        })
    }

    /// Returns the first step from an index on, and its index.
    fn next_step(&self, runner: Runner, from: u32) -> Option<(u32, RankStepParams)> {
        match self {
            Self::Listed(steps) => Some((from, *steps.get(from as usize)?)),
            Self::Same(step) => (from == 0).then(|| (0, **step)),
            Self::Collective(collective) => collective.next_step(runner, from),
        }
    }
}

/// Parts of a block that have steps of the rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RankBlock {
    times: u32,
    parts: Vec<RankPart>,
}

/// Repetition that a rank is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repetition {
    /// Number of the block among those with steps of the rank.
    pub block: usize,
    /// Completed repetitions of the block.
    pub done: u32,
    /// Number of repetitions of the block.
    pub times: u32,
}

/// Position in a program.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Position {
    block: usize,
    /// Completed repetitions of the block.
    done: u32,
    part: usize,
    index: u32,
}

/// Program of one rank, with its current step. Collectives are shared with other ranks, and their steps are computed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankProgram {
    runner: Runner,
    blocks: Vec<RankBlock>,
    at: Position,
    current: Option<RankStepParams>,
}

impl RankProgram {
    /// Creates the program of a rank of a job, at its first step.
    #[must_use]
    pub fn new(job: &JobParams, rank: u32) -> Self {
        let runner = Runner { rank, instruction_fs: job.instruction_fs(rank) };
        let blocks = job.blocks.iter().filter_map(|block| {
            let parts: Vec<_> = block.parts.iter().filter_map(|part| RankPart::new(part, runner)).collect();
            (block.times > 0 && !parts.is_empty()).then_some(RankBlock { times: block.times, parts })
        });
        let mut program = Self { runner, blocks: blocks.collect(), at: Position::default(), current: None };
        program.settle();
        program
    }

    /// Returns the current step; `None` at the end.
    #[must_use]
    pub fn step(&self) -> Option<RankStepParams> {
        self.current
    }

    /// Returns the repetition of the current step; `None` at the end.
    #[must_use]
    pub fn repetition(&self) -> Option<Repetition> {
        let Position { block, done, .. } = self.at;
        Some(Repetition { block, done, times: self.blocks.get(block)?.times })
    }

    /// Leaves out repetitions of the current block, at most as many as follow the current one.
    pub fn skip(&mut self, repetitions: u32) {
        if let Some(at) = self.repetition() {
            self.at.done += repetitions.min(at.times - 1 - at.done);
        }
    }

    /// Advances to the next step.
    pub fn advance(&mut self) {
        self.at.index += 1;
        self.settle();
    }

    /// Finds the first step from the position on. Every part has one.
    fn settle(&mut self) {
        self.current = None;
        while let Some(block) = self.blocks.get(self.at.block) {
            let Position { block: number, done, part, index } = self.at;
            if let Some((index, step)) = block.parts.get(part).and_then(|part| part.next_step(self.runner, index)) {
                self.at.index = index;
                self.current = Some(step);
                return;
            }
            self.at = match (part + 1 < block.parts.len(), done + 1 < block.times) {
                (true, _) => Position { part: part + 1, index: 0, ..self.at },
                (false, true) => Position { block: number, done: done + 1, part: 0, index: 0 },
                (false, false) => Position { block: number + 1, ..Position::default() },
            };
        }
    }
}
