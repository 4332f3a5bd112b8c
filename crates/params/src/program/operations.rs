//! Operations of ranks: each begins when the operations that it waits for are complete, on a stream of its rank.

use super::StepBlockParams;
use crate::{JobParams, RankStepParams};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Stream of a rank that executes an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OperationStream {
    /// The accelerator, one operation at a time.
    Compute,
    /// The rank's processor, one operation at a time.
    Host,
    /// Messages to other ranks.
    Send,
    /// Messages from other ranks, which are all awaited at the same time.
    Receive,
    /// Collectives of the group with this number, one at a time.
    Group(u32),
}

impl OperationStream {
    /// Returns the number of the connections that carry the messages of the stream.
    #[must_use]
    pub fn lane(self) -> u32 {
        match self {
            Self::Group(group) => group + 1,
            Self::Compute | Self::Host | Self::Send | Self::Receive => 0,
        }
    }
}

/// Operation of a rank.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OperationParams {
    /// Number that the user gave the operation. Streams choose the ready operation with the smallest one.
    pub id: u64,
    /// Stream that executes the operation.
    pub stream: OperationStream,
    /// Index of the first step among the steps that the block lists for the rank.
    pub first: u32,
    /// Number of steps; an operation without steps takes no time.
    pub steps: u32,
    /// For a message: its number among those from its sender to its receiver.
    pub message: u32,
    /// Indices of the operations of the rank that must be complete before this one begins.
    pub after: Vec<u32>,
}

/// Operations of one rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RankGraph {
    /// Operations.
    pub operations: Arc<Vec<OperationParams>>,
    /// Steps that the operations refer to.
    pub steps: Arc<Vec<RankStepParams>>,
    /// Number of times that the rank executes all operations.
    pub times: u32,
}

impl RankGraph {
    /// Returns the steps of an operation.
    #[must_use]
    pub fn steps_of(&self, operation: &OperationParams) -> &[RankStepParams] {
        let first = operation.first as usize;
        &self.steps[first..first + operation.steps as usize]
    }
}

impl JobParams {
    /// Returns the block whose steps ranks execute as operations, if there is one: it is the only block then.
    fn operations_block(&self) -> Option<&StepBlockParams> {
        self.blocks.first().filter(|block| !block.operations.is_empty())
    }

    /// Returns true if ranks execute operations as soon as these are ready, and not one step after the other.
    #[must_use]
    pub fn has_operations(&self) -> bool {
        self.operations_block().is_some()
    }

    /// Returns the operations of a rank, if the ranks of the job have any.
    #[must_use]
    pub fn operations_of(&self, rank: u32) -> Option<RankGraph> {
        let block = self.operations_block()?;
        let operations = Arc::clone(block.operations.get(rank as usize)?);
        Some(RankGraph { operations, steps: block.listed_of(rank), times: block.times })
    }

    /// Returns the ranks and switches that a rank exchanges messages with, each with the number of the connection.
    #[must_use]
    pub fn lanes_of(&self, rank: u32) -> BTreeSet<(u32, u32)> {
        let Some(own) = self.operations_of(rank) else {
            return self.peers_of(rank).into_iter().map(|peer| (peer, 0)).collect();
        };
        let of_operation = |operation: &OperationParams| {
            let stream = operation.stream;
            let messages = own.steps_of(operation).iter().flat_map(|step| [step.send, step.receive]);
            messages.flatten().map(move |message| (message.rank, stream.lane())).collect::<Vec<_>>()
        };
        own.operations.iter().flat_map(of_operation).collect()
    }
}
