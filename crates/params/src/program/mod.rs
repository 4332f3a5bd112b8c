//! Programs of ranks: blocks of steps that ranks repeat. Collectives are described by their pattern, and their steps
//! are computed when they are asked for.

mod chunks;
mod collective;
mod direct;
mod double_tree;
mod group;
mod halving;
mod member;
mod operations;
mod pattern;
mod rank;
#[cfg(test)]
mod tests;

pub use chunks::RingRounds;
pub use collective::{AdditionParams, CollectiveParams};
pub use group::GroupParams;
pub use member::PlaceStep;
pub use operations::{OperationParams, OperationStream, RankGraph};
pub use pattern::CollectivePattern;
pub use rank::{RankProgram, Repetition};

use crate::{JobParams, RankMessageParams, RankStepParams};
use collective::Runner;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Steps that ranks repeat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepBlockParams {
    /// Number of repetitions.
    pub times: u32,
    /// Parts that every rank runs one after the other.
    pub parts: Vec<StepPartParams>,
    /// Operations of each rank that the listed steps belong to, if ranks execute them as soon as they are ready; empty
    /// if ranks execute one step after the other.
    pub operations: Vec<Arc<Vec<OperationParams>>>,
}

/// Steps of ranks in a part of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StepPartParams {
    /// Steps of each rank.
    Listed(Vec<Arc<Vec<RankStepParams>>>),
    /// One step, the same for each rank of a group.
    Same(GroupParams, Arc<RankStepParams>),
    /// A collective.
    Collective(Arc<CollectiveParams>),
}

impl StepPartParams {
    /// Returns a number of steps that all ranks together do not exceed.
    fn steps_of_all(&self) -> u64 {
        match self {
            Self::Listed(steps) => steps.iter().map(|steps| steps.len() as u64).sum(),
            Self::Same(group, _) => group.count.into(),
            Self::Collective(collective) => collective.steps_of_all(),
        }
    }

    /// Returns the first step of a rank from an index on, and its index.
    fn next_step(&self, runner: Runner, from: u32) -> Option<(u32, RankStepParams)> {
        match self {
            Self::Listed(steps) => Some((from, *steps[runner.rank as usize].get(from as usize)?)),
            Self::Same(group, step) => (from == 0 && group.has(runner.rank)).then(|| (0, **step)),
            Self::Collective(collective) => collective.next_step(runner, from),
        }
    }

    fn largest_message(&self) -> u64 {
        let sent = |step: &RankStepParams| step.send.map_or(0, |message| message.bytes);
        match self {
            Self::Listed(steps) => steps.iter().flat_map(|steps| steps.iter()).map(sent).max().unwrap_or(0),
            Self::Same(_, step) => sent(step),
            Self::Collective(collective) => collective.largest_message(),
        }
    }

    fn add_peers(&self, rank: u32, peers: &mut BTreeSet<u32>) {
        let of_step = |step: &RankStepParams| [step.send, step.receive].into_iter().flatten().map(peer);
        match self {
            Self::Listed(steps) => peers.extend(steps[rank as usize].iter().flat_map(of_step)),
            Self::Same(group, step) if group.has(rank) => peers.extend(of_step(step)),
            Self::Same(..) => {}
            Self::Collective(collective) => collective.add_peers(rank, peers),
        }
    }

    /// Drops the offsets of sent data in the vector.
    fn forget_places(&mut self) {
        match self {
            Self::Listed(steps) => {
                steps.iter_mut().flat_map(Arc::make_mut).for_each(|step| step.at = 0);
            }
            Self::Same(_, step) => Arc::make_mut(step).at = 0,
            Self::Collective(collective) => Arc::make_mut(collective).base = None,
        }
    }
}

fn peer(message: RankMessageParams) -> u32 {
    message.rank
}

impl StepBlockParams {
    /// Returns the steps of a rank, whose core takes a time per instruction in fs; 0 at an endpoint.
    pub fn steps_of(&self, rank: u32, instruction_fs: u64) -> impl Iterator<Item = RankStepParams> + '_ {
        let runner = Runner { rank, instruction_fs };
        self.parts.iter().flat_map(move |part| {
            let mut from = 0;
            std::iter::from_fn(move || {
                let (index, step) = part.next_step(runner, from)?;
                from = index + 1;
                Some(step)
            })
        })
    }

    /// Returns the listed steps of a rank, if the block is a single list.
    fn listed_of(&self, rank: u32) -> Arc<Vec<RankStepParams>> {
        match self.parts.first() {
            Some(StepPartParams::Listed(steps)) => Arc::clone(&steps[rank as usize]),
            _ => Arc::default(),
        }
    }

    /// Returns the number of steps that are listed and not computed.
    #[must_use]
    pub fn listed_steps(&self) -> u64 {
        let listed = self.parts.iter().filter(|part| matches!(part, StepPartParams::Listed(_)));
        listed.map(StepPartParams::steps_of_all).sum()
    }

    /// Returns a number of steps of one repetition that all ranks together do not exceed.
    #[must_use]
    pub fn steps_of_all(&self) -> u64 {
        self.parts.iter().map(StepPartParams::steps_of_all).sum()
    }
}

impl JobParams {
    /// Returns the time per instruction of a rank's core, in fs; 0 at an endpoint.
    #[must_use]
    pub fn instruction_fs(&self, rank: u32) -> u64 {
        self.cores.get(rank as usize).map_or(0, |seat| seat.instruction_fs)
    }

    /// Returns the steps of a rank in one repetition of a block.
    pub fn steps_of<'a>(&self, block: &'a StepBlockParams, rank: u32) -> impl Iterator<Item = RankStepParams> + 'a {
        block.steps_of(rank, self.instruction_fs(rank))
    }

    /// Returns the ranks and switches that a rank exchanges messages with.
    #[must_use]
    pub fn peers_of(&self, rank: u32) -> BTreeSet<u32> {
        let mut peers = BTreeSet::new();
        self.blocks.iter().flat_map(|block| &block.parts).for_each(|part| part.add_peers(rank, &mut peers));
        peers
    }

    /// Returns the bytes of the largest message between ranks.
    #[must_use]
    pub fn largest_message(&self) -> u64 {
        let parts = self.blocks.iter().flat_map(|block| &block.parts);
        parts.map(StepPartParams::largest_message).max().unwrap_or(0)
    }

    /// Drops the offsets of sent data in vectors.
    pub fn forget_places(&mut self) {
        self.blocks.iter_mut().flat_map(|block| &mut block.parts).for_each(StepPartParams::forget_places);
    }
}
