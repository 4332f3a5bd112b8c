//! Connections of a rank that executes operations: one for its messages with each other rank, and one for the
//! collectives of each group that both are in.

use crate::flow::rank_request::RankLink;
use crate::params::{OperationStream, RankGraph};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Message from another rank: the repetition of the program, and its number among the messages of a repetition.
pub(super) type MessageNumber = (u32, u32);

/// Connection to another rank for the messages of a stream.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Lane {
    pub(super) rank: u32,
    pub(super) number: u32,
    pub(super) link: RankLink,
    /// Bytes that have arrived: of no message that is complete, or of a collective and not received yet.
    inbox: u64,
    /// Bytes of complete messages that no operation has received.
    held: u64,
    /// Bytes posted so far, and received so far.
    posted: u64,
    pub(super) taken: u64,
    /// Operations whose data is not all written: the bytes posted up to their end, and their index.
    unwritten: VecDeque<(u64, u32)>,
    /// Messages on their way, in the order in which they were sent.
    announced: VecDeque<MessageNumber>,
    /// Messages that have arrived before their operation began, each with all bytes received by then.
    early: BTreeMap<MessageNumber, u64>,
    /// Operation that receives each message, by its number, and its bytes.
    receivers: Vec<(u32, u64)>,
}

impl Lane {
    /// Returns the connections of a rank in ascending order. `link` returns the connection to a rank, by its number.
    pub(super) fn all(
        graph: &RankGraph,
        lanes: &BTreeSet<(u32, u32)>,
        mut link: impl FnMut(u32, u32) -> Option<RankLink>,
    ) -> Vec<Self> {
        let mut receivers = receivers(graph);
        let lane = |&(rank, number): &(u32, u32)| {
            let receivers = if number == 0 { receivers.remove(&rank).unwrap_or_default() } else { Vec::new() };
            Some(Self {
                rank,
                number,
                link: link(rank, number)?,
                inbox: 0,
                held: 0,
                posted: 0,
                taken: 0,
                unwritten: VecDeque::new(),
                announced: VecDeque::new(),
                early: BTreeMap::new(),
                receivers,
            })
        };
        lanes.iter().filter_map(lane).collect()
    }

    /// Posts data of an operation. Returns the bytes posted so far.
    pub(super) fn post(&mut self, bytes: u64, operation: u32) -> u64 {
        self.posted += bytes;
        self.unwritten.push_back((self.posted, operation));
        self.posted
    }

    /// Returns the next operation whose data is all written when `bytes` bytes have been, and the bytes posted up to
    /// its end.
    pub(super) fn take_written(&mut self, bytes: u64) -> Option<(u64, u32)> {
        self.unwritten.front().filter(|&&(until, _)| until <= bytes)?;
        self.unwritten.pop_front()
    }

    /// Counts bytes whose operation does not wait until they are written by a connection. Returns the bytes so far.
    pub(super) fn count(&mut self, bytes: u64) -> u64 {
        self.posted += bytes;
        self.posted
    }

    /// Records that a message is on its way.
    pub(super) fn announce(&mut self, message: MessageNumber) {
        self.announced.push_back(message);
    }

    /// Records bytes that have arrived.
    pub(super) fn arrive(&mut self, bytes: u64) {
        self.inbox += bytes;
    }

    /// Takes the bytes of a collective if they have arrived.
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        let there = self.inbox >= bytes;
        if there {
            self.inbox -= bytes;
            self.taken += bytes;
        }
        there
    }

    /// Returns the next message that is complete now, with the operation that receives it.
    pub(super) fn take_message(&mut self) -> Option<(MessageNumber, u32)> {
        let message = *self.announced.front()?;
        let &(operation, bytes) = self.receivers.get(message.1 as usize)?;
        if self.inbox < bytes {
            return None;
        }
        self.announced.pop_front();
        self.inbox -= bytes;
        self.held += bytes;
        self.taken += bytes;
        Some((message, operation))
    }

    /// Keeps a message, the last that has arrived, until its operation begins.
    pub(super) fn keep(&mut self, message: MessageNumber) {
        self.early.insert(message, self.taken);
    }

    /// Takes a message that has arrived before its operation began. Returns all bytes received by then.
    pub(super) fn take_early(&mut self, message: MessageNumber) -> Option<u64> {
        self.early.remove(&message)
    }

    /// Records that an operation has received a message.
    pub(super) fn received(&mut self, message: u32) {
        self.held -= self.receivers.get(message as usize).map_or(0, |&(_, bytes)| bytes);
    }

    /// Returns the bytes that have arrived and that no operation has received.
    pub(super) fn unreceived_bytes(&self) -> u64 {
        self.inbox + self.held
    }
}

/// Returns for each other rank the operations that receive its messages, by their numbers, and the bytes.
fn receivers(graph: &RankGraph) -> BTreeMap<u32, Vec<(u32, u64)>> {
    let mut found: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    for (index, operation) in (0..).zip(&*graph.operations) {
        let message = graph.steps_of(operation).first().and_then(|step| step.receive);
        let Some(message) = message.filter(|_| operation.stream == OperationStream::Receive) else { continue };
        let own = found.entry(message.rank).or_default();
        let number = operation.message as usize;
        own.resize(own.len().max(number + 1), (0, u64::MAX));
        own[number] = (index, message.bytes);
    }
    found
}
